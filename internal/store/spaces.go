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

// Space is what an account owns: that of a person, or one that several people share. Both are
// rows of the table account, so forms and everything below them know no difference.
type Space struct {
	Key       string // ID of the account
	Name      string // of a person's own space, their name
	Shared    bool
	Role      account.Role // of the person who asked
	CreatedAt time.Time
}

// ID returns the ID under which the space is known.
func (s Space) ID() string { return account.SpaceID(s.Key) }

// Limits of spaces and members.
const (
	MaxOwnedSpaces = 50    // shared spaces that a person can own; each may store as much as a person
	MaxSpaces      = 500   // spaces that a person can be in
	MaxMembers     = 2_000 // of a space
)

const (
	insertSpaceSQL = `INSERT INTO account (id, email, email_key, name, language, role, password, created_at, time_zone, email_verified_at)
		VALUES ($1, '', $1, $2, $3, '` + account.RoleSpace + `', '', $4, $5, $4)`
	renameSpaceSQL = `UPDATE account SET name = $2 WHERE id = $1 AND role = '` + account.RoleSpace + `'`
	spaceSQL       = `SELECT id, name, email, role, created_at FROM account WHERE id = $1`
	allSpacesSQL   = `SELECT id, name, email, role, created_at FROM account WHERE role = '` + account.RoleSpace + `' ORDER BY id`
	// The table account is on every machine of a distributed database.
	spacesSQL = `SELECT a.id, a.name, a.email, a.role, a.created_at, m.role FROM membership m JOIN account a ON a.id = m.space_id
		WHERE m.account_id = $1 ORDER BY a.name, a.id`
	accessSQL      = `SELECT role FROM membership WHERE account_id = $1 AND space_id = $2`
	sharedFormsSQL = `SELECT form_id, role FROM membership_form WHERE account_id = $1 AND space_id = $2`
	countSpacesSQL = `SELECT COUNT(*), COUNT(CASE WHEN role = 'owner' THEN 1 END) FROM membership WHERE account_id = $1`
)

func scanSpace(r db.Row, more ...any) (Space, error) {
	var s Space
	var email, role string
	var created int64
	err := r.Scan(append([]any{&s.Key, &s.Name, &email, &role, &created}, more...)...)
	s.Shared, s.CreatedAt = role == account.RoleSpace, fromMillis(created)
	if s.Name == "" {
		s.Name = email
	}
	return s, err
}

// AddSpace creates a shared space with its first owner.
func (s *Store) AddSpace(ctx context.Context, space Space, person account.User, now time.Time) (err error) {
	defer wrap(&err, "add space")
	return s.writeMembers(ctx, space.Key, person.ID, func(t db.Tx) error {
		if err := checkAffected(t.Exec(holdAccountSQL, person.ID)); err != nil {
			return err
		}
		if err := checkSpaces(t, person.ID, account.Owner); err != nil {
			return err
		}
		if _, err := t.Exec(insertSpaceSQL, space.Key, space.Name, person.Language, toMillis(now), person.TimeZone); err != nil {
			return err
		}
		if err := insertMember(t, space.Key, person.ID, account.Owner, now); err != nil {
			return err
		}
		return recordAudit(ctx, t, space.Key, AuditEntry{Action: AuditSpaceCreated, ObjectID: space.ID(), ObjectName: space.Name})
	})
}

// checkSpaces returns an error if a person is in too many spaces to get another one.
func checkSpaces(t db.Tx, person string, role account.Role) error {
	var all, owned int64
	if err := queryOne(t.Query, countSpacesSQL, []any{person}, &all, &owned); err != nil {
		return err
	}
	switch {
	case role == account.Owner && owned >= MaxOwnedSpaces:
		return fault.New(fault.QuotaReached, "One person can own %d shared spaces. Leave or delete one first.", MaxOwnedSpaces)
	case all >= MaxSpaces:
		return fault.New(fault.QuotaReached, "One person can be in %d spaces. Leave one first.", MaxSpaces)
	}
	return nil
}

// RenameSpace changes the name of a shared space.
func (s *Store) RenameSpace(ctx context.Context, space, name string) error {
	return Manager{store: s}.RenameSpace(ctx, space, name)
}

// RenameSpace is Store.RenameSpace.
func (m Manager) RenameSpace(ctx context.Context, space, name string) (err error) {
	defer wrap(&err, "rename space")
	return m.store.write(ctx, space, func(t db.Tx) error {
		if err := holdSpace(t, space); err != nil {
			return err
		}
		if err := m.check(t, space); err != nil {
			return err
		}
		before, err := personName(t, space)
		if err != nil {
			return err
		}
		if err := checkAffected(t.Exec(renameSpaceSQL, space, name)); err != nil || before == name {
			return err
		}
		return recordAudit(ctx, t, space, AuditEntry{Action: AuditSpaceRenamed, ObjectID: account.SpaceID(space), ObjectName: name, Details: details{"before": before}})
	})
}

// Space returns a space by the ID of its account.
func (s *Store) Space(ctx context.Context, key string) (_ Space, err error) {
	defer wrap(&err, "read space")
	space, err := Space{}, error(fault.NotFound)
	if e := s.db.Query(ctx, spaceSQL, func(r db.Row) error {
		space, err = scanSpace(r)
		return err
	}, key); e != nil {
		return space, e
	}
	return space, err
}

// AllSpaces lists the shared spaces, oldest first.
func (s *Store) AllSpaces(ctx context.Context) (_ []Space, err error) {
	defer wrap(&err, "list all spaces")
	var list []Space
	err = s.db.Query(ctx, allSpacesSQL, func(r db.Row) error {
		space, err := scanSpace(r)
		list = append(list, space)
		return err
	})
	return list, err
}

// Spaces lists the spaces of others that a person can use, by name.
func (s *Store) Spaces(ctx context.Context, person string) (_ []Space, err error) {
	defer wrap(&err, "list spaces")
	var list []Space
	err = s.db.Query(ctx, spacesSQL, func(r db.Row) error {
		var role string
		space, err := scanSpace(r, &role)
		space.Role = account.Role(role)
		list = append(list, space)
		return err
	}, person)
	return list, err
}

// Access returns what a person may do in a space. A space that they are not in is fault.NotFound.
func (s *Store) Access(ctx context.Context, person, space string) (_ account.Access, err error) {
	defer wrap(&err, "read access to space")
	return readAccess(s.query(ctx), person, space)
}

func readAccess(q querier, person, space string) (account.Access, error) {
	if space == person || space == "" {
		return account.OwnSpace(person), nil
	}
	access := account.Access{Space: space}
	var role string
	if err := queryOne(q, accessSQL, []any{person, space}, &role); err != nil {
		return access, err
	}
	access.Role = account.Role(role)
	if access.Role != account.Guest {
		return access, nil
	}
	forms := map[string]account.Role{}
	err := q(sharedFormsSQL, func(r db.Row) error {
		var formID, role string
		err := r.Scan(&formID, &role)
		forms[formID] = account.Role(role)
		return err
	}, person, space)
	return access.WithForms(forms), err
}

// SpaceOfForm returns the account whose space contains a form. It says nothing about who may use
// the form.
func (s *Store) SpaceOfForm(ctx context.Context, formID string) (_ string, err error) {
	defer wrap(&err, "find space of form")
	if _, ok := id.Parse(id.Form, formID); !ok {
		return "", fault.NotFound
	}
	var owner string
	err = queryOne(s.query(ctx), ownerSQL, []any{formID}, &owner)
	return owner, err
}

// DeleteSpace deletes a shared space with everything in it, like DeleteUser.
func (s *Store) DeleteSpace(ctx context.Context, key string, now time.Time) (complete bool, err error) {
	return Manager{store: s}.DeleteSpace(ctx, key, now)
}

// DeleteSpace is Store.DeleteSpace.
func (m Manager) DeleteSpace(ctx context.Context, key string, now time.Time) (complete bool, err error) {
	defer wrap(&err, "delete space")
	space, err := m.store.Space(ctx, key)
	if err != nil {
		return false, err
	}
	if !space.Shared {
		return false, fault.NotFound
	}
	if err := m.dismissMembers(ctx, key, now); err != nil {
		return false, err
	}
	return m.store.DeleteUser(ctx, key, now)
}

// isMissing reports whether err means that something does not exist.
func isMissing(err error) bool { return errors.Is(err, fault.NotFound) }
