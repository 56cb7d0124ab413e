package mail

import (
	"net/url"
	"time"
)

// PasswordReset is the mail with a link that sets a new password.
type PasswordReset struct {
	Email   string
	Link    string
	Hours   int // that the link works
	Expires time.Time
}

// Name implements Kind.
func (PasswordReset) Name() string { return "password_reset" }

// HasSecret says that the link must not be stored readably.
func (PasswordReset) HasSecret() {}

// IsUrgent says that the recipient waits for the mail.
func (PasswordReset) IsUrgent() {}

// ExpiresAt says until when the link works.
func (m PasswordReset) ExpiresAt() time.Time { return m.Expires }

// Compose implements Kind.
func (m PasswordReset) Compose(t Texts) Content {
	return Content{
		Subject: t.T("Reset your password"), Heading: t.T("Reset your password"),
		Paragraphs: []string{t.T("Use this link to set a new password for %s.", m.Email)},
		Button:     Link{t.T("Set new password"), m.Link},
		Notes: []string{
			t.T("The link works once and expires in %d hours.", m.Hours),
			t.T("A new password signs you out on all devices and disconnects all apps."),
			t.T("If you didn’t ask for this, ignore this email. Your password stays the same."),
		},
		Footer: t.T("You get this email because someone entered your address at %s.", hostOf(m.Link)),
	}
}

// ConfirmEmail is the mail with a link that confirms the address of an account.
type ConfirmEmail struct {
	Email   string
	Change  bool // it replaces another address
	Link    string
	Hours   int // that the link works
	Expires time.Time
}

// Name implements Kind.
func (ConfirmEmail) Name() string { return "confirm_email" }

// HasSecret says that the link must not be stored readably.
func (ConfirmEmail) HasSecret() {}

// IsUrgent says that the recipient waits for the mail.
func (ConfirmEmail) IsUrgent() {}

// ExpiresAt says until when the link works.
func (m ConfirmEmail) ExpiresAt() time.Time { return m.Expires }

// Compose implements Kind.
func (m ConfirmEmail) Compose(t Texts) Content {
	text := t.T("Confirm that %s is your email address.", m.Email)
	if m.Change {
		text = t.T("Confirm that %s is your new email address. Until then, your account keeps the current one.", m.Email)
	}
	return Content{
		Subject: t.T("Confirm your email address"), Heading: t.T("Confirm your email address"),
		Paragraphs: []string{text},
		Button:     Link{t.T("Confirm address"), m.Link},
		Notes: []string{
			t.T("The link works once and expires in %d hours.", m.Hours),
			t.T("If you don’t know what this is about, ignore this email."),
		},
		Footer: t.T("You get this email because someone entered your address at %s.", hostOf(m.Link)),
	}
}

// hostOf returns the host of a URL, by which readers know the installation.
func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return address
}
