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
	userByEmailSQL = `SELECT ` + userColumns + ` FROM account WHERE email_key = $1`
	usersSQL       = `SELECT ` + userColumns + ` FROM account ORDER BY id`
	hasUsersSQL    = `SELECT COUNT(*) FROM (SELECT 1 FROM account LIMIT 1) AS somebody`
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

func takenEmail(err error) error {
	if errors.Is(err, db.ErrUnique) {
		return fault.InvalidField("email", "an account with this email address already exists")
	}
	return err
}

const (
	setProfileSQL  = `UPDATE account SET name = $2, language = $3, time_zone = $4 WHERE id = $1`
	setEmailSQL    = `UPDATE account SET email = $2, email_key = $3 WHERE id = $1`
	setPasswordSQL = `UPDATE account SET password = $2 WHERE id = $1`
	setDisabledSQL = `UPDATE account SET disabled_at = $2 WHERE id = $1`
	deleteUserSQL  = `DELETE FROM account WHERE id = $1`
)

// SetProfile changes name, language and time zone.
func (s *Store) SetProfile(ctx context.Context, owner, name, language, zone string) (err error) {
	defer wrap(&err, "set profile")
	return s.write(ctx, owner, func(t db.Tx) error { return checkAffected(t.Exec(setProfileSQL, owner, name, language, zone)) })
}

// SetEmail changes the email address with which the user signs in.
func (s *Store) SetEmail(ctx context.Context, owner, email string) (err error) {
	defer wrap(&err, "set email")
	return s.write(ctx, owner, func(t db.Tx) error {
		n, err := t.Exec(setEmailSQL, owner, email, account.EmailKey(email))
		return checkAffected(n, takenEmail(err))
	})
}

// PasswordChange is a new password, and what stays valid. By default, everything that
// someone with the old password could use is revoked.
type PasswordChange struct {
	Owner       string
	Hash        string
	KeepSession string // this session stays signed in; empty: none
	KeepDevice  string // this device stays known; empty: none
	KeepGrants  bool   // applications stay connected
}

// SetPassword changes the password and ends sessions, known devices and grants
// according to the change.
func (s *Store) SetPassword(ctx context.Context, c PasswordChange, now time.Time) (err error) {
	defer wrap(&err, "set password")
	return s.write(ctx, c.Owner, func(t db.Tx) error { return setPassword(t, c, now) })
}

func setPassword(t db.Tx, c PasswordChange, now time.Time) error {
	if err := checkAffected(t.Exec(setPasswordSQL, c.Owner, c.Hash)); err != nil {
		return err
	}
	// Reset links were issued for the old password.
	if _, err := t.Exec(dropLinksSQL, c.Owner, resetLink); err != nil {
		return err
	}
	if err := endSessions(t, c.Owner, c.KeepSession, c.KeepDevice); err != nil || c.KeepGrants {
		return err
	}
	if _, err := t.Exec(endGrantsSQL, c.Owner, toMillis(now)); err != nil {
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
