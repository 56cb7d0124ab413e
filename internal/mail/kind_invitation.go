package mail

import "time"

// Invitation is the mail with a link to join a space or to use one form.
type Invitation struct {
	From    string // name of the person who invites
	Space   string // name; empty: the invitation is to a form
	Form    string // title
	Link    string
	Days    int // that the link works
	Expires time.Time
}

// Name implements Kind.
func (Invitation) Name() string { return "invitation" }

// HasSecret says that the link must not be stored readably.
func (Invitation) HasSecret() {}

// ExpiresAt says until when the link works.
func (m Invitation) ExpiresAt() time.Time { return m.Expires }

// Compose implements Kind.
func (m Invitation) Compose(t Texts) Content {
	subject, text := t.T("Invitation to the space “%s”", m.Space), t.T("%s invites you to work together in the space “%s”.", m.From, m.Space)
	if m.Space == "" {
		subject, text = t.T("Invitation to the form “%s”", m.Form), t.T("%s invites you to work on the form “%s”.", m.From, m.Form)
	}
	return Content{
		Subject: subject, Heading: subject,
		Paragraphs: []string{text},
		Button:     Link{t.T("Open invitation"), m.Link},
		Notes: []string{
			t.T("The link works once and expires in %d days.", m.Days),
			t.T("If you don’t know what this is about, ignore this email."),
		},
		Footer: t.T("You get this email because someone entered your address at %s.", hostOf(m.Link)),
	}
}
