package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// secretPrefix marks a signing secret, so that secret scanners find leaks.
const secretPrefix = "whsec_"

// Secret signs requests. Its text is what the receiver has to know.
type Secret struct{ key []byte }

// NewSecret creates a secret of 256 random bits.
func NewSecret() Secret {
	key := make([]byte, 32)
	rand.Read(key)
	return Secret{key}
}

// ParseSecret reads the text of a secret.
func ParseSecret(text string) (Secret, error) {
	encoded, ok := strings.CutPrefix(text, secretPrefix)
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(key) == 0 {
		return Secret{}, fmt.Errorf("not a webhook secret")
	}
	return Secret{key}, nil
}

// String returns the secret as the receiver gets it.
func (s Secret) String() string { return secretPrefix + base64.StdEncoding.EncodeToString(s.key) }

// signature signs a request as Standard Webhooks do.
func (s Secret) signature(id string, at time.Time, body []byte) string {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
