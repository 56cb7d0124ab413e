package store

import (
	"context"
	"strconv"
	"time"

	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
)

// SummaryQuery says which responses are summarized, and how.
type SummaryQuery struct {
	Filter   ResponseFilter
	Zone     *time.Location      // of the days; nil: UTC
	Cross    *form.CrossTab      // also count these two questions together
	Budget   time.Duration       // stop after about this time; 0: never
	Progress func(float64) error // called now and then with the share that is done
}

// PartialSummary is a summary of the responses that a filter selects.
type PartialSummary struct {
	*form.Summary
	Done float64 // share of the responses that were read, from 0 to 1; the newest are read first
}

// SummarizeSome summarizes the responses that a filter selects. It reads all responses in
// the time range, so with very many it stops when the budget is used up.
func (s *Store) SummarizeSome(ctx context.Context, owner, formID string, q SummaryQuery) (_ PartialSummary, err error) {
	defer wrap(&err, "summarize responses")
	out := PartialSummary{Summary: form.NewSummaryIn(q.Zone)}
	if _, ok := id.Parse(id.Form, formID); !ok {
		return out, fault.NotFound
	}
	versions, err := s.Definitions(ctx, owner, formID)
	if err != nil {
		return out, err
	}
	filter := q.Filter
	filter.Oldest = false
	w := scanner{store: s, ctx: ctx, owner: owner, formID: formID, chunk: firstChunk}
	if err := w.enter(filter, ""); err != nil {
		return out, err
	}
	filter.Since, filter.Until = time.Time{}, time.Time{} // the ranges of the chunks replace them
	w.where, w.args = filter.where(owner, formID, s.db)
	add := func(d *form.Definition, r form.Response) error {
		answers, err := r.Answers()
		if err != nil {
			return err
		}
		out.Add(d, answers, r.SubmittedAt, 1)
		if q.Cross != nil {
			q.Cross.Add(d, answers)
		}
		return nil
	}
	deadline := time.Now().Add(q.Budget)
	for !w.finished() {
		began := time.Now()
		later, err := w.visit(versions, add)
		if err != nil {
			return out, err
		}
		// Versions that were published since.
		for _, r := range later {
			if versions, err = s.Definitions(ctx, owner, formID); err != nil {
				return out, err
			}
			if err := add(versions[r.Version-1], r); err != nil {
				return out, err
			}
		}
		now := time.Now()
		took := now.Sub(began)
		w.adapt(took)
		if q.Progress != nil {
			if err := q.Progress(w.result().Done); err != nil {
				return out, err
			}
		}
		if q.Budget > 0 && now.Add(took).After(deadline) {
			break
		}
	}
	out.Done = w.result().Done
	return out, nil
}

// visit calls fn for the responses of the next chunk, in any order. It returns those whose
// version is not among the given ones.
func (w *scanner) visit(versions []*form.Definition, fn func(*form.Definition, form.Response) error) (later []form.Response, err error) {
	border, serial, err := w.border()
	if err != nil {
		return nil, err
	}
	n := len(w.args)
	sql := `SELECT version, submitted_at, answers` + w.where + ` AND id < $` + strconv.Itoa(n+1) + ` AND id >= $` + strconv.Itoa(n+2)
	err = w.store.db.Query(w.ctx, sql, func(row db.Row) error {
		r := form.Response{FormID: w.formID}
		var submitted int64
		if err := row.Scan(&r.Version, &submitted, &r.JSON); err != nil {
			return err
		}
		r.SubmittedAt = fromMillis(submitted)
		if r.Version > int64(len(versions)) {
			later = append(later, r)
			return nil
		}
		return fn(versions[r.Version-1], r)
	}, append(w.args[:n:n], w.at, border)...)
	w.at, w.serial = border, serial
	return later, err
}
