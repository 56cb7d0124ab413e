package account

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"time"

	"formulary/internal/id"
)

// Prefixes say what a leaked secret is, so that scanners can find it.
const (
	AccessToken       = "fma_"
	RefreshToken      = "fmr_"
	Code              = "fmc_"
	ClientSecret      = "fms_"
	SessionKey        = "fmk_"
	ConsentRequestKey = "fmt_"
	OneTimeLinkKey    = "fml_"
	DeviceKey         = "fmd_"
)

const (
	randomBytes   = 32
	selectorBytes = 12
)

// Secret is a freshly minted credential. Text goes to its holder and is never
// stored; Account, ID and Hash are the row that recognises it.
type Secret struct {
	Text    string
	Account string
	ID      string
	Hash    string
}

// SecretRef is what a presented credential claims to be: where to look for its row,
// and the hash that the row must have.
type SecretRef struct {
	Account string
	ID      string
	Hash    string
}

// NewSecret makes a credential that belongs to an account. Its text is the prefix
// and base64url of: the account (16 bytes), a selector that sorts by time (12
// bytes), and 256 random bits. The first two only say where to look.
func NewSecret(prefix, accountID string, now time.Time) Secret {
	owner, _ := id.Parse(id.User, accountID)
	var raw [16 + selectorBytes + randomBytes]byte
	rand.Read(raw[16:])
	copy(raw[:16], owner[:])
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(now.UnixMilli()))
	copy(raw[16:22], ms[2:])
	text := prefix + base64.RawURLEncoding.EncodeToString(raw[:])
	return Secret{
		Text:    text,
		Account: accountID,
		ID:      hex.EncodeToString(raw[16 : 16+selectorBytes]),
		Hash:    Hash(text),
	}
}

// Ref is what the secret's holder will present.
func (s Secret) Ref() SecretRef { return SecretRef{s.Account, s.ID, s.Hash} }

// ParseSecret reads a credential made by Mint. A text of another kind, length or
// spelling is not one.
func ParseSecret(prefix, text string) (SecretRef, bool) {
	body, ok := strings.CutPrefix(text, prefix)
	var raw [16 + selectorBytes + randomBytes]byte
	if !ok || len(body) != base64.RawURLEncoding.EncodedLen(len(raw)) {
		return SecretRef{}, false
	}
	if n, err := base64.RawURLEncoding.Strict().Decode(raw[:], []byte(body)); err != nil || n != len(raw) {
		return SecretRef{}, false
	}
	return SecretRef{
		Account: id.UUID(raw[:16]).String(id.User),
		ID:      hex.EncodeToString(raw[16 : 16+selectorBytes]),
		Hash:    Hash(text),
	}, true
}

// NewClientSecret makes the secret of an application: 256 random bits.
func NewClientSecret() (text, hash string) {
	var raw [randomBytes]byte
	rand.Read(raw[:])
	text = ClientSecret + base64.RawURLEncoding.EncodeToString(raw[:])
	return text, Hash(text)
}

// Hash is how every secret but a password is stored. 256 random bits cannot be
// searched, so a fast hash is enough.
func Hash(text string) string {
	var room [128]byte // most secrets need no other
	sum := sha256.Sum256(append(room[:0], text...))
	return string(base64.RawURLEncoding.AppendEncode(room[:0], sum[:]))
}

// EqualHash compares in constant time.
func EqualHash(a, b string) bool {
	return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}

// ValidSelector says whether a text can be the ID of a secret's row.
func ValidSelector(id string) bool {
	raw, err := hex.DecodeString(id)
	return err == nil && len(raw) == selectorBytes
}
