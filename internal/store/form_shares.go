package store

import (
	"context"
	"time"

	"formulary/internal/account"
	"formulary/internal/db"
	"formulary/internal/fault"
)

// MaxShares limits with how many people one form can be shared.
const MaxShares = 200

const (
	formSharesSQL = `SELECT f.person_id, a.email, a.name, f.role, f.added_at FROM form_share f JOIN account a ON a.id = f.person_id
		WHERE f.account_id = $1 AND f.form_id = $2 ORDER BY a.name, a.email`
	countSharesSQL = `SELECT COUNT(*) FROM form_share WHERE account_id = $1 AND form_id = $2`
	putShareSQL    = `INSERT INTO form_share (account_id, form_id, person_id, role, added_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (account_id, form_id, person_id) DO UPDATE SET role = excluded.role`
	putSharedFormSQL = `INSERT INTO membership_form (account_id, space_id, form_id, role) VALUES ($1, $2, $3, $4)
		ON CONFLICT (account_id, space_id, form_id) DO UPDATE SET role = excluded.role`
	putGuestSQL = `INSERT INTO membership (account_id, space_id, role) VALUES ($1, $2, '` + string(account.Guest) + `')
		ON CONFLICT (account_id, space_id) DO NOTHING`
	dropShareSQL       = `DELETE FROM form_share WHERE account_id = $1 AND form_id = $2 AND person_id = $3`
	dropSharedFormSQL  = `DELETE FROM membership_form WHERE account_id = $1 AND space_id = $2 AND form_id = $3`
	dropSharesSQL      = `DELETE FROM form_share WHERE account_id = $1 AND person_id = $2`
	dropSharedFormsSQL = `DELETE FROM membership_form WHERE account_id = $1 AND space_id = $2`
	countSharedSQL     = `SELECT COUNT(*) FROM membership_form WHERE account_id = $1 AND space_id = $2`
	pauseSharedSQL     = `UPDATE webhook SET status = 'paused', updated_at = $4 WHERE account_id = $1 AND form_id = $2 AND person_id = $3 AND status = 'active'`
	dropFormLayoutSQL  = `DELETE FROM response_layout WHERE account_id = $1 AND form_id = $2 AND user_id = $3`
	peopleOfFormSQL    = `SELECT person_id FROM form_share WHERE account_id = $1 AND form_id = $2`
)

// dropShares removes the forms of a space that are shared with a person.
func dropShares(t db.Tx, space, person string) error {
	if _, err := t.Exec(dropSharesSQL, space, person); err != nil {
		return err
	}
	_, err := t.Exec(dropSharedFormsSQL, person, space)
	return err
}

// FormShares lists the people with whom a form is shared.
func (s *Store) FormShares(ctx context.Context, owner, formID string) (_ []Member, err error) {
	defer wrap(&err, "list shares of form")
	var list []Member
	err = s.db.Query(ctx, formSharesSQL, func(r db.Row) error {
		m, err := scanMember(r)
		list = append(list, m)
		return err
	}, owner, formID)
	return list, err
}

// ShareForm shares one form with a person, or changes the person's role for it.
func (s *Store) ShareForm(ctx context.Context, owner, formID, person string, role account.Role, now time.Time) error {
	return Manager{store: s}.ShareForm(ctx, FormShare{owner, formID, person, role}, now)
}

// ShareForm is Store.ShareForm.
func (m Manager) ShareForm(ctx context.Context, share FormShare, now time.Time) (err error) {
	defer wrap(&err, "share form")
	return m.store.writeMembers(ctx, share.Owner, share.Person, func(t db.Tx) error {
		if err := m.hold(t, share.Owner); err != nil {
			return err
		}
		if err := shareForm(t, share, now); err != nil {
			return err
		}
		return recordShare(ctx, t, share, AuditFormShared)
	})
}

// FormShare is a form that is shared with a person.
type FormShare struct {
	Owner, FormID, Person string
	Role                  account.Role
}

func shareForm(t db.Tx, f FormShare, now time.Time) error {
	if f.Person == f.Owner {
		return fault.New(fault.Conflict, "This form is in that person’s own space already.")
	}
	// The space's row is locked first, as wherever members change.
	if err := checkAffected(t.Exec(holdAccountSQL, f.Owner)); err != nil {
		return err
	}
	if _, err := readForm(t.Query, f.Owner, f.FormID); err != nil {
		return err
	}
	var role string
	if err := queryOne(t.Query, memberRoleSQL, []any{f.Owner, f.Person}, &role); err == nil {
		return fault.New(fault.Conflict, "That person is a member of this space already.")
	} else if !isMissing(err) {
		return err
	}
	var n int64
	if err := queryOne(t.Query, countSharesSQL, []any{f.Owner, f.FormID}, &n); err != nil {
		return err
	}
	if n >= MaxShares {
		return fault.New(fault.QuotaReached, "A form can be shared with %d people. Invite them to the space instead.", MaxShares)
	}
	if err := checkAffected(t.Exec(holdAccountSQL, f.Person)); err != nil {
		return err
	}
	if err := checkSpaces(t, f.Person, account.Guest); err != nil {
		return err
	}
	if _, err := t.Exec(putGuestSQL, f.Person, f.Owner); err != nil {
		return err
	}
	if _, err := t.Exec(putShareSQL, f.Owner, f.FormID, f.Person, string(f.Role), toMillis(now)); err != nil {
		return err
	}
	if _, err := t.Exec(putSharedFormSQL, f.Person, f.Owner, f.FormID, string(f.Role)); err != nil || f.Role.Allows(account.WebhooksWrite) {
		return err
	}
	_, err := t.Exec(pauseSharedSQL, f.Owner, f.FormID, f.Person, toMillis(now))
	return err
}

// EndShare stops sharing a form with a person. After the last one, the person is no guest of the
// space any more.
func (s *Store) EndShare(ctx context.Context, owner, formID, person string, now time.Time) error {
	return Manager{store: s}.EndShare(ctx, owner, formID, person, now)
}

// EndShare is Store.EndShare.
func (m Manager) EndShare(ctx context.Context, owner, formID, person string, now time.Time) (err error) {
	defer wrap(&err, "end share of form")
	return m.store.writeMembers(ctx, owner, person, func(t db.Tx) error {
		if err := m.hold(t, owner); err != nil {
			return err
		}
		if err := checkAffected(t.Exec(dropShareSQL, owner, formID, person)); err != nil {
			return err
		}
		if err := endSharedForm(t, owner, formID, person, now); err != nil {
			return err
		}
		return recordShare(ctx, t, FormShare{Owner: owner, FormID: formID, Person: person}, AuditFormUnshared)
	})
}

// EndShares stops sharing all forms of a space with a person who is no member of it.
func (s *Store) EndShares(ctx context.Context, owner, person string, now time.Time) (err error) {
	defer wrap(&err, "end shares with person")
	return s.writeMembers(ctx, owner, person, func(t db.Tx) error {
		if err := checkAffected(t.Exec(holdAccountSQL, owner)); err != nil {
			return err
		}
		var role string
		if err := queryOne(t.Query, memberRoleSQL, []any{owner, person}, &role); err == nil {
			return fault.NotFound
		} else if !isMissing(err) {
			return err
		}
		// The person may have left meanwhile.
		if err := queryOne(t.Query, accessSQL, []any{person, owner}, &role); err != nil {
			return err
		}
		if err := recordPerson(ctx, t, owner, person, AuditMemberLeft, details{"role": role}); err != nil {
			return err
		}
		return endMembership(t, owner, person, now)
	})
}

func endSharedForm(t db.Tx, owner, formID, person string, now time.Time) error {
	if _, err := t.Exec(dropSharedFormSQL, person, owner, formID); err != nil {
		return err
	}
	if _, err := t.Exec(pauseSharedSQL, owner, formID, person, toMillis(now)); err != nil {
		return err
	}
	if _, err := t.Exec(dropFormLayoutSQL, owner, formID, person); err != nil {
		return err
	}
	var email string
	if err := queryOne(t.Query, emailKeySQL, []any{person}, &email); replaceNotFound(err, nil) != nil {
		return err
	}
	if _, err := t.Exec(dropRecipientSQL, owner, formID, email); err != nil {
		return err
	}
	var left int64
	if err := queryOne(t.Query, countSharedSQL, []any{person, owner}, &left); err != nil || left > 0 {
		return err
	}
	return endMembership(t, owner, person, now)
}

// endShares stops sharing a form that is being deleted, and returns the people it was shared with.
func endShares(t db.Tx, owner, formID string, now time.Time) (people []string, err error) {
	if err := t.Query(peopleOfFormSQL, func(r db.Row) error {
		var person string
		err := r.Scan(&person)
		people = append(people, person)
		return err
	}, owner, formID); err != nil {
		return nil, err
	}
	for _, person := range people {
		if _, err := t.Exec(dropShareSQL, owner, formID, person); err != nil {
			return nil, err
		}
		if err := endSharedForm(t, owner, formID, person, now); err != nil {
			return nil, err
		}
	}
	return people, nil
}
