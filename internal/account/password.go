package account

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"formulary/internal/fault"
)

// Limits of a password, in characters.
const (
	MinPassword = 8
	MaxPassword = 256
)

// minGuesses is the estimated number of tries, as a power of ten, that a password must
// withstand. Two plain words come to 8.0 and a decorated one to 8.4, so this refuses
// passwords such as correcthorse and Tr0ub4dor&3.
const minGuesses = 8.5

// HashCost is how much work argon2id does for one hash.
type HashCost struct {
	MemoryKiB uint32
	Passes    uint32
}

// DefaultHashCost is what OWASP recommends for argon2id.
var DefaultHashCost = HashCost{MemoryKiB: 19 * 1024, Passes: 2}

const (
	argonThreads = 1
	argonKeyLen  = 32
	argonSaltLen = 16
)

// CheckPassword says why a password may not be used, or nil. What is known of
// the person (address, name) counts as guessable.
func CheckPassword(password string, known ...string) error {
	switch n := utf8.RuneCountInString(password); {
	case n < MinPassword:
		return fault.Messagef("a password has at least %d characters", MinPassword)
	case n > MaxPassword:
		return fault.Messagef("a password has at most %d characters", MaxPassword)
	case !utf8.ValidString(password):
		return fault.Messagef("the password is not valid text")
	}
	// The estimate grows with length; so many characters decide it.
	guessed := []rune(password)
	guessed = guessed[:min(len(guessed), 64)]
	pieces := []string{"formulary"}
	for _, k := range known {
		k = strings.ToLower(k)
		local, _, _ := strings.Cut(k, "@")
		pieces = append(append(pieces, k, local, strings.ReplaceAll(k, " ", "")), strings.FieldsFunc(k, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })...)
	}
	if estimateGuesses(string(guessed), pieces) < minGuesses {
		return fault.Messagef("this password is easy to guess; a few unrelated words make a good one")
	}
	return nil
}

// Hasher hashes passwords, a few at a time: each takes 19 MiB and about 30 ms
// of a core, and a flood of sign-ins must not take the machine.
type Hasher struct {
	slots chan struct{}
	cost  HashCost
	decoy string
}

// NewHasher allows so many hashes at once, each at the given cost.
func NewHasher(atOnce int, cost HashCost) *Hasher {
	h := &Hasher{slots: make(chan struct{}, atOnce), cost: cost}
	h.decoy = cost.encode(make([]byte, argonSaltLen), make([]byte, argonKeyLen))
	return h
}

func (h *Hasher) enter(ctx context.Context) error {
	select {
	case h.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Hash returns the text to store for a password.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	if err := h.enter(ctx); err != nil {
		return "", err
	}
	defer func() { <-h.slots }()
	salt := make([]byte, argonSaltLen)
	rand.Read(salt)
	return h.cost.encode(salt, h.cost.derive(password, salt)), nil
}

// Verify compares a password with a stored text, at the cost that the text names.
// With an empty text, as for an unknown address, it does the same work and says no.
func (h *Hasher) Verify(ctx context.Context, stored, password string) (bool, error) {
	if err := h.enter(ctx); err != nil {
		return false, err
	}
	defer func() { <-h.slots }()
	known := stored != ""
	if !known {
		stored = h.decoy
	}
	cost, salt, key, err := decode(stored)
	if err != nil {
		return false, err
	}
	same := subtle.ConstantTimeCompare(cost.derive(password, salt), key) == 1
	return same && known, nil
}

func (c HashCost) derive(password string, salt []byte) []byte {
	return argon2.IDKey([]byte(password), salt, c.Passes, c.MemoryKiB, argonThreads, argonKeyLen)
}

// phcFormat is the PHC string format, up to the salt.
const phcFormat = "$argon2id$v=%d$m=%d,t=%d,p=%d$"

func (c HashCost) encode(salt, key []byte) string {
	b64 := base64.RawStdEncoding
	return fmt.Sprintf(phcFormat, argon2.Version, c.MemoryKiB, c.Passes, argonThreads) + b64.EncodeToString(salt) + "$" + b64.EncodeToString(key)
}

// maxHashMemoryKiB bounds what a damaged row can make Verify allocate.
const maxHashMemoryKiB = 1 << 20

func decode(stored string) (cost HashCost, salt, key []byte, err error) {
	var version, threads int
	if _, err := fmt.Sscanf(stored, phcFormat, &version, &cost.MemoryKiB, &cost.Passes, &threads); err != nil {
		return cost, nil, nil, fmt.Errorf("stored password hash has an unknown format: %w", err)
	}
	parts := strings.Split(stored, "$")
	if len(parts) != 6 || version != argon2.Version || threads != argonThreads || cost.Passes < 1 || cost.MemoryKiB > maxHashMemoryKiB {
		return cost, nil, nil, errors.New("stored password hash has an unknown format")
	}
	if salt, err = base64.RawStdEncoding.DecodeString(parts[4]); err != nil {
		return cost, nil, nil, fmt.Errorf("stored password salt: %w", err)
	}
	if key, err = base64.RawStdEncoding.DecodeString(parts[5]); err != nil {
		return cost, nil, nil, fmt.Errorf("stored password key: %w", err)
	}
	return cost, salt, key, nil
}
