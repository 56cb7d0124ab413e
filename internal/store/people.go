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
		return fault.Field("email", "there is already an account with this e-mail address")
	}
	return err
}

const (
	setProfileSQL   = `UPDATE account SET name = $2, language = $3, time_zone = $4 WHERE id = $1`
	setEmailSQL     = `UPDATE account SET email = $2, email_key = $3 WHERE id = $1`
	setPasswordSQL  = `UPDATE account SET password = $2 WHERE id = $1`
	setDisabledSQL  = `UPDATE account SET disabled_at = $2 WHERE id = $1`
	endSessionsSQL  = `DELETE FROM session WHERE account_id = $1 AND id <> $2`
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

// SetPassword changes the password and signs the person out everywhere but in
// the session that is kept (which may be empty).
func (s *Store) SetPassword(ctx context.Context, owner, hash, keepSession string) error {
	return s.write(ctx, owner, func(t tx) error { return setPassword(t, owner, hash, keepSession) })
}

func setPassword(t tx, owner, hash, keepSession string) error {
	if err := changed(t.Exec(setPasswordSQL, owner, hash)); err != nil {
		return err
	}
	// A link to a new password was for the old one.
	if _, err := t.Exec(dropLinksSQL, owner, resetLink); err != nil {
		return err
	}
	_, err := t.Exec(endSessionsSQL, owner, keepSession)
	return err
}

// SetPersonDisabled locks a person out, with their tokens, or lets them in.
func (s *Store) SetPersonDisabled(ctx context.Context, owner string, disabled bool, now time.Time) error {
	return s.write(ctx, owner, func(t tx) error {
		var since int64
		if disabled {
			since = ms(now)
			if _, err := t.Exec(endSessionsSQL, owner, ""); err != nil {
				return err
			}
		}
		return changed(t.Exec(setDisabledSQL, owner, since))
	})
}

// ownedSQL removes what a deleted account owned. Access tokens stay until they
// are swept, so that their bearers learn that the user is gone (401006); those
// that were revoked before stay unknown (401001).
var ownedSQL = []string{
	// First, since who stores or publishes has the form's row meanwhile: what follows
	// finds what they leave.
	`DELETE FROM form WHERE account_id = $1`,
	`DELETE FROM access_token WHERE account_id = $1
		AND consent_id IN (SELECT id FROM consent WHERE account_id = $1 AND ended_at > 0)`,
	`DELETE FROM session WHERE account_id = $1`,
	`DELETE FROM link WHERE account_id = $1`,
	`DELETE FROM ticket WHERE account_id = $1`,
	`DELETE FROM code WHERE account_id = $1`,
	`DELETE FROM refresh_token WHERE account_id = $1`,
	`DELETE FROM consent WHERE account_id = $1`,
	`DELETE FROM app_secret WHERE account_id = $1`,
	`DELETE FROM app WHERE account_id = $1`,
	`DELETE FROM idempotency WHERE account_id = $1`,
	`DELETE FROM form_address WHERE account_id = $1`,
	`DELETE FROM response WHERE account_id = $1`,
	`DELETE FROM form_summary WHERE account_id = $1`,
	`DELETE FROM trash WHERE account_id = $1`,
	`DELETE FROM app_call WHERE account_id = $1`,
	`DELETE FROM option_count WHERE account_id = $1`,
	`DELETE FROM form_version WHERE account_id = $1`,
	`DELETE FROM form_draft WHERE account_id = $1`,
	`DELETE FROM form_count WHERE account_id = $1`,
	`DELETE FROM list_block WHERE account_id = $1`,
}

// DeletePerson removes an account and everything that it owns.
func (s *Store) DeletePerson(ctx context.Context, owner string) error {
	// Their applications act for others, too.
	return s.write(ctx, everybody, func(t tx) error {
		if err := changed(t.Exec(deletePersonSQL, owner)); err != nil {
			return err
		}
		for _, sql := range ownedSQL {
			if _, err := t.Exec(sql, owner); err != nil {
				return err
			}
		}
		return nil
	})
}
