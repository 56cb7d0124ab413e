package store

import (
	"context"
	"encoding/json"
	"time"

	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
)

// trashRetention is how long deleted data can be restored.
const trashRetention = time.Hour

const (
	trashSQL      = `INSERT INTO trash (account_id, id, form_id, content, deleted_at, bytes) VALUES ($1, $2, $3, $4, $5, $6)`
	untrashSQL    = `DELETE FROM trash WHERE account_id = $1 AND id = $2 AND content <> '' RETURNING form_id, content`
	oldTrashSQL   = `SELECT account_id, id, form_id FROM trash WHERE deleted_at < $1 LIMIT $2`
	emptyTrashSQL = `DELETE FROM trash WHERE account_id = $1 AND id = $2 AND deleted_at < $3`
	// Without its content, a form cannot be restored. The row stays until everything
	// that belongs to it is deleted, even if the process restarts.
	claimTrashSQL = `UPDATE trash SET content = '' WHERE account_id = $1 AND id = $2 AND deleted_at < $3`
	trashedSQL    = `SELECT content, deleted_at FROM trash WHERE account_id = $1 AND id >= $2 AND id < $3 AND content <> ''
		ORDER BY deleted_at DESC LIMIT 20`
	trashedOfSQL   = `SELECT id FROM trash WHERE account_id = $1 AND form_id = $2 AND id <> form_id ORDER BY deleted_at DESC, id LIMIT 500`
	formTrashSQL   = `DELETE FROM trash WHERE account_id = $1 AND form_id = $2`
	formSerialsSQL = `SELECT serial, response_serial, response_tick, stored_bytes, opening_due, closed_at FROM form WHERE account_id = $1 AND id = $2`
	deleteFormSQL  = `DELETE FROM form WHERE account_id = $1 AND id = $2`
	restoreFormSQL = `INSERT INTO form
		(account_id, id, serial, title, description, language, status, version, revision, response_count, response_serial, response_tick,
		 created_at, updated_at, title_key, search_key, slug, opens_at, closes_at, response_limit, sites, stored_bytes, opening_due, folder, closed_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25)`
	markRestoredSQL = `UPDATE response SET restored = $4 WHERE account_id = $1 AND form_id = $2 AND id = $3`
	holdAccountSQL  = `UPDATE account SET form_serial = form_serial WHERE id = $1`
)

// someOfFormSQL deletes at most $3 rows of a form from the tables that can have many.
var someOfFormSQL = []string{
	`DELETE FROM response WHERE account_id = $1 AND form_id = $2 AND id IN
		(SELECT id FROM response WHERE account_id = $1 AND form_id = $2 LIMIT $3)`,
	`DELETE FROM form_event WHERE account_id = $1 AND form_id = $2 AND position IN
		(SELECT position FROM form_event WHERE account_id = $1 AND form_id = $2 LIMIT $3)`,
	`DELETE FROM delivery WHERE account_id = $1 AND form_id = $2 AND (webhook_id, position) IN
		(SELECT webhook_id, position FROM delivery WHERE account_id = $1 AND form_id = $2 LIMIT $3)`,
	`DELETE FROM response_tag WHERE account_id = $1 AND form_id = $2 AND (tag_key, response_id) IN
		(SELECT tag_key, response_id FROM response_tag WHERE account_id = $1 AND form_id = $2 LIMIT $3)`,
	`DELETE FROM response_note WHERE account_id = $1 AND form_id = $2 AND (response_id, id) IN
		(SELECT response_id, id FROM response_note WHERE account_id = $1 AND form_id = $2 LIMIT $3)`,
}

// trashedForm is the row of a deleted form. Its responses and versions stay in their
// tables until the cleanup.
type trashedForm struct {
	Form           form.Form
	Serial         int64
	ResponseSerial int64
	ResponseTick   int64
	StoredBytes    int64
	OpeningDue     int64
	ClosedAt       int64
}

// DeleteForm deletes a form with its responses; revision as in FormRevision. RestoreForm can
// restore them for trashRetention.
func (s *Store) DeleteForm(ctx context.Context, owner, id string, revision int64, now time.Time) (err error) {
	defer wrap(&err, "delete form")
	return s.write(ctx, owner, func(t db.Tx) error {
		f, err := lockForm(t, owner, id, revision)
		if err != nil {
			return err
		}
		trashed := trashedForm{Form: f}
		if err := queryOne(t.Query, formSerialsSQL, []any{owner, id}, &trashed.Serial, &trashed.ResponseSerial, &trashed.ResponseTick, &trashed.StoredBytes, &trashed.OpeningDue, &trashed.ClosedAt); err != nil {
			return err
		}
		content, err := json.Marshal(trashed)
		if err != nil {
			return err
		}
		if _, err := t.Exec(trashSQL, owner, id, id, string(content), toMillis(now), trashed.StoredBytes); err != nil {
			return err
		}
		if _, err := t.Exec(deleteFormSQL, owner, id); err != nil {
			return err
		}
		if err := releaseAddresses(t, owner, id, now); err != nil {
			return err
		}
		if _, err := t.Exec(countFormSQL, owner, string(f.Status), f.Language, -1); err != nil {
			return err
		}
		if err := rankMiss(t, owner, formList, trashed.Serial); err != nil {
			return err
		}
		return recordAudit(ctx, t, owner, AuditEntry{Action: AuditFormDeleted, ObjectID: id, ObjectName: f.Title})
	})
}

// RestoreForm undoes DeleteForm.
func (s *Store) RestoreForm(ctx context.Context, owner, formID string, now time.Time) (_ form.Form, err error) {
	defer wrap(&err, "restore form")
	if _, ok := id.Parse(id.Form, formID); !ok {
		return form.Form{}, fault.NotFound // the trash contains responses too
	}
	var trashed trashedForm
	err = s.write(ctx, owner, func(t db.Tx) error {
		var parent, content string
		if err := queryOne(t.Query, untrashSQL, []any{owner, formID}, &parent, &content); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(content), &trashed); err != nil {
			return err
		}
		f := trashed.Form
		if err := trashed.catchUp(t, owner); err != nil {
			return err
		}
		// The account may be in deletion, and its trash is deleted last.
		if err := checkAffected(t.Exec(holdAccountSQL, owner)); err != nil {
			return err
		}
		if f.Version > 0 {
			// Another form of the owner may have the custom link now.
			if err := claimSlug(t, owner, formID, f.Slug, now); fault.Wrap(err).Code == fault.Invalid {
				f.Slug = ""
			} else if err != nil {
				return err
			}
		}
		trashed.Form = f
		if err := insertTaken(t, owner, trashed); err != nil {
			return err
		}
		if _, err := t.Exec(addressFormSQL, formID, owner, formID); err != nil {
			return err
		}
		if err := rankFound(t, owner, formList, trashed.Serial); err != nil {
			return err
		}
		return recordForm(ctx, t, owner, formID, AuditFormRestored, nil)
	})
	return trashed.Form, err
}

// catchUp makes new responses sort after the existing ones, even if an earlier version,
// which stored no tick, deleted the form.
func (g *trashedForm) catchUp(t db.Tx, owner string) error {
	var last int64
	err := queryOne(t.Query, lastResponseSQL, []any{owner, g.Form.ID}, &last)
	if err == nil {
		g.ResponseTick = max(g.ResponseTick, int64(id.NewTick(fromMillis(last+1))))
	}
	return replaceNotFound(err, nil)
}

// emptyTrash permanently deletes what was moved to the trash before a time.
func (s *Store) emptyTrash(ctx context.Context, before time.Time) error {
	for {
		type item struct{ owner, id, formID string }
		var old []item
		err := s.db.Query(ctx, oldTrashSQL, func(r db.Row) error {
			var i item
			err := r.Scan(&i.owner, &i.id, &i.formID)
			old = append(old, i)
			return err
		}, toMillis(before), cleanupBatch)
		if err != nil || len(old) == 0 {
			return err
		}
		for _, i := range old {
			sql := emptyTrashSQL
			_, isForm := id.Parse(id.Form, i.id)
			if isForm {
				sql = claimTrashSQL
			}
			// It may have been restored since, and even deleted again.
			var n int64
			err := s.db.Write(ctx, func(t db.Tx) (err error) {
				if n, err = t.Exec(sql, i.owner, i.id, toMillis(before)); err != nil || isForm || n == 0 {
					return err
				}
				if _, err := t.Exec(dropNotesSQL, i.owner, i.formID, i.id); err != nil {
					return err
				}
				_, err = dropFiles(t, time.Now(), dropResponseFilesSQL, i.owner, i.formID, i.id)
				return err
			})
			if err == nil && isForm && n > 0 {
				err = s.purgeForm(ctx, i.owner, i.formID)
			}
			if err != nil {
				return err
			}
		}
	}
}

// purgeForm deletes what belongs to a deleted form, its responses in batches.
func (s *Store) purgeForm(ctx context.Context, owner, id string) error {
	for _, sql := range someOfFormSQL {
		for {
			var n int64
			err := s.db.Write(ctx, func(t db.Tx) (err error) {
				n, err = t.Exec(sql, owner, id, eraseBatch)
				return err
			})
			if err != nil {
				return err
			}
			if n < eraseBatch {
				break
			}
		}
	}
	for n := int64(eraseBatch); n == eraseBatch; {
		err := s.db.Write(ctx, func(t db.Tx) (err error) {
			n, err = dropFiles(t, time.Now(), dropFormFilesSQL, owner, id, eraseBatch)
			return err
		})
		if err != nil {
			return err
		}
	}
	var people []string
	err := s.db.Write(ctx, func(t db.Tx) (err error) {
		if people, err = endShares(t, owner, id, time.Now()); err != nil {
			return err
		}
		for _, sql := range ofFormSQL {
			if _, err := t.Exec(sql, owner, id); err != nil {
				return err
			}
		}
		return nil
	})
	for _, person := range people {
		s.db.Invalidate(person)
	}
	return err
}
