package store

import (
	"context"
	"errors"
	"time"

	"formulary/internal/account"
	"formulary/internal/db"
	"formulary/internal/fault"
)

const userColumns = `id, email, name, language, role, password, created_at, disabled_at, time_zone, email_verified_at`

func scanUser(r db.Row) (account.User, error) {
	var p account.User
	var created, disabled, verified int64
	err := r.Scan(&p.ID, &p.Email, &p.Name, &p.Language, &p.Role, &p.Password, &created, &disabled, &p.TimeZone, &verified)
	p.CreatedAt, p.Disabled, p.EmailVerifiedAt = fromMillis(created), disabled != 0, fromMillis(verified)
	return p, err
}

func queryUser(q querier, sql string, args ...any) (account.User, error) {
	p, err := account.User{}, error(fault.NotFound)
	if e := q(sql, func(r db.Row) error {
		p, err = scanUser(r)
		return err
	}, args...); e != nil {
		return p, e
	}
	return p, err
}

const (
	userSQL        = `SELECT ` + userColumns + ` FROM account WHERE id = $1`
	userByEmailSQL = `SELECT ` + userColumns + ` FROM account WHERE email_key = $1 AND role <> '` + account.RoleSpace + `'`
	usersSQL       = `SELECT ` + userColumns + ` FROM account WHERE role <> '` + account.RoleSpace + `' ORDER BY id`
	hasUsersSQL    = `SELECT COUNT(*) FROM (SELECT 1 FROM account WHERE role <> '` + account.RoleSpace + `' LIMIT 1) AS somebody`
	insertUserSQL  = `INSERT INTO account (id, email, email_key, name, language, role, password, created_at, time_zone, email_verified_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`
)

// User returns an account by ID.
func (s *Store) User(ctx context.Context, id string) (_ account.User, err error) {
	defer wrap(&err, "read user")
	return queryUser(s.query(ctx), userSQL, id)
}

// UserByEmail finds a user by email address, ignoring case.
func (s *Store) UserByEmail(ctx context.Context, email string) (_ account.User, err error) {
	defer wrap(&err, "find user by email")
	if !account.IsSingleLine(email) {
		return account.User{}, fault.NotFound
	}
	return queryUser(s.query(ctx), userByEmailSQL, account.EmailKey(email))
}

// Users lists all accounts, oldest first.
func (s *Store) Users(ctx context.Context) (_ []account.User, err error) {
	defer wrap(&err, "list users")
	var users []account.User
	err = s.db.Query(ctx, usersSQL, func(r db.Row) error {
		p, err := scanUser(r)
		users = append(users, p)
		return err
	})
	return users, err
}

// HasUsers reports whether any user exists.
func (s *Store) HasUsers(ctx context.Context) (_ bool, err error) {
	defer wrap(&err, "look for users")
	return hasUsers(s.query(ctx))
}

func hasUsers(q querier) (bool, error) {
	var n int64
	err := queryOne(q, hasUsersSQL, nil, &n)
	return n > 0, err
}

// AddUser adds a user; the first one is the administrator.
func (s *Store) AddUser(ctx context.Context, p account.User) (_ account.User, err error) {
	defer wrap(&err, "add user")
	err = s.db.Exclusive(ctx, func(t db.Tx) error { return insertUser(t, &p) })
	return p, err
}

// SignUp adds a user who has yet to confirm the address with a link.
func (s *Store) SignUp(ctx context.Context, p account.User, l MailedLink) (_ account.User, err error) {
	defer wrap(&err, "sign up")
	err = s.db.Exclusive(ctx, func(t db.Tx) error {
		if err := insertUser(t, &p); err != nil {
			return err
		}
		return insertMailedLink(t, emailLink, l)
	})
	s.mailsAdded()
	return p, err
}

func insertUser(t db.Tx, p *account.User) error {
	exists, err := hasUsers(t.Query)
	if err != nil {
		return err
	}
	p.Role = account.RoleMember
	if !exists {
		p.Role, p.EmailVerifiedAt = account.RoleAdmin, p.CreatedAt
	}
	_, err = t.Exec(insertUserSQL, p.ID, p.Email, account.EmailKey(p.Email), p.Name, p.Language, p.Role, p.Password, toMillis(p.CreatedAt), p.TimeZone, toMillis(p.EmailVerifiedAt))
	return takenEmail(err)
}

var errTakenEmail = fault.InvalidField("email", "an account with this email address already exists")

func takenEmail(err error) error {
	if errors.Is(err, db.ErrUnique) {
		return errTakenEmail
	}
	return err
}

// CheckEmailFree returns an error if a user has the address.
func (s *Store) CheckEmailFree(ctx context.Context, email string) error {
	_, err := s.UserByEmail(ctx, email)
	if errors.Is(err, fault.NotFound) {
		return nil
	}
	return errorWhen(err, true, errTakenEmail)
}

const (
	setProfileSQL  = `UPDATE account SET name = $2, language = $3, time_zone = $4 WHERE id = $1`
	setEmailSQL    = `UPDATE account SET email = $2, email_key = $3, email_verified_at = $4 WHERE id = $1`
	verifyEmailSQL = `UPDATE account SET email_verified_at = $3 WHERE id = $1 AND email_key = $2`
	emailKeySQL    = `SELECT email_key FROM account WHERE id = $1`
	setPasswordSQL = `UPDATE account SET password = $2 WHERE id = $1`
	setDisabledSQL = `UPDATE account SET disabled_at = $2 WHERE id = $1`
	deleteUserSQL  = `DELETE FROM account WHERE id = $1`

	// A member's confirmed address needs no other confirmation. A guest who had confirmed theirs
	// has confirmed the new one too.
	moveRecipientsSQL = `UPDATE form_recipient SET email_key = $3, email = $4, confirmed_at = CASE WHEN confirmed_at > 0 THEN CAST($5 AS BIGINT) ELSE 0 END
		WHERE account_id = $1 AND email_key = $2 AND NOT EXISTS (SELECT 1 FROM form_recipient other
			WHERE other.account_id = $1 AND other.form_id = form_recipient.form_id AND other.email_key = $3)`
	dropRecipientsSQL = `DELETE FROM form_recipient WHERE account_id = $1 AND email_key = $2`
)

// VerifyEmail confirms the address of a user, for whom an administrator vouches.
func (s *Store) VerifyEmail(ctx context.Context, p account.User, now time.Time) (err error) {
	defer wrap(&err, "confirm email")
	return s.write(ctx, p.ID, func(t db.Tx) error {
		return checkAffected(t.Exec(verifyEmailSQL, p.ID, account.EmailKey(p.Email), toMillis(now)))
	})
}

// SetProfile changes name, language and time zone.
func (s *Store) SetProfile(ctx context.Context, owner, name, language, zone string) (err error) {
	defer wrap(&err, "set profile")
	return s.write(ctx, owner, func(t db.Tx) error { return checkAffected(t.Exec(setProfileSQL, owner, name, language, zone)) })
}

// EmailChange is a new email address of a user.
type EmailChange struct {
	Owner      string
	Email      string
	VerifiedAt time.Time // when it was confirmed; zero: it is not
	Mails      []Mail
}

// SetEmail changes the email address with which the user signs in. It ends links that were sent
// to the previous address.
func (s *Store) SetEmail(ctx context.Context, c EmailChange) (err error) {
	defer wrap(&err, "set email")
	err = s.write(ctx, c.Owner, func(t db.Tx) error {
		if _, err := t.Exec(dropLinksSQL, c.Owner, emailLink); err != nil {
			return err
		}
		return setEmail(t, c)
	})
	s.mailsAdded()
	return err
}

func setEmail(t db.Tx, c EmailChange) error {
	if err := moveRecipients(t, c); err != nil {
		return err
	}
	n, err := t.Exec(setEmailSQL, c.Owner, c.Email, account.EmailKey(c.Email), toMillis(c.VerifiedAt))
	if err := checkAffected(n, takenEmail(err)); err != nil {
		return err
	}
	if _, err := t.Exec(dropLinksSQL, c.Owner, resetLink); err != nil {
		return err
	}
	return addMails(t, c.Owner, c.Mails...)
}

// moveRecipients makes the notifications that the user gets go to the new address, in the user's
// own space and in those that the user is in.
func moveRecipients(t db.Tx, c EmailChange) error {
	var before string
	if err := queryOne(t.Query, emailKeySQL, []any{c.Owner}, &before); err != nil {
		return err
	}
	key := account.EmailKey(c.Email)
	if key == before {
		return nil
	}
	spaces := []string{c.Owner}
	if err := t.Query(ownMembershipsSQL, func(r db.Row) error {
		var space, role string
		err := r.Scan(&space, &role)
		spaces = append(spaces, space)
		return err
	}, c.Owner); err != nil {
		return err
	}
	for _, space := range spaces {
		if _, err := t.Exec(moveRecipientsSQL, space, before, key, c.Email, toMillis(c.VerifiedAt)); err != nil {
			return err
		}
		if _, err := t.Exec(dropRecipientsSQL, space, before); err != nil {
			return err
		}
	}
	return nil
}

// PasswordChange is a new password, and what stays valid. By default, everything that
// someone with the old password could use is revoked.
type PasswordChange struct {
	Owner       string
	Hash        string
	KeepSession string // this session stays signed in; empty: none
	KeepDevice  string // this device stays known; empty: none
	KeepGrants  bool   // applications stay connected, personal tokens stay valid
	Mails       []Mail
}

// SetPassword changes the password and ends sessions, known devices, grants and personal
// tokens according to the change.
func (s *Store) SetPassword(ctx context.Context, c PasswordChange, now time.Time) (err error) {
	defer wrap(&err, "set password")
	err = s.write(ctx, c.Owner, func(t db.Tx) error { return setPassword(ctx, t, c, now) })
	if err == nil {
		s.pauseElsewhere(ctx, c.Owner, now)
	}
	s.mailsAdded()
	return err
}

func setPassword(ctx context.Context, t db.Tx, c PasswordChange, now time.Time) error {
	if err := checkAffected(t.Exec(setPasswordSQL, c.Owner, c.Hash)); err != nil {
		return err
	}
	if err := addMails(t, c.Owner, c.Mails...); err != nil {
		return err
	}
	// Reset links were issued for the old password.
	if _, err := t.Exec(dropLinksSQL, c.Owner, resetLink); err != nil {
		return err
	}
	if err := endSessions(t, c.Owner, c.KeepSession, c.KeepDevice); err != nil || c.KeepGrants {
		return err
	}
	if _, err := endGrants(ctx, t, endGrantsSQL, c.Owner, toMillis(now)); err != nil {
		return err
	}
	if err := revokePersonalTokens(ctx, t, c.Owner, now); err != nil {
		return err
	}
	return endGrantWebhooks(t, c.Owner, now)
}

// SetUserDisabled disables or enables a user with all tokens.
func (s *Store) SetUserDisabled(ctx context.Context, owner string, disabled bool, now time.Time) (err error) {
	defer wrap(&err, "disable user")
	return s.write(ctx, owner, func(t db.Tx) error {
		var since int64
		if disabled {
			since = toMillis(now)
			if err := endSessions(t, owner, "", ""); err != nil {
				return err
			}
		}
		return checkAffected(t.Exec(setDisabledSQL, owner, since))
	})
}
