package account

import (
	"crypto/sha256"
	"encoding/base64"
)

// ValidChallenge reports whether a text can be an S256 code challenge: a SHA-256 in
// base64url (RFC 7636).
func ValidChallenge(challenge string) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(challenge)
	return err == nil && len(raw) == sha256.Size
}

// ValidVerifier reports whether a code verifier has 43 to 128 unreserved characters.
func ValidVerifier(verifier string) bool {
	if len(verifier) < 43 || len(verifier) > 128 {
		return false
	}
	for _, c := range []byte(verifier) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '-', c == '.', c == '_', c == '~':
		default:
			return false
		}
	}
	return true
}

// Challenge returns the S256 challenge of a verifier.
func Challenge(verifier string) string {
	return Hash(verifier)
}
