package store

import (
	"context"
	"errors"
	"time"

	"formulary/internal/account"
	"formulary/internal/db"
	"formulary/internal/fault"
)

// storageLevels are how full the storage of an account is, in percent, when its user is told.
var storageLevels = []int64{80, 95}

const (
	// storageSlack is by how many percent the storage must be below a level before the user
	// is told of that level again.
	storageSlack = 5
	// storageWarningPause is the time between two mails to a user.
	storageWarningPause = 24 * time.Hour
)

const (
	// warnedAccountsSQL reads all accounts, for background work.
	warnedAccountsSQL = `SELECT id FROM account WHERE storage_warned > 0`
	warnedSQL         = `SELECT storage_warned, storage_warned_at FROM account WHERE id = $1`
	setWarnedSQL      = `UPDATE account SET storage_warned = $2, storage_warned_at = $3 WHERE id = $1 AND storage_warned = $4`
)

// StorageMail returns the mails that tell a user how full their storage is, in percent.
type StorageMail func(user account.User, percent int64, used Usage) ([]Mail, error)

// WarnStorage tells users whose storage is nearly full, once for each level that they reach and
// at most once a day. It looks at the accounts that this node has stored something for.
func (s *Store) WarnStorage(ctx context.Context, mail StorageMail, now time.Time) (err error) {
	defer wrap(&err, "warn of full storage")
	limit := s.quotas.Bytes
	if limit == 0 {
		return nil
	}
	owners := s.quotas.nearlyFull()
	err = s.db.Query(ctx, warnedAccountsSQL, func(r db.Row) error {
		var owner string
		err := r.Scan(&owner)
		owners[owner] = true
		return err
	})
	if err != nil {
		return err
	}
	for owner := range owners {
		used, err := s.Usage(ctx, owner)
		if err != nil {
			return err
		}
		if err := s.warnAccount(ctx, owner, used, mail, now); err != nil && !errors.Is(err, fault.NotFound) {
			return err
		}
	}
	return nil
}

// nearlyFull returns the accounts that have reached the first level, as far as this node knows.
func (q *quotas) nearlyFull() map[string]bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	owners := map[string]bool{}
	for owner, u := range q.known {
		if percentOf(u.bytes, q.Bytes) >= storageLevels[0] {
			owners[owner] = true
		}
	}
	return owners
}

func percentOf(bytes, limit int64) int64 { return int64(float64(bytes) / float64(limit) * 100) }

func levelOf(percent int64) (level int64) {
	for _, l := range storageLevels {
		if percent >= l {
			level = l
		}
	}
	return level
}

// warnAccount stores the level of an account, with the mail if it is higher than before.
func (s *Store) warnAccount(ctx context.Context, owner string, used Usage, mail StorageMail, now time.Time) error {
	percent := percentOf(used.Bytes, s.quotas.Bytes)
	level := levelOf(percent)
	defer s.mailsAdded()
	return s.db.Write(ctx, func(t db.Tx) error {
		var warned, at int64
		if err := queryOne(t.Query, warnedSQL, []any{owner}, &warned, &at); err != nil {
			return err
		}
		if level <= warned {
			if lower := levelOf(percent + storageSlack); lower < warned {
				_, err := t.Exec(setWarnedSQL, owner, lower, at, warned)
				return err
			}
			return nil
		}
		if now.Sub(fromMillis(at)) < storageWarningPause {
			return nil
		}
		// Another node may have been faster.
		if n, err := t.Exec(setWarnedSQL, owner, level, toMillis(now), warned); err != nil || n == 0 {
			return err
		}
		user, err := queryUser(t.Query, userSQL, owner)
		if err != nil {
			return err
		}
		mails, err := mail(user, percent, used)
		if err != nil {
			return err
		}
		return addMails(t, owner, mails...)
	})
}
