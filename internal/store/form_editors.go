package store

import (
	"context"
	"time"

	"formulary/internal/account"
	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/id"
)

// editorPresence is how long somebody counts as editing a form after their last sign.
const editorPresence = 30 * time.Second

// maxEditors is how many other editors of a form are listed.
const maxEditors = 20

const (
	// The form's row is read, not locked: the sign of an editor delays no submission.
	noteEditorSQL = `INSERT INTO form_editor (account_id, form_id, person_id, seen_at)
		SELECT account_id, id, $3, $4 FROM form WHERE account_id = $1 AND id = $2
		ON CONFLICT (account_id, form_id, person_id) DO UPDATE SET seen_at = excluded.seen_at`
	// The table account is on every machine of a distributed database.
	otherEditorsSQL = `SELECT a.name, a.email FROM form_editor e JOIN account a ON a.id = e.person_id
		WHERE e.account_id = $1 AND e.form_id = $2 AND e.person_id <> $3 AND e.seen_at > $4 ORDER BY e.person_id LIMIT $5`
	dropEditorSQL    = `DELETE FROM form_editor WHERE account_id = $1 AND form_id = $2 AND person_id = $3`
	isSharedSpaceSQL = `SELECT COUNT(*) FROM account WHERE id = $1 AND role = '` + account.RoleSpace + `'`
)

// NoteEditor stores that a person has a form open in the builder, and returns the names of the
// others who have. The row is of the person, so that several windows count once.
func (s *Store) NoteEditor(ctx context.Context, owner, formID, person string, now time.Time) (others []string, err error) {
	defer wrap(&err, "note editor")
	if _, ok := id.Parse(id.Form, formID); !ok {
		return nil, fault.NotFound
	}
	// No cache has the editors, so none is invalidated.
	if err := s.db.Write(ctx, func(t db.Tx) error {
		return checkAffected(t.Exec(noteEditorSQL, owner, formID, person, toMillis(now)))
	}); err != nil {
		return nil, err
	}
	err = s.db.Query(ctx, otherEditorsSQL, func(r db.Row) error {
		var u account.User
		err := r.Scan(&u.Name, &u.Email)
		others = append(others, u.DisplayName())
		return err
	}, owner, formID, person, toMillis(now.Add(-editorPresence)), maxEditors)
	return others, err
}

// DropEditor stores that a person has closed the builder.
func (s *Store) DropEditor(ctx context.Context, owner, formID, person string) (err error) {
	defer wrap(&err, "drop editor")
	if _, ok := id.Parse(id.Form, formID); !ok {
		return fault.NotFound
	}
	return s.db.Write(ctx, func(t db.Tx) error {
		_, err := t.Exec(dropEditorSQL, owner, formID, person)
		return err
	})
}

// HasEditors reports whether several people may edit a form: it is in a shared space, or shared.
func (s *Store) HasEditors(ctx context.Context, owner, formID string) (_ bool, err error) {
	defer wrap(&err, "read whether a form is shared")
	var inSpace, shares int64
	var found bool
	err = s.db.QueryBatch(ctx, scanInto(&found, isSharedSpaceSQL, []any{owner}, &inSpace), scanInto(&found, countSharesSQL, []any{owner, formID}, &shares))
	return inSpace+shares > 0, err
}
