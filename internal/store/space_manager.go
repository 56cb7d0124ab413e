package store

import (
	"formulary/internal/account"
	"formulary/internal/db"
)

// Manager changes a space and who may use it. Pages check the role of a user before, but the user
// may be removed meanwhile: the transactions of a manager check it again.
type Manager struct {
	store *Store
	owner string // ID of the person who asks; empty: an administrator
}

// ManagedBy returns the Manager for an owner of spaces.
func (s *Store) ManagedBy(owner string) Manager { return Manager{s, owner} }

// check returns an error if the person who asks has stopped being an owner of the space, whose row
// must be locked.
func (m Manager) check(t db.Tx, space string) error {
	if m.owner == "" {
		return nil
	}
	return checkOwner(t, space, m.owner)
}

// hold locks a space, as wherever members change, and checks that the person is an owner of it.
func (m Manager) hold(t db.Tx, space string) error {
	if err := checkAffected(t.Exec(holdAccountSQL, space)); err != nil {
		return err
	}
	return m.check(t, space)
}

// checkMove returns an error if the person may not move forms from one space to another. Both rows
// must be locked.
func (m Manager) checkMove(t db.Tx, from, to string) error {
	if err := m.check(t, from); err != nil || m.owner == "" || m.owner == to {
		return err
	}
	access, err := readAccess(t.Query, m.owner, to)
	if err != nil {
		return err
	}
	return access.Check(account.FormsWrite, "")
}

// checkOwner returns an error if a person may not manage a space, whose row must be locked.
func checkOwner(t db.Tx, space, person string) error {
	if person == space {
		return nil
	}
	var role string
	if err := queryOne(t.Query, memberRoleSQL, []any{space, person}, &role); err != nil {
		return err
	}
	if !account.Role(role).Allows(account.SpaceManage) {
		return account.ErrMissingRole
	}
	return nil
}
