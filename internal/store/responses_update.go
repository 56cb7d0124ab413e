package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/form"
)

// storedBytes returns what responses count for in the account's storage.
func storedBytes(list ...form.Response) (int64, error) {
	var n int64
	for _, r := range list {
		answers, err := r.Answers()
		if err != nil {
			return 0, err
		}
		n += responseBytes(answers, r.Metadata) + tagBytes(r.Marks)
	}
	return n, nil
}

// ResponseKey identifies a response to a form.
type ResponseKey struct {
	FormID, ID string
}

// AnswerChange returns new answers, validated against the version that was answered.
type AnswerChange func(*form.Definition, map[string]any) (map[string]any, error)

// UpdateResponse replaces the answers of a response. change runs outside of the transaction,
// and again if the response changed before the transaction locked it.
func (s *Store) UpdateResponse(ctx context.Context, owner string, key ResponseKey, change AnswerChange, now time.Time) (_ form.Response, err error) {
	return s.UpdateAndMarkResponse(ctx, owner, key, ResponseChange{Answers: change}, now)
}

// ResponseChange is a change of answers and of marks.
type ResponseChange struct {
	Answers AnswerChange
	Marks   MarkChange
	Seen    string // AnswerTag of the response that was edited; empty: any
}

// UpdateAndMarkResponse is UpdateResponse with a change of marks in the same transaction.
func (s *Store) UpdateAndMarkResponse(ctx context.Context, owner string, key ResponseKey, change ResponseChange, now time.Time) (_ form.Response, err error) {
	defer wrap(&err, "update response")
	if err := change.Marks.normalize(); err != nil {
		return form.Response{}, err
	}
	for n := 1; ; n++ {
		before, err := s.Response(ctx, owner, key.FormID, key.ID)
		if err != nil {
			return form.Response{}, err
		}
		if change.Seen != "" && change.Seen != before.AnswerTag() {
			return form.Response{}, errResponseChanged
		}
		edit, err := s.changedResponse(ctx, owner, before, change.Answers, now)
		if err != nil {
			return form.Response{}, err
		}
		edit.marks = change.Marks
		if err := s.reserveTags(ctx, owner, 1, change.Marks); err != nil {
			return form.Response{}, err
		}
		growth, err := s.eventGrowth(ctx, owner, key.FormID, 1)
		if err != nil {
			return form.Response{}, err
		}
		if err := s.reserve(ctx, owner, growth+int64(len(edit.after.JSON)-len(before.JSON))); err != nil {
			return form.Response{}, err
		}
		if err = s.replaceResponse(ctx, owner, &edit, now); n == maxUpdateTries || !errors.Is(err, errResponseChanged) {
			return edit.after, err
		}
	}
}

var errResponseChanged = fault.New(fault.Conflict, "The response has changed since you read it. Fetch it again and repeat your change.")

// responseEdit is a response before and after a change, with the files that it gains and loses.
type responseEdit struct {
	before, after form.Response
	claims        []fileClaim
	dropped       []string // IDs
	marks         MarkChange
}

// changedResponse computes the new response.
func (s *Store) changedResponse(ctx context.Context, owner string, before form.Response, change AnswerChange, now time.Time) (edit responseEdit, err error) {
	edit = responseEdit{before: before, after: before}
	d, err := s.Definition(ctx, owner, before.FormID, before.Version)
	if err != nil {
		return edit, err
	}
	answers, err := before.Answers()
	if err != nil {
		return edit, err
	}
	had := d.Files(answers)
	if answers, err = change(d, answers); err != nil {
		return edit, err
	}
	if d.HasFiles() {
		a := answerer{owner: owner, formID: before.FormID, responseID: before.ID, definition: d, at: now}
		var files answeredFiles
		if answers, files, err = s.resolveFiles(ctx, a, answers); err != nil {
			return edit, err
		}
		edit.claims, edit.dropped = files.claims, missingFiles(had, d.Files(answers))
	}
	text, err := d.Encode(answers)
	if err != nil {
		return edit, err
	}
	if err := d.CheckSize(text, answers); err != nil {
		return edit, err
	}
	var metadata form.Metadata
	if err := json.Unmarshal([]byte(before.Metadata), &metadata); err != nil {
		return edit, err
	}
	metadata.EditedAt = now.UTC().Format(time.RFC3339)
	edit.after.JSON = string(text)
	edit.after.Metadata, err = metadata.Encode()
	return edit, err
}

// mark changes the marks of the response, and reads them again.
func (e *responseEdit) mark(t db.Tx, owner string) (err error) {
	key := ResponseKey{e.after.FormID, e.after.ID}
	counts := markCounts{}
	if _, err := markOne(t, owner, key, e.marks, counts); err != nil {
		return err
	}
	if err := counts.store(t, owner, key.FormID); err != nil {
		return err
	}
	e.after.Marks, err = readMarks(t.Query, owner, key)
	return err
}

// replaceResponse stores the new response unless another request changed the old one.
func (s *Store) replaceResponse(ctx context.Context, owner string, edit *responseEdit, now time.Time) error {
	before, after := edit.before, edit.after
	oldBytes, err := storedBytes(before)
	if err != nil {
		return err
	}
	newBytes, err := storedBytes(after)
	if err != nil {
		return err
	}
	err = s.write(ctx, responsesOf(owner), func(t db.Tx) error {
		// Lock the form's row first, as everywhere, so that transactions cannot
		// deadlock.
		if err := checkAffected(t.Exec(dropCountSQL, owner, before.FormID, 0, oldBytes-newBytes)); err != nil {
			return err
		}
		stored, err := readResponse(t.Query, owner, before.FormID, before.ID)
		if err != nil {
			return err
		}
		if stored.JSON != before.JSON || stored.Metadata != before.Metadata {
			return errResponseChanged
		}
		if _, err := t.Exec(changeResponseSQL, owner, before.FormID, before.ID, after.JSON, after.Metadata); err != nil {
			return err
		}
		if err := edit.mark(t, owner); err != nil {
			return err
		}
		if err := edit.moveFiles(t, owner, now); err != nil {
			return err
		}
		if err := addEvents(t, owner, before.FormID, now, responseEvents(ResponseUpdated, []form.Response{after})...); err != nil {
			return err
		}
		if err := s.subtract(t, owner, before.FormID, []form.Response{before}, []form.Response{after}); err != nil {
			return err
		}
		return s.updateOptionCounts(t, owner, before.FormID, optionChange{
			removed: []form.Response{before}, added: []form.Response{after}, enforceLimits: true,
		})
	})
	if err == nil && len(edit.dropped) > 0 {
		s.sweepNow(ctx, owner)
	}
	return err
}
