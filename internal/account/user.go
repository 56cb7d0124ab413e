package account

import (
	"net/mail"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"formulary/internal/fault"
)

// Roles of a user on this installation.
const (
	RoleAdmin  = "operator" // administrator: created with the setup link, or the first user on the command line
	RoleMember = "member"
	RoleSpace  = "space" // not a user, but a space of several people
)

// Limits of the profile of a user.
const (
	MaxEmail = 254
	MaxName  = 200
)

// User is an account. It owns forms and applications.
type User struct {
	ID        string
	Email     string
	Name      string
	Language  string
	TimeZone  string // name in the IANA database; empty: UTC
	Role      string
	Password  string // argon2id hash
	CreatedAt time.Time
	Disabled  bool
	// EmailVerifiedAt is when the address was confirmed; zero: never. An administrator
	// vouches for the addresses that they enter.
	EmailVerifiedAt time.Time
}

// IsEmailVerified reports whether the user has proved to receive mail at the address.
func (u User) IsEmailVerified() bool { return !u.EmailVerifiedAt.IsZero() }

// DisplayName returns the name of the user or, if there is none, the email address.
func (u User) DisplayName() string {
	if u.Name != "" {
		return u.Name
	}
	return u.Email
}

// ParseEmail validates an email address and returns it without surrounding spaces.
func ParseEmail(text string) (string, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return "", fault.Messagef("enter an email address")
	}
	if len(text) > MaxEmail || !IsSingleLine(text) {
		return "", fault.Messagef("enter an email address, such as name@example.com")
	}
	parsed, err := mail.ParseAddress(text)
	if err != nil || parsed.Address != text || parsed.Name != "" || strings.ContainsAny(text, " ,<>\"") {
		return "", fault.Messagef("enter an email address, such as name@example.com")
	}
	if _, domain, _ := strings.Cut(text, "@"); strings.HasPrefix(domain, "[") {
		return "", fault.Messagef("enter an email address, such as name@example.com")
	}
	return text, nil
}

// EmailKey returns the normalized form of an email address, which is unique per user.
// Letter case and Unicode normalization make no difference.
func EmailKey(email string) string {
	return strings.ToLower(norm.NFKC.String(email))
}

// ParseName validates the name of a user and returns it without surrounding spaces.
func ParseName(text string) (string, error) {
	text = strings.TrimSpace(text)
	if !IsSingleLine(text) {
		return "", fault.Messagef("enter the name on one line")
	}
	if strings.ContainsFunc(text, changesDirection) {
		return "", fault.Messagef("use only visible characters in the name")
	}
	if utf8.RuneCountInString(text) > MaxName {
		return "", fault.Messagef("use %d characters or fewer for the name", MaxName)
	}
	return text, nil
}

// Session is a signed-in browser of a user.
type Session struct {
	Account   string
	ID        string
	Hash      string
	CreatedAt time.Time
	UsedAt    time.Time
	Address   string
	Agent     string

	InOtherSpaces bool // the user can use spaces beside their own
}

// Lifetimes of a session.
const (
	SessionIdle     = 14 * 24 * time.Hour // after the last use
	SessionAbsolute = 90 * 24 * time.Hour // after signing in
)

// DeviceIdle is how long a device is recognized after the last sign-in on it.
const DeviceIdle = 400 * 24 * time.Hour

// IsLive reports whether the session has not expired.
func (s Session) IsLive(now time.Time) bool {
	return now.Sub(s.UsedAt) < SessionIdle && now.Sub(s.CreatedAt) < SessionAbsolute
}
