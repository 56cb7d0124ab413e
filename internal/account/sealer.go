package account

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// Sealer encrypts secrets that have to be read again, such as those that sign webhooks.
type Sealer struct {
	keyID string
	aead  cipher.AEAD
}

// MinKeyText is how many characters the text of a key must have.
const MinKeyText = 32

// NewSealer returns a Sealer whose key is derived from a text of at least MinKeyText random
// characters.
func NewSealer(text string) (*Sealer, error) {
	if len(text) < MinKeyText {
		return nil, fmt.Errorf("the secret key must have at least %d characters; create one with: openssl rand -base64 32", MinKeyText)
	}
	key, err := hkdf.Key(sha256.New, []byte(text), nil, "formulary secrets", 32)
	if err != nil {
		return nil, fmt.Errorf("derive secret key: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("use secret key: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("use secret key: %w", err)
	}
	sum := sha256.Sum256(key)
	return &Sealer{keyID: hex.EncodeToString(sum[:4]), aead: aead}, nil
}

// NewKeyText creates the text of a key.
func NewKeyText() string {
	raw := make([]byte, 32)
	rand.Read(raw)
	return base64.StdEncoding.EncodeToString(raw)
}

// sealVersion begins the text of a sealed secret; the ID of its key follows.
const sealVersion = "s1"

// Seal encrypts a secret. It can be opened only as the secret of the same thing, which of
// names.
func (s *Sealer) Seal(secret, of string) string {
	nonce := make([]byte, s.aead.NonceSize())
	rand.Read(nonce)
	sealed := s.aead.Seal(nonce, nonce, []byte(secret), []byte(of))
	return sealVersion + "." + s.keyID + "." + base64.RawURLEncoding.EncodeToString(sealed)
}

// ErrOtherKey is returned for a secret that was sealed with another key.
var ErrOtherKey = errors.New("the secret was encrypted with another secret key")

// Open decrypts what Seal returned.
func (s *Sealer) Open(text, of string) (string, error) {
	parts := strings.Split(text, ".")
	if len(parts) != 3 || parts[0] != sealVersion {
		return "", errors.New("not an encrypted secret")
	}
	if parts[1] != s.keyID {
		return "", ErrOtherKey
	}
	sealed, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || len(sealed) < s.aead.NonceSize() {
		return "", errors.New("not an encrypted secret")
	}
	n := s.aead.NonceSize()
	secret, err := s.aead.Open(nil, sealed[:n], sealed[n:], []byte(of))
	if err != nil {
		return "", fmt.Errorf("decrypt secret: %w", err)
	}
	return string(secret), nil
}
