package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/form"
)

const (
	summarySQL    = `SELECT serial, edits, summary FROM form_summary WHERE account_id = $1 AND form_id = $2`
	addSummarySQL = `INSERT INTO form_summary (account_id, form_id, serial, edits, summary) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (account_id, form_id) DO UPDATE SET serial = excluded.serial, summary = excluded.summary
		WHERE form_summary.serial = $6 AND form_summary.edits = excluded.edits`
	// Counting an edit also locks the row.
	editSummarySQL = `INSERT INTO form_summary (account_id, form_id, serial, edits, summary) VALUES ($1, $2, 0, 1, '')
		ON CONFLICT (account_id, form_id) DO UPDATE SET edits = form_summary.edits + 1 RETURNING serial, edits, summary`
	// The columns that a summary needs.
	summaryProgressSQL = `SELECT version, serial, submitted_at, answers FROM response
		WHERE account_id = $1 AND form_id = $2 AND ` + afterSerialSQL + ` ORDER BY id LIMIT 5000`
	setSummarySQL = `UPDATE form_summary SET serial = $3, summary = $4 WHERE account_id = $1 AND form_id = $2`
)

const (
	summaryChunk         = 5000 // responses added at a time, also in countedSQL and tailSQL
	minBatchedResponses  = 1000 // responses after which the summary is updated in memory
	summaryWriteInterval = 5000 // responses after which that summary is stored
	minSummaryWrite      = 500  // responses after which a reader stores the summary
)

// storedSummary is a summary of the responses up to a serial, as it is stored.
type storedSummary struct {
	serial, edits int64
	written       int64 // last stored serial
	bytes         int   // size of the JSON when it was last read or written
	summary       *form.Summary
}

// read parses a stored summary. A summary of an earlier format starts from zero.
func (k *storedSummary) read(text string) error {
	k.written, k.bytes = k.serial, len(text)
	k.summary = form.NewSummary()
	if text == "" {
		return nil
	}
	var summary form.Summary
	if err := json.Unmarshal([]byte(text), &summary); err != nil {
		return fmt.Errorf("stored summary: %w", err)
	}
	if summary.Format == k.summary.Format {
		k.summary = &summary
	} else {
		k.serial = 0
	}
	return nil
}

// readSummary reads the stored summary.
func readSummary(q querier, owner, formID string) (storedSummary, error) {
	var stored storedSummary
	var text string
	err := queryOne(q, summarySQL, []any{owner, formID}, &stored.serial, &stored.edits, &text)
	if err != nil && !errors.Is(err, fault.NotFound) {
		return stored, err
	}
	return stored, stored.read(text)
}

// notSummarized returns the next responses after a serial.
func notSummarized(q querier, owner, formID string, serial int64) (list []form.Response, err error) {
	err = q(summaryProgressSQL, func(r db.Row) error {
		out := form.Response{FormID: formID}
		var submitted int64
		err := r.Scan(&out.Version, &out.Serial, &submitted, &out.JSON)
		out.SubmittedAt = fromMillis(submitted)
		list = append(list, out)
		return err
	}, owner, formID, serial)
	return list, err
}

// Summary returns the summary of all responses to a form. It reads only responses that the
// stored summary does not include.
func (s *Store) Summary(ctx context.Context, owner, formID string) (_ *form.Summary, err error) {
	defer wrap(&err, "summarize form")
	if _, err := s.Form(ctx, owner, formID); err != nil {
		return nil, err
	}
	for {
		stored, n, err := s.applyNew(ctx, owner, formID)
		if err != nil || n < summaryChunk {
			return stored.summary, err
		}
	}
}

// applyNew adds the next responses, and stores the summary if they are many.
func (s *Store) applyNew(ctx context.Context, owner, formID string) (storedSummary, int, error) {
	var stored storedSummary
	var list []form.Response
	var count, top int64
	// One snapshot, so that an edited response and its edit count are consistent.
	err := s.db.Read(ctx, func(t db.Tx) error {
		var err error
		if stored, err = readSummary(t.Query, owner, formID); err != nil {
			return err
		}
		if err := queryOne(t.Query, countResponsesSQL, []any{owner, formID}, &count, &top); err != nil {
			return err
		}
		list, err = notSummarized(t.Query, owner, formID, stored.serial)
		return err
	})
	if err != nil {
		return stored, 0, err
	}
	for _, r := range list {
		if err := s.add(s.query(ctx), owner, stored.summary, r, 1); err != nil {
			return stored, 0, err
		}
		stored.serial = r.Serial
	}
	if len(list) < summaryChunk {
		stored.serial = top // even if the last ones were deleted
	}
	if len(list) < minSummaryWrite {
		return stored, len(list), nil
	}
	// If it is outdated, the next round reads the new one.
	_, err = s.writeSummary(ctx, owner, formID, &stored)
	return stored, len(list), err
}

// updateSummary returns the summary as a transaction sees it.
func (s *Store) updateSummary(q querier, owner, formID string) (*form.Summary, error) {
	stored, err := readSummary(q, owner, formID)
	for n := summaryChunk; err == nil && n == summaryChunk; {
		var list []form.Response
		if list, err = notSummarized(q, owner, formID, stored.serial); err != nil {
			break
		}
		for _, r := range list {
			if err := s.add(q, owner, stored.summary, r, 1); err != nil {
				return nil, err
			}
			stored.serial = r.Serial
		}
		n = len(list)
	}
	return stored.summary, err
}

func (s *Store) add(q querier, owner string, to *form.Summary, r form.Response, n int64) error {
	d, err := s.definitions.of(q, owner, r.FormID, r.Version)
	if err != nil {
		return err
	}
	answers, err := r.Answers()
	if err == nil {
		to.Add(d, answers, r.SubmittedAt, n)
	}
	return err
}

// subtract removes responses from the summary of their form and adds those that replace
// them. The caller has locked the form.
func (s *Store) subtract(t db.Tx, owner, formID string, removed, added []form.Response) error {
	var stored storedSummary
	var text string
	if err := queryOne(t.Query, editSummarySQL, []any{owner, formID}, &stored.serial, &stored.edits, &text); err != nil {
		return err
	}
	if err := stored.read(text); err != nil {
		return err
	}
	touched := stored.serial != stored.written
	count := func(list []form.Response, n int64) error {
		for _, r := range list {
			if r.Serial > stored.serial {
				continue
			}
			touched = true
			if err := s.add(t.Query, owner, stored.summary, r, n); err != nil {
				return err
			}
		}
		return nil
	}
	if err := errors.Join(count(removed, -1), count(added, 1)); err != nil || !touched {
		return err
	}
	changed, err := json.Marshal(stored.summary)
	if err != nil {
		return err
	}
	_, err = t.Exec(setSummarySQL, owner, formID, stored.serial, string(changed))
	return err
}

// countInTransaction adds a response that was just stored, without reading it again,
// and returns the summary, or nil if none is in memory. That works while serials are
// consecutive. If another node stores responses, or one is edited, the stored summary
// is read again.
func (s *Store) countInTransaction(sum *storedSummary, w *pendingSubmission) *storedSummary {
	ctx, serial := context.Background(), w.response.Serial
	switch {
	case sum != nil && serial == sum.serial+1:
		sum.summary.Add(w.Form.Definition, w.Answers, w.response.SubmittedAt, 1)
		sum.serial = serial
		if serial-sum.written < summaryWriteInterval {
			return sum
		}
		// Ignored: Summary does the same, and returns the error.
		if ok, err := s.writeSummary(ctx, w.Form.Owner, w.Form.ID, sum); err != nil || !ok {
			return nil
		}
	case sum != nil && serial > sum.serial:
		return nil
	case sum == nil && serial%minBatchedResponses == 0:
		if stored, n, err := s.applyNew(ctx, w.Form.Owner, w.Form.ID); err == nil && n < summaryChunk {
			return &stored
		}
	}
	return sum
}

// writeSummary stores the summary and reports whether it did: not if another request
// stored a newer one, or a response was edited.
func (s *Store) writeSummary(ctx context.Context, owner, formID string, k *storedSummary) (bool, error) {
	text, err := json.Marshal(k.summary)
	if err != nil {
		return false, err
	}
	var n int64
	err = s.db.Write(ctx, func(t db.Tx) (err error) {
		n, err = t.Exec(addSummarySQL, owner, formID, k.serial, k.edits, string(text), k.written)
		return err
	})
	if err == nil && n == 1 {
		k.written, k.bytes = k.serial, len(text)
	}
	return n == 1, err
}
