package store_test

import (
	"slices"
	"testing"
	"time"

	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// The type of a question may change; the counts stay correct.
func TestSummaryAcrossVersions(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		p := openForm(t, s, owner, `{"fields": [{"id": "r", "key": "r", "kind": "ranking", "options": [{"value": "a"}, {"value": "b"}]}, {"id": "x", "key": "x", "kind": "short_text"}]}`)
		for range 9 {
			if _, err := s.SubmitResponse(ctx, store.Submission{Form: p, Answers: map[string]any{"r": []string{"a", "b"}, "x": "hello"}, At: time.Now()}); err != nil {
				t.Fatal(err)
			}
		}
		p = republish(t, s, p, `{"fields": [{"id": "r", "key": "r", "kind": "ranking", "options": [{"value": "a"}, {"value": "b"}, {"value": "c"}]}, {"id": "x", "key": "x", "kind": "number"}]}`)
		if _, err := s.SubmitResponse(ctx, store.Submission{Form: p, Answers: map[string]any{"r": []string{"c", "a", "b"}, "x": 10.0}, At: time.Now()}); err != nil {
			t.Fatal(err)
		}
		sum, err := s.Summary(ctx, owner, p.ID)
		if err != nil {
			t.Fatal(err)
		}
		r := sum.Fields["r"]
		positions := []float64{r.AveragePosition("a"), r.AveragePosition("c")}
		if want := []float64{1.1, 1}; !slices.Equal(positions, want) {
			t.Errorf("positions of a and c are %v, want %v", positions, want)
		}
		if r.Counts["b"] != 10 || r.Counts["c"] != 1 {
			t.Errorf("%+v", r)
		}
		if x := sum.Fields["x"]; x.Average() != 10 || x.Answered != 10 {
			t.Errorf("%+v", x)
		}

		// A summary of an earlier format is not used.
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
