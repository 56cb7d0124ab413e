package mail

import (
	"slices"
	"strings"
	"time"
)

// Event says what happened to which account, for notices to its user.
type Event struct {
	BaseURL  string
	Email    string // of the account
	At       time.Time
	TimeZone string // of the user; empty: UTC
	// Where from; empty: not known.
	Browser, System, Address string
}

func (e Event) zone() *time.Location {
	zone, err := time.LoadLocation(e.TimeZone)
	if err != nil {
		return time.UTC
	}
	return zone
}

// details are the parts of an event that the mail lists, after those of its kind.
func (e Event) details(t Texts, more ...Answer) []Group {
	list := append(more, Answer{t.T("Date and time"), t.DateTime(e.At, e.zone())})
	switch {
	case e.Browser != "" && e.System != "":
		list = append(list, Answer{t.T("Browser"), t.T("%s (%s)", e.Browser, e.System)})
	case e.Browser != "":
		list = append(list, Answer{t.T("Browser"), e.Browser})
	}
	if e.Address != "" {
		list = append(list, Answer{t.T("IP address"), e.Address})
	}
	return []Group{{Answers: list}}
}

func (e Event) footer(t Texts) string {
	return t.T("You get this email because it concerns the security of your account at %s.", hostOf(e.BaseURL))
}

// NewSignIn tells a user of a sign-in from a browser that the account does not know.
type NewSignIn struct{ Event }

// Name implements Kind.
func (NewSignIn) Name() string { return "new_sign_in" }

// Compose implements Kind.
func (m NewSignIn) Compose(t Texts) Content {
	return Content{
		Subject: t.T("New sign-in to your account"), Heading: t.T("New sign-in to your account"),
		Paragraphs: []string{t.T("Someone signed in as %s in a new browser.", m.Email)},
		Groups:     m.details(t),
		Button:     Link{t.T("Review sessions"), m.BaseURL + "/account#sessions"},
		Notes:      []string{t.T("If this was you, you don’t need to do anything."), t.T("If this wasn’t you, change your password now. That signs out all other sessions.")},
		Footer:     m.footer(t),
	}
}

// PasswordChanged tells a user of a new password.
type PasswordChanged struct{ Event }

// Name implements Kind.
func (PasswordChanged) Name() string { return "password_changed" }

// Compose implements Kind.
func (m PasswordChanged) Compose(t Texts) Content {
	return Content{
		Subject: t.T("Your password was changed"), Heading: t.T("Your password was changed"),
		Paragraphs: []string{t.T("The account %s has a new password.", m.Email)},
		Groups:     m.details(t),
		Button:     Link{t.T("Reset password"), m.BaseURL + "/forgot"},
		Notes:      []string{t.T("If this was you, you don’t need to do anything."), t.T("If this wasn’t you, reset your password now.")},
		Footer:     m.footer(t),
	}
}

// EmailChanged tells a user, at the previous address, that the account has another one.
type EmailChanged struct {
	Event
	NewEmail string
}

// Name implements Kind.
func (EmailChanged) Name() string { return "email_changed" }

// Compose implements Kind.
func (m EmailChanged) Compose(t Texts) Content {
	return Content{
		Subject: t.T("Your email address was changed"), Heading: t.T("Your email address was changed"),
		Paragraphs: []string{t.T("Your account no longer uses this address. Sign in with the new one.")},
		Groups:     m.details(t, Answer{t.T("Previous address"), m.Email}, Answer{t.T("New address"), m.NewEmail}),
		Notes: []string{
			t.T("If this was you, you don’t need to do anything."),
			t.T("If this wasn’t you, write to the administrator of %s at once.", hostOf(m.BaseURL)),
		},
		Footer: m.footer(t),
	}
}

// NewGrant tells a user of an application that has access to the account.
type NewGrant struct {
	Event
	App string
	// Who registered the application: a name, which can be empty, and the domain of the email
	// address. Without either, the application is part of the service.
	Registrant, Domain string
	Own                bool     // the user registered it
	Scopes             []string // descriptions in English
	Space              string   // empty: the user's own
	SomeForms          bool
	Forms              []string // titles
	MoreForms          int      // beside these
	Ends               time.Time
}

// limits are the parts of the mail about what the access is limited to.
func (m NewGrant) limits(t Texts) (list []Answer) {
	if m.Space != "" {
		list = append(list, Answer{t.T("Space"), CleanLine(m.Space, maxNameInMail)})
	}
	if m.SomeForms {
		var titles []string
		for _, title := range m.Forms {
			titles = append(titles, CleanLine(title, maxNameInMail))
		}
		switch {
		case len(titles) == 0:
			titles = []string{t.T("Only forms that the app creates")}
		case m.MoreForms > 0:
			titles = append(titles, t.T("and %d more", m.MoreForms))
		}
		list = append(list, Answer{t.T("Forms"), strings.Join(titles, "\n")})
	}
	if !m.Ends.IsZero() {
		list = append(list, Answer{t.T("Access ends"), t.DateTime(m.Ends, m.zone())})
	}
	return list
}

// Name implements Kind.
func (NewGrant) Name() string { return "new_grant" }

// Compose implements Kind.
func (m NewGrant) Compose(t Texts) Content {
	app, allows := CleanLine(m.App, maxNameInMail), make([]string, len(m.Scopes))
	for i, scope := range m.Scopes {
		allows[i] = t.T(scope)
	}
	by := t.T("Part of this service")
	switch {
	case m.Own:
		by = t.T("Your account")
	case m.Registrant != "":
		by = t.T("%s (%s)", CleanLine(m.Registrant, maxNameInMail), m.Domain)
	case m.Domain != "":
		by = t.T("An account at %s", m.Domain)
	}
	return Content{
		Subject: t.T("“%s” has access to your account", app), Heading: t.T("“%s” has access to your account", app),
		Paragraphs: []string{t.T("You allowed “%s” to access the account %s.", app, m.Email)},
		Groups:     m.details(t, slices.Concat([]Answer{{t.T("The app can"), strings.Join(allows, "\n")}}, m.limits(t), []Answer{{t.T("Registered by"), by}})...),
		Button:     Link{t.T("Review connected apps"), m.BaseURL + "/connections"},
		Notes: []string{
			t.T("You can disconnect the app at any time in Connected apps."),
			t.T("If this wasn’t you, disconnect the app and change your password."),
		},
		Footer: m.footer(t),
	}
}

// maxNameInMail is how many characters of a name are in a mail.
const maxNameInMail = 100
