package store

import (
	"context"
	"errors"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
)

const personColumns = `id, email, name, language, role, password, created_at, disabled_at, time_zone`

func scanPerson(r row) (account.Person, error) {
	var p account.Person
	var created, disabled int64
	err := r.Scan(&p.ID, &p.Email, &p.Name, &p.Language, &p.Role, &p.Password, &created, &disabled, &p.TimeZone)
	p.CreatedAt, p.Disabled = at(created), disabled != 0
	return p, err
}

func onePerson(q querier, sql string, args ...any) (account.Person, error) {
	p, err := account.Person{}, error(fault.NotFound)
	if e := q(sql, func(r row) error {
		p, err = scanPerson(r)
		return err
	}, args...); e != nil {
		return p, e
	}
	return p, err
}

const (
	personSQL        = `SELECT ` + personColumns + ` FROM account WHERE id = $1`
	personByEmailSQL = `SELECT ` + personColumns + ` FROM account WHERE email_key = $1`
	peopleSQL        = `SELECT ` + personColumns + ` FROM account ORDER BY id`
	anybodySQL       = `SELECT COUNT(*) FROM (SELECT 1 FROM account LIMIT 1) AS somebody`
	insertPersonSQL  = `INSERT INTO account (id, email, email_key, name, language, role, password, created_at, time_zone)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`
)

// Person returns an account by its id.
func (s *Store) Person(ctx context.Context, id string) (account.Person, error) {
	return onePerson(s.query(ctx), personSQL, id)
}

// PersonByEmail finds an account by its address, in whatever letter case.
func (s *Store) PersonByEmail(ctx context.Context, email string) (account.Person, error) {
	if !account.CleanLine(email) {
		return account.Person{}, fault.NotFound
	}
	return onePerson(s.query(ctx), personByEmailSQL, account.EmailKey(email))
}

// People lists all accounts, the oldest first.
func (s *Store) People(ctx context.Context) ([]account.Person, error) {
	var people []account.Person
	err := s.db.Query(ctx, peopleSQL, func(r row) error {
		p, err := scanPerson(r)
		people = append(people, p)
		return err
	})
	return people, err
}

// Anybody says whether there is an account at all.
func (s *Store) Anybody(ctx context.Context) (bool, error) {
	return anybody(s.query(ctx))
}

func anybody(q querier) (bool, error) {
	var n int64
	err := one(q, anybodySQL, nil, &n)
	return n > 0, err
}

// AddPerson adds an account; the first one is the operator's.
func (s *Store) AddPerson(ctx context.Context, p account.Person) (account.Person, error) {
	err := s.db.Exclusive(ctx, func(t tx) error { return addPerson(t, &p) })
	return p, err
}

func addPerson(t tx, p *account.Person) error {
	some, err := anybody(t.Query)
	if err != nil {
		return err
	}
	p.Role = account.Member
	if !some {
		p.Role = account.Operator
	}
	_, err = t.Exec(insertPersonSQL, p.ID, p.Email, account.EmailKey(p.Email), p.Name, p.Language, p.Role, p.Password, ms(p.CreatedAt), p.TimeZone)
	return takenEmail(err)
}

func takenEmail(err error) error {
	if errors.Is(err, errUnique) {
		return fault.Field("email", "an account with this email address already exists")
	}
	return err
}

const (
	setProfileSQL   = `UPDATE account SET name = $2, language = $3, time_zone = $4 WHERE id = $1`
	setEmailSQL     = `UPDATE account SET email = $2, email_key = $3 WHERE id = $1`
	setPasswordSQL  = `UPDATE account SET password = $2 WHERE id = $1`
	setDisabledSQL  = `UPDATE account SET disabled_at = $2 WHERE id = $1`
	deletePersonSQL = `DELETE FROM account WHERE id = $1`
)

// SetProfile changes name, language and time zone.
func (s *Store) SetProfile(ctx context.Context, owner, name, language, zone string) error {
	return s.write(ctx, owner, func(t tx) error { return changed(t.Exec(setProfileSQL, owner, name, language, zone)) })
}

// SetEmail changes the address under which the person signs in.
func (s *Store) SetEmail(ctx context.Context, owner, email string) error {
	return s.write(ctx, owner, func(t tx) error {
		n, err := t.Exec(setEmailSQL, owner, email, account.EmailKey(email))
		return changed(n, takenEmail(err))
	})
}

// PasswordChange is a new password and what stays in place beside it. Everything
// that could be in the hands of whoever knew the old password ends by default.
type PasswordChange struct {
	Owner       string
	Hash        string
	KeepSession string // this session stays signed in; empty: none does
	KeepDevice  string // this device stays known; empty: none does
	KeepGrants  bool   // applications stay connected
}

// SetPassword changes the password and ends sessions, known devices and grants as
// the change says.
func (s *Store) SetPassword(ctx context.Context, c PasswordChange, now time.Time) error {
	return s.write(ctx, c.Owner, func(t tx) error { return setPassword(t, c, now) })
}

func setPassword(t tx, c PasswordChange, now time.Time) error {
	if err := changed(t.Exec(setPasswordSQL, c.Owner, c.Hash)); err != nil {
		return err
	}
	// Reset links were made for the old password.
	if _, err := t.Exec(dropLinksSQL, c.Owner, resetLink); err != nil {
		return err
	}
	if err := endSessions(t, c.Owner, c.KeepSession, c.KeepDevice); err != nil || c.KeepGrants {
		return err
	}
	_, err := t.Exec(endConsentsSQL, c.Owner, ms(now))
	return err
}

// SetPersonDisabled locks a person out, with their tokens, or lets them in.
func (s *Store) SetPersonDisabled(ctx context.Context, owner string, disabled bool, now time.Time) error {
	return s.write(ctx, owner, func(t tx) error {
		var since int64
		if disabled {
			since = ms(now)
			if err := endSessions(t, owner, "", ""); err != nil {
				return err
			}
		}
		return changed(t.Exec(setDisabledSQL, owner, since))
	})
}
