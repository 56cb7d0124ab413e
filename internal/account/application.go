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
	MaxSecrets = 2 // the current secret and its replacement
)

// Application is a registered OAuth client.
type Application struct {
	Account      string // ID of the user who registered it
	ID           string // client_id
	Name         string
	Public       bool // has no client secret, such as a native application
	RedirectURIs []string
	Scopes       Scopes // scopes that it may request
	SendIssuer   bool   // add iss to redirects (RFC 9207)
	CreatedAt    time.Time
	Disabled     bool
}

// Check validates a registration and normalizes the name. The error lists the invalid
// fields.
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
		invalid("name", "use only one alphabet in each word of the name")
	case err == errReserved:
		invalid("name", "choose a name that does not look like part of Formulary")
	case err != nil:
		invalid("name", "use only visible characters in the name")
	}
	switch n := len(a.RedirectURIs); {
	case n == 0:
		invalid("redirect_uri", "enter at least one redirect URI")
	case n > MaxRedirectURIs:
		invalid("redirect_uri", "enter no more than 20 redirect URIs")
	}
	for _, uri := range a.RedirectURIs {
		if err := CheckRedirectURI(uri, a.Public); err != nil {
			invalid("redirect_uri", "%s (%s)", err, uri)
			break
		}
	}
	if len(a.Scopes) == 0 {
		invalid("scope", "select at least one scope")
	}
	if len(details) > 0 {
		return fault.InvalidFields(details...)
	}
	return nil
}

// AppSecret is the stored form of a client secret.
type AppSecret struct {
	ID        string
	Hash      string
	CreatedAt time.Time
}
