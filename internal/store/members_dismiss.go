package store

import (
	"context"
	"time"

	"formulary/internal/account"
	"formulary/internal/db"
)

// dismissMembers removes the guests and the members of a space that is being deleted, except one
// owner, who can complete the deletion if it is interrupted.
func (m Manager) dismissMembers(ctx context.Context, space string, now time.Time) error {
	first := true
	for _, sql := range []string{someGuestsSQL, someMembersSQL} {
		for n := memberBatch; n == memberBatch; {
			var err error
			if n, err = m.store.dismissSome(ctx, space, sql, now, func(t db.Tx) error { return m.checkDeletion(t, space, first) }); err != nil {
				return err
			}
			first = false
		}
	}
	return nil
}

// dismissSome removes at most memberBatch guests or members, so that no other writer waits long.
func (s *Store) dismissSome(ctx context.Context, space, sql string, now time.Time, check func(db.Tx) error) (int, error) {
	var people []string
	err := s.write(ctx, space, func(t db.Tx) error {
		people = nil
		if err := check(t); err != nil {
			return err
		}
		if err := t.Query(sql, func(r db.Row) error {
			var person string
			err := r.Scan(&person)
			people = append(people, person)
			return err
		}, space, memberBatch); err != nil {
			return err
		}
		for _, person := range people {
			if err := endMembership(t, space, person, now); err != nil {
				return err
			}
		}
		return nil
	})
	for _, person := range people {
		s.db.Invalidate(person)
	}
	return len(people), err
}

// dismissGuests removes the guests of a person who is being deleted, if there are too many for one
// transaction. Nothing happens if the person cannot be deleted.
func (s *Store) dismissGuests(ctx context.Context, person string, now time.Time) error {
	var guests int64
	err := s.db.Read(ctx, func(t db.Tx) error {
		if err := queryOne(t.Query, countGuestsSQL, []any{person}, &guests); err != nil || guests <= memberBatch {
			return err
		}
		if err := checkNoMoves(t, person); err != nil {
			return err
		}
		return checkLastOwner(t, person)
	})
	for ; err == nil && guests > memberBatch; guests -= memberBatch {
		_, err = s.dismissSome(ctx, person, someGuestsSQL, now, func(t db.Tx) error { return checkAffected(t.Exec(holdAccountSQL, person)) })
	}
	return err
}

// checkLastOwner returns an error if a person is the last owner of a space.
func checkLastOwner(t db.Tx, person string) error {
	var owned []string
	if err := t.Query(ownMembershipsSQL, func(r db.Row) error {
		var space, role string
		err := r.Scan(&space, &role)
		if role == string(account.Owner) {
			owned = append(owned, space)
		}
		return err
	}, person); err != nil {
		return err
	}
	for _, space := range owned {
		if err := checkOtherOwner(t, space); err != nil {
			return err
		}
	}
	return nil
}

// checkDeletion locks a space and, before anything is deleted, returns an error if it cannot be.
func (m Manager) checkDeletion(t db.Tx, space string, first bool) error {
	if err := holdSpace(t, space); err != nil || !first {
		return err
	}
	if err := m.check(t, space); err != nil {
		return err
	}
	return checkNoMoves(t, space)
}

// dismissAll removes all members and guests of an account that is being deleted, and returns them.
func dismissAll(t db.Tx, space string, now time.Time) (people []string, err error) {
	for _, sql := range []string{membersOfSQL, guestsOfSQL} {
		if err := t.Query(sql, func(r db.Row) error {
			var person string
			err := r.Scan(&person)
			people = append(people, person)
			return err
		}, space); err != nil {
			return nil, err
		}
	}
	for _, person := range people {
		if err := endMembership(t, space, person, now); err != nil {
			return nil, err
		}
	}
	return people, nil
}
