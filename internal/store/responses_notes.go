package store

import (
	"context"
	"time"

	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
)

// Note is a remark about a response, for the people who work with it.
type Note struct {
	ID                   string
	Author               string // ID of the user who wrote it
	Text                 string
	CreatedAt, UpdatedAt time.Time
}

const (
	noteColumns   = `id, author_id, text, created_at, updated_at`
	notesSQL      = `SELECT ` + noteColumns + ` FROM response_note WHERE account_id = $1 AND form_id = $2 AND response_id = $3 ORDER BY id LIMIT $4`
	noteSQL       = `SELECT ` + noteColumns + ` FROM response_note WHERE account_id = $1 AND form_id = $2 AND response_id = $3 AND id = $4`
	insertNoteSQL = `INSERT INTO response_note (account_id, form_id, response_id, id, author_id, text, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $7)`
	updateNoteSQL = `UPDATE response_note SET text = $5, updated_at = $6 WHERE account_id = $1 AND form_id = $2 AND response_id = $3 AND id = $4`
	deleteNoteSQL = `DELETE FROM response_note WHERE account_id = $1 AND form_id = $2 AND response_id = $3 AND id = $4`
	countNoteSQL  = `UPDATE response SET note_count = note_count + $4 WHERE account_id = $1 AND form_id = $2 AND id = $3`
	dropNotesSQL  = `DELETE FROM response_note WHERE account_id = $1 AND form_id = $2 AND response_id = $3`
	noteBytesSQL  = `SELECT CAST(COALESCE(SUM(OCTET_LENGTH(text) + 250), 0) AS BIGINT) FROM response_note
		WHERE account_id = $1 AND form_id = $2 AND response_id = $3`
)

// noteOverhead is the size of a note's IDs and times, as in noteBytesSQL.
const noteOverhead = 250

func scanNote(r db.Row) (Note, error) {
	var n Note
	var created, updated int64
	err := r.Scan(&n.ID, &n.Author, &n.Text, &created, &updated)
	n.CreatedAt, n.UpdatedAt = fromMillis(created), fromMillis(updated)
	return n, err
}

// noteBytes is what the notes of a response count for in the account's storage.
func noteBytes(t db.Tx, owner, formID string, r form.Response) (n int64, err error) {
	if r.Marks.Notes == 0 {
		return 0, nil
	}
	err = queryOne(t.Query, noteBytesSQL, []any{owner, formID, r.ID}, &n)
	return n, err
}

func readNote(q querier, owner string, key ResponseKey, noteID string) (n Note, err error) {
	found := false
	err = q(noteSQL, func(r db.Row) (err error) {
		found = true
		n, err = scanNote(r)
		return err
	}, owner, key.FormID, key.ID, noteID)
	return n, errorWhen(err, !found, fault.NotFound)
}

// Notes returns the notes of a response, the oldest first.
func (s *Store) Notes(ctx context.Context, owner string, key ResponseKey) (list []Note, err error) {
	defer wrap(&err, "list notes")
	if !areIDs(key.FormID, key.ID) {
		return nil, fault.NotFound
	}
	if _, err := readResponse(s.query(ctx), owner, key.FormID, key.ID); err != nil {
		return nil, err
	}
	err = s.db.Query(ctx, notesSQL, func(r db.Row) error {
		n, err := scanNote(r)
		list = append(list, n)
		return err
	}, owner, key.FormID, key.ID, form.MaxNotes)
	return list, err
}

// NewNote is a note that a user writes.
type NewNote struct {
	Author string // user
	Text   string
	Key    IdempotencyKey
}

// AddNote adds a note to a response. A repeated key returns the note that the first request added.
func (s *Store) AddNote(ctx context.Context, owner string, key ResponseKey, in NewNote, now time.Time) (made Note, err error) {
	defer wrap(&err, "add note")
	if !areIDs(key.FormID, key.ID) {
		return made, fault.NotFound
	}
	text, err := form.NormalizeNote(in.Text)
	if err != nil {
		return made, err
	}
	size := int64(len(text)) + noteOverhead
	if err := s.reserve(ctx, owner, size); err != nil {
		return made, err
	}
	noteID := id.New(id.Note, now)
	err = s.db.Write(ctx, func(t db.Tx) error {
		if err := checkAffected(t.Exec(dropCountSQL, owner, key.FormID, 0, -size)); err != nil {
			return err
		}
		earlier, err := in.Key.claim(t, owner, noteID, now)
		if err != nil {
			return err
		}
		if earlier != "" {
			if _, err := t.Exec(dropCountSQL, owner, key.FormID, 0, size); err != nil {
				return err
			}
			made, err = readNote(t.Query, owner, key, earlier)
			return replaceNotFound(err, fault.New(fault.NotFoundInAccount, "The object created with this Idempotency-Key has been deleted."))
		}
		marks, err := readMarks(t.Query, owner, key)
		if err != nil {
			return err
		}
		if marks.Notes >= form.MaxNotes {
			return fault.New(fault.QuotaReached, "The response has reached its limit of %d notes. Delete one you no longer need.", form.MaxNotes)
		}
		if _, err := t.Exec(insertNoteSQL, owner, key.FormID, key.ID, noteID, in.Author, text, toMillis(now)); err != nil {
			return err
		}
		if _, err := t.Exec(countNoteSQL, owner, key.FormID, key.ID, 1); err != nil {
			return err
		}
		made, err = readNote(t.Query, owner, key, noteID)
		return err
	})
	return made, err
}

// NoteChange is a new text of a note.
type NoteChange struct{ ID, Text string }

// UpdateNote replaces the text of a note.
func (s *Store) UpdateNote(ctx context.Context, owner string, key ResponseKey, change NoteChange, now time.Time) (n Note, err error) {
	defer wrap(&err, "update note")
	noteID := change.ID
	text, err := form.NormalizeNote(change.Text)
	if err != nil {
		return n, err
	}
	if err := s.reserve(ctx, owner, int64(len(text))); err != nil {
		return n, err
	}
	err = s.changeNote(ctx, owner, key, noteID, func(t db.Tx, before Note) (growth int64, err error) {
		if _, err := t.Exec(updateNoteSQL, owner, key.FormID, key.ID, noteID, text, toMillis(now)); err != nil {
			return 0, err
		}
		n, err = readNote(t.Query, owner, key, noteID)
		return int64(len(text) - len(before.Text)), err
	})
	return n, err
}

// DeleteNote deletes a note.
func (s *Store) DeleteNote(ctx context.Context, owner string, key ResponseKey, noteID string) (err error) {
	defer wrap(&err, "delete note")
	return s.changeNote(ctx, owner, key, noteID, func(t db.Tx, before Note) (growth int64, err error) {
		if _, err := t.Exec(deleteNoteSQL, owner, key.FormID, key.ID, noteID); err != nil {
			return 0, err
		}
		_, err = t.Exec(countNoteSQL, owner, key.FormID, key.ID, -1)
		return -int64(len(before.Text)) - noteOverhead, err
	})
}

// changeNote changes a note of a response that exists, and counts by how much it grew.
func (s *Store) changeNote(ctx context.Context, owner string, key ResponseKey, noteID string, change func(db.Tx, Note) (growth int64, err error)) error {
	if _, ok := id.Parse(id.Note, noteID); !ok || !areIDs(key.FormID, key.ID) {
		return fault.NotFound
	}
	return s.db.Write(ctx, func(t db.Tx) error {
		if err := checkAffected(t.Exec(dropCountSQL, owner, key.FormID, 0, 0)); err != nil {
			return err
		}
		if _, err := readMarks(t.Query, owner, key); err != nil {
			return err // a deleted response keeps its notes until it cannot be restored
		}
		before, err := readNote(t.Query, owner, key, noteID)
		if err != nil {
			return err
		}
		growth, err := change(t, before)
		if err != nil {
			return err
		}
		_, err = t.Exec(dropCountSQL, owner, key.FormID, 0, -growth)
		return err
	})
}
