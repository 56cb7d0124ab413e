package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"formulary/internal/fault"
	"formulary/internal/form"
)

const (
	summarySQL    = `SELECT serial, edits, summary FROM form_summary WHERE account_id = $1 AND form_id = $2`
	addSummarySQL = `INSERT INTO form_summary (account_id, form_id, serial, edits, summary) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (account_id, form_id) DO UPDATE SET serial = excluded.serial, summary = excluded.summary
		WHERE form_summary.serial = $6 AND form_summary.edits = excluded.edits`
	// Counting an edit also keeps others from the row until the end.
	editSummarySQL = `INSERT INTO form_summary (account_id, form_id, serial, edits, summary) VALUES ($1, $2, 0, 1, '')
		ON CONFLICT (account_id, form_id) DO UPDATE SET edits = form_summary.edits + 1 RETURNING serial, edits, summary`
	setSummarySQL = `UPDATE form_summary SET summary = $3 WHERE account_id = $1 AND form_id = $2`
)

const (
	sumChunk = 5000 // responses counted in at a time
	sumEvery = 5000 // responses after which somebody counts them in
	sumKept  = 500  // so many are worth writing down
)

// summed is a summary as it is written down: of the responses up to a serial.
type summed struct {
	serial, edits int64
	summary       *form.Summary
}

func (k *summed) read(text string) error {
	k.summary = form.NewSummary()
	if text == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), k.summary); err != nil {
		return fmt.Errorf("stored summary: %w", err)
	}
	return nil
}

// Summary is what all responses to a form amount to. It reads only those that
// were not counted before.
func (s *Store) Summary(ctx context.Context, owner, formID string) (*form.Summary, error) {
	if _, err := s.Form(ctx, owner, formID); err != nil {
		return nil, err
	}
	for {
		kept, n, err := s.countOn(ctx, owner, formID)
		if err != nil || n < sumChunk {
			return kept.summary, err
		}
	}
}

// countOn counts the next responses in, and writes that down if they are many.
func (s *Store) countOn(ctx context.Context, owner, formID string) (summed, int, error) {
	var kept summed
	var list []form.Response
	// One snapshot: what was edited is seen with its edit, or not at all.
	err := s.db.Read(ctx, func(t tx) error {
		kept = summed{}
		var text string
		err := one(t.Query, summarySQL, []any{owner, formID}, &kept.serial, &kept.edits, &text)
		if err != nil && !errors.Is(err, fault.NotFound) {
			return err
		}
		if err := kept.read(text); err != nil {
			return err
		}
		list, err = collect(t.Query, formID, responsesSQL, owner, formID, kept.serial, int64(sumChunk))
		return err
	})
	if err != nil {
		return kept, 0, err
	}
	before := kept.serial
	for _, r := range list {
		if err := s.add(s.query(ctx), owner, kept.summary, r, 1); err != nil {
			return kept, 0, err
		}
		kept.serial = r.Serial
	}
	if len(list) < sumKept {
		return kept, len(list), nil
	}
	text, err := json.Marshal(kept.summary)
	if err != nil {
		return kept, 0, err
	}
	// Where somebody was faster, theirs holds, and the next turn reads it.
	err = s.db.Write(ctx, func(t tx) error {
		_, err := t.Exec(addSummarySQL, owner, formID, kept.serial, kept.edits, string(text), before)
		return err
	})
	return kept, len(list), err
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

// unsum takes responses out of what is kept about their form, and puts those into
// it that they became. The form is locked.
func (s *Store) unsum(t tx, owner, formID string, gone, came []form.Response) error {
	var kept summed
	var text string
	if err := one(t.Query, editSummarySQL, []any{owner, formID}, &kept.serial, &kept.edits, &text); err != nil {
		return err
	}
	if err := kept.read(text); err != nil {
		return err
	}
	touched := false
	for n, list := range map[int64][]form.Response{-1: gone, 1: came} {
		for _, r := range list {
			if r.Serial <= kept.serial {
				touched = true
				if err := s.add(t.Query, owner, kept.summary, r, n); err != nil {
					return err
				}
			}
		}
	}
	for _, r := range gone {
		chosen, err := s.chosenBy(t, owner, r)
		if err != nil {
			return err
		}
		if err := giveOptions(t, owner, formID, chosen); err != nil {
			return err
		}
	}
	for _, r := range came {
		chosen, err := s.chosenBy(t, owner, r)
		if err != nil {
			return err
		}
		if err := takeOptions(t, owner, formID, chosen); err != nil {
			return err
		}
	}
	if !touched {
		return nil
	}
	changed, err := json.Marshal(kept.summary)
	if err != nil {
		return err
	}
	_, err = t.Exec(setSummarySQL, owner, formID, string(changed))
	return err
}

func (s *Store) chosenBy(t tx, owner string, r form.Response) ([]form.Choice, error) {
	d, err := s.definitions.of(t.Query, owner, r.FormID, r.Version)
	if err != nil {
		return nil, err
	}
	answers, err := r.Answers()
	return d.Choices(answers), err
}

// sumSoon has the responses that have gathered counted in, without anybody
// waiting for it. One at a time: what is left out, the next one does.
func (s *Store) sumSoon(owner, formID string) {
	if !s.summing.TryLock() {
		return
	}
	s.background.Go(func() {
		defer s.summing.Unlock()
		for {
			// Who asks for the summary does the same; a failure shows there.
			if _, n, err := s.countOn(context.Background(), owner, formID); err != nil || n < sumChunk {
				return
			}
		}
	})
}
