package store

import (
	"context"
	"time"

	"formulary/internal/account"
	"formulary/internal/db"
	"formulary/internal/fault"
)

// Member is a person in a space.
type Member struct {
	PersonID string
	Email    string
	Name     string
	Role     account.Role
	AddedAt  time.Time
}

// DisplayName returns the name or, if there is none, the email address.
func (m Member) DisplayName() string {
	return account.User{Name: m.Name, Email: m.Email}.DisplayName()
}

const (
	membersSQL = `SELECT m.person_id, a.email, a.name, m.role, m.added_at FROM space_member m JOIN account a ON a.id = m.person_id
		WHERE m.account_id = $1 ORDER BY a.name, a.email LIMIT $2 OFFSET $3`
	countMembersSQL = `SELECT COUNT(*) FROM space_member WHERE account_id = $1`
	memberRoleSQL   = `SELECT role FROM space_member WHERE account_id = $1 AND person_id = $2`
	countOwnersSQL  = `SELECT COUNT(*) FROM space_member WHERE account_id = $1 AND role = 'owner'`

	putMemberSQL = `INSERT INTO space_member (account_id, person_id, role, added_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (account_id, person_id) DO UPDATE SET role = excluded.role`
	putMembershipSQL = `INSERT INTO membership (account_id, space_id, role) VALUES ($1, $2, $3)
		ON CONFLICT (account_id, space_id) DO UPDATE SET role = excluded.role`
	dropMemberSQL     = `DELETE FROM space_member WHERE account_id = $1 AND person_id = $2`
	dropMembershipSQL = `DELETE FROM membership WHERE account_id = $1 AND space_id = $2`

	endSpaceGrantsSQL = `UPDATE consent SET ended_at = $3 WHERE account_id = $1 AND space_id = $2 AND ended_at <= 0`
	pausePersonsSQL   = `UPDATE webhook SET status = 'paused', updated_at = $3 WHERE account_id = $1 AND person_id = $2 AND status = 'active'`
	dropLayoutsSQL    = `DELETE FROM response_layout WHERE account_id = $1 AND user_id = $2`
	ownMembershipsSQL = `SELECT space_id, role FROM membership WHERE account_id = $1`
	membersOfSQL      = `SELECT person_id FROM space_member WHERE account_id = $1`
	guestsOfSQL       = `SELECT DISTINCT person_id FROM form_share WHERE account_id = $1`
	countGuestsSQL    = `SELECT COUNT(DISTINCT person_id) FROM form_share WHERE account_id = $1`
	someGuestsSQL     = `SELECT DISTINCT person_id FROM form_share WHERE account_id = $1 LIMIT $2`
	someMembersSQL    = `SELECT person_id FROM space_member WHERE account_id = $1
		AND person_id <> (SELECT MIN(person_id) FROM space_member WHERE account_id = $1 AND role = 'owner') LIMIT $2`
	lastOwnedSpacesSQL = `SELECT a.id, a.name FROM membership m JOIN account a ON a.id = m.space_id
		WHERE m.account_id = $1 AND m.role = 'owner' ORDER BY a.name, a.id`
)

// memberBatch is how many members one transaction removes.
const memberBatch = 50

// writeMembers runs a transaction on a space and a person in it. Membership is stored with both,
// which makes it the one exception from the rule that a transaction is of one account.
func (s *Store) writeMembers(ctx context.Context, space, person string, fn func(db.Tx) error) error {
	defer s.db.Invalidate(person)
	return s.write(ctx, space, fn)
}

func insertMember(t db.Tx, space, person string, role account.Role, now time.Time) error {
	if _, err := t.Exec(putMemberSQL, space, person, string(role), toMillis(now)); err != nil {
		return err
	}
	_, err := t.Exec(putMembershipSQL, person, space, string(role))
	return err
}

func scanMember(r db.Row) (Member, error) {
	var m Member
	var role string
	var added int64
	err := r.Scan(&m.PersonID, &m.Email, &m.Name, &role, &added)
	m.Role, m.AddedAt = account.Role(role), fromMillis(added)
	return m, err
}

// Members returns a page of the members of a shared space and their number.
func (s *Store) Members(ctx context.Context, space string, page Page) (_ []Member, total int64, err error) {
	defer wrap(&err, "list members")
	var list []Member
	err = s.db.QueryBatch(ctx, db.Statement{SQL: countMembersSQL, Args: []any{space}, Scan: func(r db.Row) error { return r.Scan(&total) }},
		db.Statement{SQL: membersSQL, Args: []any{space, page.Limit, page.Offset}, Scan: func(r db.Row) error {
			m, err := scanMember(r)
			list = append(list, m)
			return err
		}})
	return list, total, err
}

// SetMember adds a person to a shared space, or changes the role of a member. Forms that were
// shared with the person before need no share any more.
func (s *Store) SetMember(ctx context.Context, space, person string, role account.Role, now time.Time) error {
	return Manager{store: s}.SetMember(ctx, space, person, role, now)
}

// SetMember is Store.SetMember. An owner only changes roles: invitations add people.
func (m Manager) SetMember(ctx context.Context, space, person string, role account.Role, now time.Time) (err error) {
	defer wrap(&err, "set member")
	return m.store.writeMembers(ctx, space, person, func(t db.Tx) error {
		if err := holdSpace(t, space); err != nil {
			return err
		}
		if err := m.check(t, space); err != nil {
			return err
		}
		if m.owner != "" {
			var before string
			if err := queryOne(t.Query, memberRoleSQL, []any{space, person}, &before); err != nil {
				return err
			}
		}
		return recordMember(ctx, t, space, person, func() error { return setMember(t, space, person, role, now) })
	})
}

func setMember(t db.Tx, space, person string, role account.Role, now time.Time) error {
	if err := holdSpace(t, space); err != nil {
		return err
	}
	if person == space { // as an owner of itself, it would need no other one
		return fault.NotFound
	}
	var before string
	err := queryOne(t.Query, memberRoleSQL, []any{space, person}, &before)
	switch {
	case err == nil && before == string(role):
		return nil
	case err == nil && before == string(account.Owner):
		if err = checkOtherOwner(t, space); err == nil {
			_, err = t.Exec(dropInvitationsBySQL, space, person)
		}
	case isMissing(err):
		err = addMember(t, space, person, role)
	}
	if err != nil {
		return err
	}
	if err := insertMember(t, space, person, role, now); err != nil || role.Allows(account.WebhooksWrite) {
		return err
	}
	_, err = t.Exec(pausePersonsSQL, space, person, toMillis(now))
	return err
}

// addMember prepares a space and a person for a new membership.
func addMember(t db.Tx, space, person string, role account.Role) error {
	var n int64
	if err := queryOne(t.Query, countMembersSQL, []any{space}, &n); err != nil {
		return err
	}
	if n >= MaxMembers {
		return fault.New(fault.QuotaReached, "A space can have %d members.", MaxMembers)
	}
	if err := checkAffected(t.Exec(holdAccountSQL, person)); err != nil {
		return err
	}
	if err := checkSpaces(t, person, role); err != nil {
		return err
	}
	return dropShares(t, space, person)
}

// holdSpace locks a shared space, so that changes of its members follow one another.
func holdSpace(t db.Tx, space string) error {
	found, err := Space{}, error(fault.NotFound)
	if e := t.Query(spaceSQL, func(r db.Row) error {
		found, err = scanSpace(r)
		return err
	}, space); e != nil || err != nil {
		return errorOf(e, err)
	}
	if !found.Shared {
		return fault.NotFound
	}
	return checkAffected(t.Exec(holdAccountSQL, space))
}

func errorOf(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// checkOtherOwner returns an error if a space has one owner only, who is about to stop being one.
func checkOtherOwner(t db.Tx, space string) error {
	var owners int64
	if err := queryOne(t.Query, countOwnersSQL, []any{space}, &owners); err != nil {
		return err
	}
	if owners <= 1 {
		return lastOwner(t, space)
	}
	return nil
}

// lastOwner returns the error that names the space which would have no owner.
func lastOwner(t db.Tx, space string) error {
	var key, name, email, role string
	var created int64
	if err := queryOne(t.Query, spaceSQL, []any{space}, &key, &name, &email, &role, &created); err != nil {
		return err
	}
	return fault.New(fault.Conflict, "The space “%s” would have no owner. Make somebody else an owner of it first, or delete the space.", name)
}

// RemoveMember removes a person from a shared space: their access, the grants that they gave for
// it and the webhooks of these, and the notifications that they get.
func (s *Store) RemoveMember(ctx context.Context, space, person string, now time.Time) error {
	return Manager{store: s}.RemoveMember(ctx, space, person, now)
}

// RemoveMember is Store.RemoveMember.
func (m Manager) RemoveMember(ctx context.Context, space, person string, now time.Time) (err error) {
	defer wrap(&err, "remove member")
	return m.store.writeMembers(ctx, space, person, func(t db.Tx) error {
		if err := holdSpace(t, space); err != nil {
			return err
		}
		if err := m.check(t, space); err != nil {
			return err
		}
		var role string
		if err := queryOne(t.Query, memberRoleSQL, []any{space, person}, &role); err != nil {
			return err
		}
		if role == string(account.Owner) {
			if err := checkOtherOwner(t, space); err != nil {
				return err
			}
		}
		return recordMember(ctx, t, space, person, func() error { return endMembership(t, space, person, now) })
	})
}

// endMembership removes everything that a person has in a space.
func endMembership(t db.Tx, space, person string, now time.Time) error {
	for _, sql := range []string{dropMemberSQL, dropLayoutsSQL, dropInvitationsBySQL} {
		if _, err := t.Exec(sql, space, person); err != nil {
			return err
		}
	}
	if _, err := t.Exec(dropMembershipSQL, person, space); err != nil {
		return err
	}
	if err := dropShares(t, space, person); err != nil {
		return err
	}
	if _, err := t.Exec(endSpaceGrantsSQL, person, space, toMillis(now)); err != nil {
		return err
	}
	if _, err := t.Exec(pausePersonsSQL, space, person, toMillis(now)); err != nil {
		return err
	}
	var email string
	if err := queryOne(t.Query, emailKeySQL, []any{person}, &email); err != nil {
		return replaceNotFound(err, nil)
	}
	_, err := t.Exec(dropRecipientsSQL, space, email)
	return err
}

// leaveAllSpaces removes a person who is being deleted from all spaces of others, and returns
// these.
func leaveAllSpaces(t db.Tx, person string, now time.Time) (spaces []string, err error) {
	roles := map[string]string{}
	if err := t.Query(ownMembershipsSQL, func(r db.Row) error {
		var space, role string
		err := r.Scan(&space, &role)
		spaces = append(spaces, space)
		roles[space] = role
		return err
	}, person); err != nil {
		return nil, err
	}
	for _, space := range spaces {
		if _, err := t.Exec(holdAccountSQL, space); err != nil {
			return nil, err
		}
		if roles[space] == string(account.Owner) {
			if err := checkOtherOwner(t, space); err != nil {
				return nil, err
			}
		}
		if err := endMembership(t, space, person, now); err != nil {
			return nil, err
		}
	}
	return spaces, nil
}
