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

// minGuessesLog10 is the minimum of estimateGuessesLog10 for a valid password. Two common
// words have 8.0 and one word with substituted characters 8.4, so it rejects passwords
// such as correcthorse and Tr0ub4dor&3.
const minGuessesLog10 = 8.5

// HashCost is the cost of one argon2id hash.
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

// CheckPassword returns an error if a password is too short, too long or too easy to guess.
// personal is what attackers can know about the user, such as the email address and name.
func CheckPassword(password string, personal ...string) error {
	switch n := utf8.RuneCountInString(password); {
	case n < MinPassword:
		return fault.Messagef("use at least %d characters for the password", MinPassword)
	case n > MaxPassword:
		return fault.Messagef("use %d characters or fewer for the password", MaxPassword)
	case !utf8.ValidString(password):
		return fault.Messagef("the password contains invalid characters")
	}
	// 64 characters bound the time. More can only increase the estimate.
	prefix := []rune(password)
	prefix = prefix[:min(len(prefix), 64)]
	known := []string{"formulary"}
	for _, text := range personal {
		text = strings.ToLower(text)
		local, _, _ := strings.Cut(text, "@")
		known = append(known, text, local, strings.ReplaceAll(text, " ", ""))
		known = append(known, strings.FieldsFunc(text, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })...)
	}
	if estimateGuessesLog10(string(prefix), known) < minGuessesLog10 {
		return fault.Messagef("this password is too easy to guess; try a few unrelated words")
	}
	return nil
}

// Hasher hashes passwords. At DefaultHashCost a hash takes 19 MiB and about 30 ms of a
// core, so Hasher limits how many run at once: a flood of sign-ins must not take all
// memory and CPU.
type Hasher struct {
	slots chan struct{}
	cost  HashCost
	decoy string // hash of no password, for unknown users
}

// NewHasher returns a Hasher that computes up to concurrency hashes at once.
func NewHasher(concurrency int, cost HashCost) *Hasher {
	h := &Hasher{slots: make(chan struct{}, concurrency), cost: cost}
	h.decoy = cost.encode(make([]byte, argonSaltLen), make([]byte, argonKeyLen))
	return h
}

// acquireSlot waits for a free slot. The caller frees it by receiving from slots.
func (h *Hasher) acquireSlot(ctx context.Context) error {
	select {
	case h.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Hash returns the encoded hash of a password, for storage.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	if err := h.acquireSlot(ctx); err != nil {
		return "", err
	}
	defer func() { <-h.slots }()
	salt := make([]byte, argonSaltLen)
	rand.Read(salt)
	return h.cost.encode(salt, h.cost.derive(password, salt)), nil
}

// Verify compares a password with a stored hash, at the cost that the hash was made with.
// If stored is empty, as for an unknown user, it takes the same time and returns false.
func (h *Hasher) Verify(ctx context.Context, stored, password string) (bool, error) {
	if err := h.acquireSlot(ctx); err != nil {
		return false, err
	}
	defer func() { <-h.slots }()
	exists := stored != ""
	if !exists {
		stored = h.decoy
	}
	cost, salt, key, err := decodeHash(stored)
	if err != nil {
		return false, err
	}
	equal := subtle.ConstantTimeCompare(cost.derive(password, salt), key) == 1
	return equal && exists, nil
}

func (c HashCost) derive(password string, salt []byte) []byte {
	return argon2.IDKey([]byte(password), salt, c.Passes, c.MemoryKiB, argonThreads, argonKeyLen)
}

// phcFormat is the start of a hash in the PHC string format, up to the salt.
const phcFormat = "$argon2id$v=%d$m=%d,t=%d,p=%d$"

func (c HashCost) encode(salt, key []byte) string {
	b64 := base64.RawStdEncoding
	return fmt.Sprintf(phcFormat, argon2.Version, c.MemoryKiB, c.Passes, argonThreads) + b64.EncodeToString(salt) + "$" + b64.EncodeToString(key)
}

// maxHashMemoryKiB bounds the memory that Verify allocates for a damaged row.
const maxHashMemoryKiB = 1 << 20

func decodeHash(stored string) (cost HashCost, salt, key []byte, err error) {
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
