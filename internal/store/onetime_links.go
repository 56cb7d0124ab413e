package store

import (
	"context"
	"errors"
	"time"

	"formulary/internal/account"
	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/id"
)

// Kinds of one-time links.
const (
	setupLink = "setup"
	resetLink = "reset"
	emailLink = "email" // confirms an address
)

const (
	insertLinkSQL = `INSERT INTO link (account_id, id, kind, hash, expires_at, email) VALUES ($1, $2, $3, $4, $5, $6)`
	dropLinksSQL  = `DELETE FROM link WHERE account_id = $1 AND kind = $2`
	linkSQL       = `SELECT hash, email FROM link WHERE account_id = $1 AND id = $2 AND kind = $3 AND used_at = 0 AND expires_at > $4`
	spendLinkSQL  = `UPDATE link SET used_at = $5
		WHERE account_id = $1 AND id = $2 AND kind = $3 AND hash = $4 AND used_at = 0 AND expires_at > $5 RETURNING email`
)

// NoOwner owns the setup link, which exists before the first account, and reset links for
// addresses that no user has.
var NoOwner = id.UUID{}.String(id.User)

var errLink = fault.New(fault.BadRequest, "This link has expired or was already used.")

// NewSetupLink creates the secret of a setup link and invalidates earlier ones. It
// fails if there is an account already.
func (s *Store) NewSetupLink(ctx context.Context, now time.Time, ttl time.Duration) (_ string, err error) {
	defer wrap(&err, "create setup link")
	secret := account.NewSecret(account.OneTimeLinkKey, NoOwner, now)
	err = s.db.Write(ctx, func(t db.Tx) error {
		if exists, err := hasUsers(t.Query); err != nil || exists {
			return errorWhen(err, exists, errLink)
		}
		return insertLink(t, setupLink, MailedLink{Secret: secret, Expires: now.Add(ttl)})
	})
	return secret.Text, err
}

// NewResetLink creates the secret of a reset link.
func (s *Store) NewResetLink(ctx context.Context, owner string, now time.Time, ttl time.Duration) (_ string, err error) {
	defer wrap(&err, "create reset link")
	secret := account.NewSecret(account.OneTimeLinkKey, owner, now)
	err = s.db.Write(ctx, func(t db.Tx) error {
		return insertLink(t, resetLink, MailedLink{Secret: secret, Expires: now.Add(ttl)})
	})
	return secret.Text, err
}

// insertLink replaces earlier links of the kind.
func insertLink(t db.Tx, kind string, l MailedLink) error {
	if _, err := t.Exec(dropLinksSQL, l.Secret.Account, kind); err != nil {
		return err
	}
	_, err := t.Exec(insertLinkSQL, l.Secret.Account, l.Secret.ID, kind, l.Secret.Hash, toMillis(l.Expires), l.Email)
	return err
}

// errorWhen returns then if err is nil and the condition is true.
func errorWhen(err error, when bool, then error) error {
	if err == nil && when {
		return then
	}
	return err
}

// CheckSetupLink returns an error if the setup link cannot be used any more.
func (s *Store) CheckSetupLink(ctx context.Context, text string, now time.Time) (err error) {
	defer wrap(&err, "check setup link")
	_, _, err = s.checkLink(ctx, text, setupLink, now)
	return err
}

// CheckResetLink returns the user whose password the link can change.
func (s *Store) CheckResetLink(ctx context.Context, text string, now time.Time) (_ account.User, err error) {
	defer wrap(&err, "check reset link")
	key, _, err := s.checkLink(ctx, text, resetLink, now)
	if err != nil {
		return account.User{}, err
	}
	return s.User(ctx, key.Account)
}

func (s *Store) checkLink(ctx context.Context, text, kind string, now time.Time) (key account.SecretRef, email string, err error) {
	key, ok := account.ParseSecret(account.OneTimeLinkKey, text)
	if !ok {
		return key, "", errLink
	}
	var hash string
	err = queryOne(s.query(ctx), linkSQL, []any{key.Account, key.ID, kind, toMillis(now)}, &hash, &email)
	if errors.Is(err, fault.NotFound) || err == nil && !account.EqualHash(hash, key.Hash) {
		return key, "", errLink
	}
	return key, email, err
}

// spendLink uses a link. It returns the address that the link was sent to, if any.
func spendLink(t db.Tx, key account.SecretRef, kind string, now time.Time) (email string, err error) {
	err = queryOne(t.Query, spendLinkSQL, []any{key.Account, key.ID, kind, key.Hash, toMillis(now)}, &email)
	return email, replaceNotFound(err, errLink)
}

// useLink uses a link of a user for a change. The change gets the address that the link was sent
// to; empty: it was not sent by mail.
func (s *Store) useLink(ctx context.Context, text, kind string, now time.Time, change func(t db.Tx, owner, email string) error) error {
	key, ok := account.ParseSecret(account.OneTimeLinkKey, text)
	if !ok {
		return errLink
	}
	err := s.write(ctx, key.Account, func(t db.Tx) error {
		email, err := spendLink(t, key, kind, now)
		if err != nil {
			return err
		}
		return change(t, key.Account, email)
	})
	s.mailsAdded()
	return err
}

// CreateFirstUser creates the first account with the setup link.
func (s *Store) CreateFirstUser(ctx context.Context, link string, p account.User, now time.Time) (_ account.User, err error) {
	defer wrap(&err, "create first user")
	key, ok := account.ParseSecret(account.OneTimeLinkKey, link)
	if !ok {
		return p, errLink
	}
	err = s.db.Exclusive(ctx, func(t db.Tx) error {
		if exists, err := hasUsers(t.Query); err != nil || exists {
			return errorWhen(err, exists, errLink)
		}
		if _, err := spendLink(t, key, setupLink, now); err != nil {
			return err
		}
		return insertUser(t, &p)
	})
	return p, err
}

// ResetPassword sets a new password with a reset link. The user may have lost control of
// the account, so all sessions, devices and grants end. A link that was sent to the address
// also confirms the address.
func (s *Store) ResetPassword(ctx context.Context, link, hash string, mails []Mail, now time.Time) (err error) {
	defer wrap(&err, "reset password")
	var person string
	err = s.useLink(ctx, link, resetLink, now, func(t db.Tx, owner, email string) error {
		person = owner
		if email != "" {
			if _, err := t.Exec(verifyEmailSQL, owner, account.EmailKey(email), toMillis(now)); err != nil {
				return err
			}
		}
		return setPassword(ctx, t, PasswordChange{Owner: owner, Hash: hash, Mails: mails}, now)
	})
	if err == nil {
		s.pauseElsewhere(ctx, person, now)
	}
	return err
}
