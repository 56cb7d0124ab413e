package store

import (
	"context"
	"time"

	"formulary/internal/account"
	"formulary/internal/db"
)

const (
	pendingEmailSQL = `SELECT email FROM link WHERE account_id = $1 AND kind = 'email' AND used_at = 0 AND expires_at > $2`
	dropMailSQL     = `DELETE FROM mail WHERE account_id = $1 AND id = $2`
)

// MailedLink is a one-time link, with the mail that it is in.
type MailedLink struct {
	Secret  account.Secret
	Email   string // that it is sent to; empty: it is not
	Expires time.Time
	Mail    Mail
}

// insertMailedLink replaces earlier links of the kind, and sends the new one.
func insertMailedLink(t db.Tx, kind string, l MailedLink) error {
	if err := insertLink(t, kind, l); err != nil {
		return err
	}
	return addMails(t, l.Secret.Account, l.Mail)
}

// MailResetLink sends a link with which a user can set a new password. For an address that no
// user has, the owner of the secret is NoOwner: that does the same work and sends nothing, so
// that the time it takes does not tell who has an account.
func (s *Store) MailResetLink(ctx context.Context, l MailedLink) (err error) {
	defer wrap(&err, "mail reset link")
	err = s.db.Write(ctx, func(t db.Tx) error {
		if err := insertMailedLink(t, resetLink, l); err != nil {
			return err
		}
		dropped := ""
		if l.Secret.Account == NoOwner {
			dropped = l.Mail.ID
		}
		_, err := t.Exec(dropMailSQL, l.Secret.Account, dropped)
		return err
	})
	s.mailsAdded()
	return err
}

// MailEmailLink sends a link that confirms an address: the one that the user has, or a new one.
func (s *Store) MailEmailLink(ctx context.Context, l MailedLink) (err error) {
	defer wrap(&err, "mail email link")
	err = s.db.Write(ctx, func(t db.Tx) error { return insertMailedLink(t, emailLink, l) })
	s.mailsAdded()
	return err
}

// PendingEmail returns the address that waits for its confirmation; empty: none does.
func (s *Store) PendingEmail(ctx context.Context, owner string, now time.Time) (email string, err error) {
	defer wrap(&err, "read pending email")
	err = queryOne(s.query(ctx), pendingEmailSQL, []any{owner, toMillis(now)}, &email)
	return email, replaceNotFound(err, nil)
}

// CancelEmail ends the link that confirms an address.
func (s *Store) CancelEmail(ctx context.Context, owner string) (err error) {
	defer wrap(&err, "cancel email")
	return s.db.Write(ctx, func(t db.Tx) error {
		_, err := t.Exec(dropLinksSQL, owner, emailLink)
		return err
	})
}

// EmailLink is what a link confirms.
type EmailLink struct {
	User  account.User
	Email string
}

// IsChange reports whether the user gets another address.
func (l EmailLink) IsChange() bool {
	return account.EmailKey(l.Email) != account.EmailKey(l.User.Email)
}

// CheckEmailLink returns what a link would confirm.
func (s *Store) CheckEmailLink(ctx context.Context, text string, now time.Time) (l EmailLink, err error) {
	defer wrap(&err, "check email link")
	key, email, err := s.checkLink(ctx, text, emailLink, now)
	if err != nil {
		return l, err
	}
	l.Email = email
	l.User, err = s.User(ctx, key.Account)
	return l, err
}

// ConfirmEmail uses a link: its address is now the confirmed address of the user.
func (s *Store) ConfirmEmail(ctx context.Context, text string, mails []Mail, now time.Time) (err error) {
	defer wrap(&err, "confirm email")
	return s.useLink(ctx, text, emailLink, now, func(t db.Tx, owner, email string) error {
		return setEmail(t, EmailChange{Owner: owner, Email: email, VerifiedAt: now, Mails: mails})
	})
}
