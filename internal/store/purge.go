package store

import (
	"context"
	"time"

	"formulary/internal/db"
	"formulary/internal/fault"
)

// ownedSQL deletes the small tables of a deleted account; purgeSQL deletes the rest in
// batches. Access tokens stay until the cleanup, so that clients learn that the user is
// deleted (401006); tokens that were revoked before stay unknown (401001).
var ownedSQL = []string{
	// This comes first, because submitting and publishing lock the form's row: the
	// statements below then find everything that they wrote.
	`DELETE FROM form WHERE account_id = $1`,
	`DELETE FROM access_token WHERE account_id = $1
		AND consent_id IN (SELECT id FROM consent WHERE account_id = $1 AND ended_at > 0)`,
	`DELETE FROM session WHERE account_id = $1`,
	`DELETE FROM device WHERE account_id = $1`,
	`DELETE FROM link WHERE account_id = $1`,
	`DELETE FROM ticket WHERE account_id = $1`,
	`DELETE FROM code WHERE account_id = $1`,
	`DELETE FROM refresh_token WHERE account_id = $1`,
	`DELETE FROM consent WHERE account_id = $1`,
	`DELETE FROM app_secret WHERE account_id = $1`,
	`DELETE FROM app WHERE account_id = $1`,
	`DELETE FROM app_call WHERE account_id = $1`,
	`DELETE FROM form_count WHERE account_id = $1`,
	`DELETE FROM webhook WHERE account_id = $1`,
	`DELETE FROM form_mail WHERE account_id = $1`,
	`DELETE FROM theme WHERE account_id = $1`,
	`DELETE FROM form_mark WHERE account_id = $1`,
	`DELETE FROM form_retention WHERE account_id = $1`,
	`DELETE FROM response_layout WHERE account_id = $1`,
	`DELETE FROM consent_form WHERE account_id = $1`,
	`DELETE FROM invitation WHERE account_id = $1`,
	`DELETE FROM form_editor WHERE account_id = $1`,
	dropIDAddressesSQL,
}

// purgeSQL deletes at most $2 rows of a table, so that no other writer waits long.
var purgeSQL = []string{
	`DELETE FROM response WHERE account_id = $1 AND (form_id, id) IN (SELECT form_id, id FROM response WHERE account_id = $1 LIMIT $2)`,
	`DELETE FROM idempotency WHERE account_id = $1 AND (app_id, key) IN (SELECT app_id, key FROM idempotency WHERE account_id = $1 LIMIT $2)`,
	`DELETE FROM form_summary WHERE account_id = $1 AND form_id IN (SELECT form_id FROM form_summary WHERE account_id = $1 LIMIT $2)`,
	`DELETE FROM trash WHERE account_id = $1 AND id IN (SELECT id FROM trash WHERE account_id = $1 LIMIT $2)`,
	`DELETE FROM option_count WHERE account_id = $1
		AND (form_id, field_id, value) IN (SELECT form_id, field_id, value FROM option_count WHERE account_id = $1 LIMIT $2)`,
	`DELETE FROM form_version WHERE account_id = $1 AND (form_id, version) IN (SELECT form_id, version FROM form_version WHERE account_id = $1 LIMIT $2)`,
	`DELETE FROM form_draft WHERE account_id = $1 AND form_id IN (SELECT form_id FROM form_draft WHERE account_id = $1 LIMIT $2)`,
	`DELETE FROM list_block WHERE account_id = $1
		AND (list, level, block) IN (SELECT list, level, block FROM list_block WHERE account_id = $1 LIMIT $2)`,
	`DELETE FROM form_event WHERE account_id = $1
		AND (form_id, position) IN (SELECT form_id, position FROM form_event WHERE account_id = $1 LIMIT $2)`,
	`DELETE FROM delivery WHERE account_id = $1
		AND (form_id, webhook_id, position) IN (SELECT form_id, webhook_id, position FROM delivery WHERE account_id = $1 LIMIT $2)`,
	`DELETE FROM mail WHERE account_id = $1 AND id IN (SELECT id FROM mail WHERE account_id = $1 LIMIT $2)`,
	`DELETE FROM mail_suppression WHERE account_id = $1
		AND recipient_key IN (SELECT recipient_key FROM mail_suppression WHERE account_id = $1 LIMIT $2)`,
	`DELETE FROM form_recipient WHERE account_id = $1
		AND (form_id, email_key) IN (SELECT form_id, email_key FROM form_recipient WHERE account_id = $1 LIMIT $2)`,
	`DELETE FROM response_tag WHERE account_id = $1
		AND (form_id, tag_key, response_id) IN (SELECT form_id, tag_key, response_id FROM response_tag WHERE account_id = $1 LIMIT $2)`,
	`DELETE FROM response_note WHERE account_id = $1
		AND (form_id, response_id, id) IN (SELECT form_id, response_id, id FROM response_note WHERE account_id = $1 LIMIT $2)`,
	`DELETE FROM response_view WHERE account_id = $1
		AND (form_id, id) IN (SELECT form_id, id FROM response_view WHERE account_id = $1 LIMIT $2)`,
	`DELETE FROM form_visit WHERE account_id = $1
		AND (form_id, day, version, kind, part) IN (SELECT form_id, day, version, kind, part FROM form_visit WHERE account_id = $1 LIMIT $2)`,
	`DELETE FROM audit WHERE account_id = $1 AND id IN (SELECT id FROM audit WHERE account_id = $1 LIMIT $2)`,
}

const (
	noteErasureSQL = `INSERT INTO account_purge (account_id, deleted_at, email_key) SELECT id, $2, email_key FROM account WHERE id = $1
		ON CONFLICT (account_id) DO NOTHING`
	erasuresSQL = `SELECT account_id FROM account_purge ORDER BY deleted_at LIMIT $1`
	// Two nodes that erase the same account take turns: each batch then counts the
	// remaining rows.
	holdErasureSQL = `UPDATE account_purge SET deleted_at = deleted_at WHERE account_id = $1`
	endErasureSQL  = `DELETE FROM account_purge WHERE account_id = $1`
)

// DeleteUser deletes an account and everything it owns. If complete is true, the data
// is also erased from the files of SQLite; otherwise the account is deleted, and
// Cleanup deletes the rest of its data.
func (s *Store) DeleteUser(ctx context.Context, owner string, now time.Time) (complete bool, err error) {
	defer wrap(&err, "delete user")
	if err := s.dismissGuests(ctx, owner, now); err != nil {
		return false, err
	}
	if err := s.deleteAccount(ctx, owner, now); err != nil {
		return false, err
	}
	if err := s.erase(ctx, owner); isUnavailable(err) || ctx.Err() != nil {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return true, nil
}

// deleteAccount deletes the account and records that its data must be deleted.
func (s *Store) deleteAccount(ctx context.Context, owner string, now time.Time) error {
	var apps, others []string
	err := s.write(ctx, owner, func(t db.Tx) error {
		apps, others = nil, nil
		if err := recordDeletion(ctx, t, owner); err != nil {
			return err
		}
		spaces, err := leaveAllSpaces(t, owner, now)
		if err != nil {
			return err
		}
		// Nobody joins from here on. Spaces that the owner is in are locked before, as elsewhere.
		if err := checkAffected(t.Exec(holdAccountSQL, owner)); err != nil {
			return err
		}
		people, err := dismissAll(t, owner, now)
		if err != nil {
			return err
		}
		others = append(spaces, people...)
		if err := t.Query(appIDsSQL, func(r db.Row) error {
			var id string
			err := r.Scan(&id)
			apps = append(apps, id)
			return err
		}, owner); err != nil {
			return err
		}
		for _, app := range apps {
			if err := noteAppChange(ctx, t, app, now); err != nil {
				return err
			}
		}
		if _, err := t.Exec(noteErasureSQL, owner, toMillis(now)); err != nil {
			return err
		}
		if err := checkAffected(t.Exec(deleteUserSQL, owner)); err != nil {
			return err
		}
		if err := checkNoMoves(t, owner); err != nil {
			return err
		}
		for _, sql := range ownedSQL {
			if _, err := t.Exec(sql, owner); err != nil {
				return err
			}
		}
		if _, err := t.Exec(releasePersonalTokensSQL, owner, toMillis(now.Add(expiredTokenRetention))); err != nil {
			return err
		}
		_, err = t.Exec(releaseAccountSQL, owner, toMillis(now))
		return err
	})
	// Other users may have granted access to the account's applications.
	s.invalidateApps(apps...)
	s.signalAppChange()
	for _, other := range others {
		s.db.Invalidate(other)
	}
	return err
}

// erase deletes the data of a deleted account.
func (s *Store) erase(ctx context.Context, owner string) error {
	for _, sql := range []string{dropAccountFilesSQL, dropAccountPicturesSQL} {
		err := s.eraseRows(ctx, owner, func(t db.Tx) (int64, error) {
			return dropFiles(t, time.Now(), sql, owner, eraseBatch)
		})
		if err != nil {
			return replaceNotFound(err, nil) // another node has completed it
		}
	}
	s.sweepNow(ctx, owner)
	for _, sql := range purgeSQL {
		err := s.eraseRows(ctx, owner, func(t db.Tx) (int64, error) { return t.Exec(sql, owner, eraseBatch) })
		if err != nil {
			return replaceNotFound(err, nil)
		}
	}
	if err := s.forgetAddress(ctx, owner); err != nil {
		return err
	}
	if err := s.db.Scrub(ctx); err != nil {
		return err
	}
	return s.db.Write(ctx, func(t db.Tx) error {
		_, err := t.Exec(endErasureSQL, owner)
		return err
	})
}

// finishErasures completes deletions that were interrupted.
func (s *Store) finishErasures(ctx context.Context) error {
	var owners []string
	err := s.db.Query(ctx, erasuresSQL, func(r db.Row) error {
		var owner string
		err := r.Scan(&owner)
		owners = append(owners, owner)
		return err
	}, cleanupBatch)
	if err != nil {
		return err
	}
	for _, owner := range owners {
		// If the database is busy, the next cleanup tries again.
		if err := s.erase(ctx, owner); err != nil && fault.Wrap(err).Code != fault.DatabaseUnreachable {
			return err
		}
	}
	return nil
}

// eraseBatch is how many rows one transaction erases. They may be large, and on SQLite they
// are overwritten.
const eraseBatch = 100

// eraseRows runs a deletion of at most eraseBatch rows until it finds no more. fault.NotFound:
// the account is not being erased any more.
func (s *Store) eraseRows(ctx context.Context, owner string, erase func(db.Tx) (int64, error)) error {
	for {
		var n int64
		err := s.db.Write(ctx, func(t db.Tx) (err error) {
			if err := checkAffected(t.Exec(holdErasureSQL, owner)); err != nil {
				return err
			}
			n, err = erase(t)
			return err
		})
		if err != nil || n < eraseBatch {
			return err
		}
	}
}

// repeat runs a statement that removes at most $2 rows until it finds no more.
func (s *Store) repeat(ctx context.Context, sql string, first any) error {
	for {
		var n int64
		err := s.db.Write(ctx, func(t db.Tx) (err error) {
			n, err = t.Exec(sql, first, cleanupBatch)
			return err
		})
		if err != nil || n < cleanupBatch {
			return err
		}
	}
}
