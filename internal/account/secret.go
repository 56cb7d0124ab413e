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

// Prefixes of secrets. They let secret scanners find leaked secrets.
const (
	AccessToken       = "fma_"
	RefreshToken      = "fmr_"
	Code              = "fmc_"
	ClientSecret      = "fms_"
	SessionKey        = "fmk_"
	ConsentRequestKey = "fmt_"
	OneTimeLinkKey    = "fml_"
	DeviceKey         = "fmd_"
	PersonalToken     = "fmp_"
	InvitationKey     = "fmi_"
)

const (
	randomBytes   = 32
	selectorBytes = 12
)

// Secret is a new credential. Text is sent to the client and never stored. Account, ID and
// Hash are stored.
type Secret struct {
	Text    string
	Account string
	ID      string
	Hash    string
}

// SecretRef identifies the stored row of a credential: Account and ID are its key, and the
// row must have the same Hash.
type SecretRef struct {
	Account string
	ID      string
	Hash    string
}

// NewSecret returns a new credential of an account. Its text is the prefix and the
// base64url encoding of the account (16 bytes), a selector that sorts by time (12 bytes)
// and 256 random bits. Account and selector only locate the row.
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

// Ref returns the reference that ParseSecret returns for the text of the secret.
func (s Secret) Ref() SecretRef { return SecretRef{s.Account, s.ID, s.Hash} }

// ParseSecret parses a credential made by NewSecret. It returns false if the prefix, the
// length or the encoding is wrong. It does not check whether the credential exists.
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

// NewClientSecret returns a new client secret with 256 random bits, and its hash.
func NewClientSecret() (text, hash string) {
	var raw [randomBytes]byte
	rand.Read(raw[:])
	text = ClientSecret + base64.RawURLEncoding.EncodeToString(raw[:])
	return text, Hash(text)
}

// Hash returns the stored form of every secret except passwords. A fast hash is enough,
// because 256 random bits cannot be guessed.
func Hash(text string) string {
	var buf [128]byte // avoids an allocation for most secrets
	sum := sha256.Sum256(append(buf[:0], text...))
	return string(base64.RawURLEncoding.AppendEncode(buf[:0], sum[:]))
}

// EqualHash compares two hashes in constant time.
func EqualHash(a, b string) bool {
	return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}

// ValidSelector reports whether a text can be the ID of a Secret.
func ValidSelector(id string) bool {
	raw, err := hex.DecodeString(id)
	return err == nil && len(raw) == selectorBytes
}
