package account

import (
	"net/mail"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"formulary/internal/fault"
)

// Roles of a person on this installation.
const (
	RoleAdmin  = "operator" // made with the set-up link, or first on the command line
	RoleMember = "member"
)

// Limits of what a person tells about themselves.
const (
	MaxEmail = 254
	MaxName  = 200
)

// User is an account: somebody who owns forms and applications.
type User struct {
	ID        string
	Email     string
	Name      string
	Language  string
	TimeZone  string // as in the IANA database; empty: UTC
	Role      string
	Password  string // argon2id, never shown
	CreatedAt time.Time
	Disabled  bool
}

// DisplayName is how pages speak to the person.
func (p User) DisplayName() string {
	if p.Name != "" {
		return p.Name
	}
	return p.Email
}

// ParseEmail checks an address and returns it trimmed.
func ParseEmail(text string) (string, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return "", fault.Messagef("an e-mail address is needed")
	}
	if len(text) > MaxEmail || !IsSingleLine(text) {
		return "", fault.Messagef("this is not an e-mail address")
	}
	parsed, err := mail.ParseAddress(text)
	if err != nil || parsed.Address != text || parsed.Name != "" || strings.ContainsAny(text, " ,<>\"") {
		return "", fault.Messagef("this is not an e-mail address")
	}
	if _, domain, _ := strings.Cut(text, "@"); strings.HasPrefix(domain, "[") {
		return "", fault.Messagef("this is not an e-mail address")
	}
	return text, nil
}

// EmailKey is the form of an address under which it is unique: letter case and
// the way accents are encoded make no difference.
func EmailKey(email string) string {
	return strings.ToLower(norm.NFKC.String(email))
}

// ParseName checks what a person wants to be called.
func ParseName(text string) (string, error) {
	text = strings.TrimSpace(text)
	if !IsSingleLine(text) {
		return "", fault.Messagef("a name is one line of text")
	}
	if utf8.RuneCountInString(text) > MaxName {
		return "", fault.Messagef("a name has at most %d characters", MaxName)
	}
	return text, nil
}

// Session is a person signed in on a device.
type Session struct {
	Account   string
	ID        string
	Hash      string
	CreatedAt time.Time
	UsedAt    time.Time
	Address   string
	Agent     string
}

// How long a session lives without use, and at all.
const (
	SessionIdle     = 14 * 24 * time.Hour
	SessionAbsolute = 90 * 24 * time.Hour
)

// DeviceIdle is how long a device is known after the last sign-in there.
const DeviceIdle = 400 * 24 * time.Hour

// IsLive says whether the session still counts.
func (s Session) IsLive(now time.Time) bool {
	return now.Sub(s.UsedAt) < SessionIdle && now.Sub(s.CreatedAt) < SessionAbsolute
}
