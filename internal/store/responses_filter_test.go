package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// A filter finds numbers however the database formats them.
func TestFilterByNumber(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		now := time.Now()
		for _, number := range []float64{0.0000001, 12.5, 1e15} {
			p := openForm(t, s, owner, small)
			if _, err := s.SubmitResponse(ctx, store.Submission{Form: p, Answers: map[string]any{"n": number}, At: now}); err != nil {
				t.Fatal(err)
			}
			filters, err := s.AnswerFilters(ctx, owner, p.ID, []store.Comparison{{Field: "n", Op: form.Equals, Value: fmt.Sprint(number)}})
			if err != nil {
				t.Fatal(err)
			}
			if _, total, err := s.Responses(ctx, owner, p.ID, store.ResponseFilter{Answers: filters}, store.Page{Limit: 10}); err != nil || total != 1 {
				t.Errorf("%v is found %d times (%v)", number, total, err)
			}
		}
	})
}

// A search by label works with so many options and keys that a condition for each would
// be too much for a database.
func TestSearchAmongManyOptions(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		var options []string
		for n := range form.MaxOptions {
			options = append(options, fmt.Sprintf(`{"value": "v%d", "label": "Thing %d"}`, n, n))
		}
		keyed := func(things, other string) string {
			return fmt.Sprintf(`{"fields": [{"id": "f1", "key": %q, "kind": "dropdown", "options": [%s]}, {"id": "f2", "key": %q, "kind": "short_text"}]}`,
				things, strings.Join(options, ", "), other)
		}
		p := openForm(t, s, owner, keyed("a", "b"))
		for n := range 40 {
			things, other := "a", "b"
			if n%2 == 0 {
				things, other = "b", "a"
			}
			p = republish(t, s, p, keyed(things, other))
		}
		if _, err := s.SubmitResponse(ctx, store.Submission{Form: p, Answers: map[string]any{"a": "v7"}, At: time.Now()}); err != nil {
			t.Fatal(err)
		}
		for search, want := range map[string]int64{"thing": 1, "thing 7": 1, "thing 8": 0} {
			meant, err := s.MatchLabels(ctx, owner, p.ID, search, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, total, err := s.Responses(ctx, owner, p.ID, store.ResponseFilter{Search: search, LabelMatches: meant}, store.Page{Limit: 10}); err != nil || total != want {
				t.Errorf("%q is found %d times (%v)", search, total, err)
			}
		}
	})
}
