package store_test

import (
	"testing"
	"time"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// How a question is asked may change; what is counted stays true.
func TestSummaryAcrossVersions(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, _ storetest.Place) {
		owner := person(t, s, "ada@example.com").ID
		p := opened(t, s, owner, `{"fields": [{"id": "r", "key": "r", "kind": "ranking", "options": [{"value": "a"}, {"value": "b"}]}, {"id": "x", "key": "x", "kind": "short_text"}]}`)
		for range 9 {
			if _, err := s.SubmitResponse(ctx, store.Submission{Form: p, Answers: map[string]any{"r": []string{"a", "b"}, "x": "hello"}, At: time.Now()}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.UpdateForm(ctx, owner, store.FormRevision{ID: p.ID}, func(plan *form.FormInput) error {
			plan.Definition = define(t, `{"fields": [{"id": "r", "key": "r", "kind": "ranking", "options": [{"value": "a"}, {"value": "b"}, {"value": "c"}]}, {"id": "x", "key": "x", "kind": "number"}]}`)
			return plan.Normalize()
		}, time.Now()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Publish(ctx, owner, store.FormRevision{ID: p.ID}, store.IdempotencyKey{}, time.Now()); err != nil {
			t.Fatal(err)
		}
		p, err := s.PublicForm(ctx, p.ID)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.SubmitResponse(ctx, store.Submission{Form: p, Answers: map[string]any{"r": []string{"c", "a", "b"}, "x": 10.0}, At: time.Now()}); err != nil {
			t.Fatal(err)
		}
		sum, err := s.Summary(ctx, owner, p.ID)
		if err != nil {
			t.Fatal(err)
		}
		if r := sum.Fields["r"]; r.AveragePosition("c") != 1 || r.AveragePosition("a") != 1.1 || r.Counts["c"] != 1 || r.Counts["b"] != 10 {
			t.Errorf("%+v", r)
		}
		if x := sum.Fields["x"]; x.Average() != 10 || x.Answered != 10 {
			t.Errorf("%+v", x)
		}

		// What an earlier version wrote down is not gone by.
		if err := s.Exec(ctx, `UPDATE form_summary SET summary = '{"responses": 77, "days": {}, "fields": {}}', serial = 10 WHERE account_id = $1`, owner); err != nil {
			t.Fatal(err)
		}
		if err := s.Exec(ctx, `INSERT INTO form_summary (account_id, form_id, serial, edits, summary)
			SELECT $1, $2, 10, 0, '{"responses": 77, "days": {}, "fields": {}}' WHERE NOT EXISTS (SELECT 1 FROM form_summary WHERE account_id = $1)`, owner, p.ID); err != nil {
			t.Fatal(err)
		}
		if sum, err := s.Summary(ctx, owner, p.ID); err != nil || sum.Responses != 10 {
			t.Errorf("%d responses (%v)", sum.Responses, err)
		}
		list, _, err := s.Responses(ctx, owner, p.ID, store.ResponseFilter{}, store.Page{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.DeleteResponse(ctx, owner, p.ID, list[0].ID, time.Now()); err != nil {
			t.Fatal(err)
		}
		if sum, err := s.Summary(ctx, owner, p.ID); err != nil || sum.Responses != 9 || sum.Fields["r"].Counts["c"] != 0 {
			t.Errorf("%+v (%v)", sum, err)
		}
	})
}
