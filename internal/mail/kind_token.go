package mail

import (
	"strings"
	"time"
)

// NewToken tells a user of a new personal token of the account.
type NewToken struct {
	Event
	Token   string   // its name
	Scopes  []string // descriptions in English
	Expires time.Time
}

// Name implements Kind.
func (NewToken) Name() string { return "new_token" }

// Compose implements Kind.
func (m NewToken) Compose(t Texts) Content {
	name, allows := CleanLine(m.Token, maxNameInMail), make([]string, len(m.Scopes))
	for i, scope := range m.Scopes {
		allows[i] = t.T(scope)
	}
	zone, err := time.LoadLocation(m.TimeZone)
	if err != nil {
		zone = time.UTC
	}
	return Content{
		Subject: t.T("New personal token “%s”", name), Heading: t.T("New personal token “%s”", name),
		Paragraphs: []string{t.T("Scripts can use this token to act for the account %s.", m.Email)},
		Groups:     m.details(t, Answer{t.T("The token can"), strings.Join(allows, "\n")}, Answer{t.T("Valid until"), t.DateTime(m.Expires, zone)}),
		Button:     Link{t.T("Review personal tokens"), m.BaseURL + "/tokens"},
		Notes: []string{
			t.T("If this was you, you don’t need to do anything."),
			t.T("If this wasn’t you, revoke the token and change your password."),
		},
		Footer: m.footer(t),
	}
}
