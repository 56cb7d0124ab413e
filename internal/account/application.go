package account

import (
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"formulary/internal/fault"
)

// Limits of an application's registration.
const (
	MaxAppName = 100
	MaxSecrets = 2 // the one in use and the one that replaces it
)

// Application is a third party that may ask people for access.
type Application struct {
	Account      string // the person who registered it
	ID           string // the client_id
	Name         string
	Public       bool // has no secret: a native or browser application
	RedirectURIs []string
	Scopes       Scopes // what it may ask for
	SendIssuer   bool   // adds iss to its redirects (RFC 9207)
	CreatedAt    time.Time
	Disabled     bool
}

// Check says what is wrong with a registration, field by field.
func (a *Application) Check() error {
	var details []fault.Detail
	invalid := func(field, format string, args ...any) {
		details = append(details, fault.NewDetail(field, format, args...))
	}
	a.Name = norm.NFC.String(strings.TrimSpace(a.Name))
	switch err := CheckAppName(a.Name); {
	case a.Name == "":
		invalid("name", "enter a name")
	case utf8.RuneCountInString(a.Name) > MaxAppName:
		invalid("name", "use no more than 100 characters")
	case err == errMixed:
		invalid("name", "write each word of the name in one alphabet")
	case err == errReserved:
		invalid("name", "choose a name that does not look like part of Formulary")
	case err != nil:
		invalid("name", "use only visible characters in the name")
	}
	switch n := len(a.RedirectURIs); {
	case n == 0:
		invalid("redirect_uri", "at least one redirect URI is needed")
	case n > MaxRedirectURIs:
		invalid("redirect_uri", "at most 20 redirect URIs")
	}
	for _, uri := range a.RedirectURIs {
		if err := CheckRedirectURI(uri, a.Public); err != nil {
			invalid("redirect_uri", "%s (%s)", err, uri)
			break
		}
	}
	if len(a.Scopes) == 0 {
		invalid("scope", "at least one permission is needed")
	}
	if len(details) > 0 {
		return fault.InvalidFields(details...)
	}
	return nil
}

// AppSecret is one of an application's secrets, without its text.
type AppSecret struct {
	ID        string
	Hash      string
	CreatedAt time.Time
}
