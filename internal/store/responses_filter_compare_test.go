package store_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

const comparedForm = `{"fields": [
	{"key": "text", "kind": "short_text"}, {"key": "n", "kind": "number"}, {"key": "day", "kind": "date"}, {"key": "at", "kind": "datetime"},
	{"key": "yes", "kind": "yes_no"}, {"key": "one", "kind": "single_choice", "other": true, "options": [{"value": "a", "label": "A"}, {"value": "b", "label": "B"}]},
	{"key": "many", "kind": "multiple_choice", "options": [{"value": "a", "label": "A"}, {"value": "b", "label": "B"}]},
	{"key": "grid", "kind": "matrix", "rows": [{"value": "r1", "label": "R1"}], "options": [{"value": "a", "label": "A"}, {"value": "b", "label": "B"}]},
	{"key": "who", "kind": "name"}, {"key": "sum", "kind": "calculated", "expression": "n * 2"}]}`

// Every operator, on every type of answer, on both engines.
func TestCompareAnswers(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		p := openForm(t, s, owner, comparedForm)
		names := map[string]string{}
		for name, answers := range map[string]map[string]any{
			"1": {"text": "Red Lamp", "n": 5.0, "day": "2026-03-01", "at": "2026-03-01T10:00", "yes": true, "one": "a", "many": []string{"a", "b"}, "grid": map[string]any{"r1": "a"}, "who": map[string]any{"given": "Zoë", "family": "Ek"}, "sum": 10.0},
			"2": {"text": "lampshade", "n": 150.0, "day": "2026-03-02", "at": "2026-03-02T09:30", "yes": false, "one": "Something else", "many": []string{"b"}, "grid": map[string]any{"r1": "b"}, "who": map[string]any{"given": "Ann"}, "sum": 300.0},
			"3": {"n": -1.5, "sum": -3.0},
		} {
			r, err := s.SubmitResponse(ctx, store.Submission{Form: p, Answers: answers, At: time.Now()})
			if err != nil {
				t.Fatal(err)
			}
			names[r.ID] = name
		}
		found := func(filter store.ResponseFilter) string {
			t.Helper()
			list, _, err := s.Responses(ctx, owner, p.ID, filter, store.Page{Limit: 10})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range list {
				got = append(got, names[r.ID])
			}
			slices.Sort(got)
			return strings.Join(got, "")
		}
		for condition, want := range map[string]string{
			"text contains LAMP": "12", "text not_contains red": "23", "text equals lampshade": "2", "text not_equals lampshade": "13", "text answered ": "12", "text not_answered ": "3",
			"n equals 150": "2", "n not_equals 5": "23", "n greater 5": "2", "n at_least 5": "12", "n less 5": "3", "n at_most 5": "13", "n at_least -1.5": "123",
			"day equals 2026-03-01": "1", "day greater 2026-03-01": "2", "day at_least 2026-03-01": "12", "day less 2026-03-02": "1", "day at_most 2026-03-01": "1", "day not_equals 2026-03-01": "23",
			"at at_least 2026-03-02": "2", "at less 2026-03-02T09:30": "1",
			"yes equals true": "1", "yes equals false": "2", "yes not_answered ": "3",
			"one equals a": "1", "one not_equals a": "23", "one contains else": "2", "one not_contains else": "13",
			"many contains a": "1", "many contains b": "12", "many not_contains a": "23", "many equals b": "12",
			"grid.r1 equals a": "1", "grid.r1 not_equals a": "23", "grid.r1 answered ": "12",
			"who.given contains ZO": "1", "who.family not_answered ": "23", "sum greater 0": "12", "sum at_most -3": "3",
		} {
			part := strings.SplitN(condition, " ", 3)
			filters, err := s.AnswerFilters(ctx, owner, p.ID, []store.Comparison{{Field: part[0], Op: part[1], Value: part[2]}})
			if err != nil {
				t.Errorf("%s: %v", condition, err)
			} else if got := found(store.ResponseFilter{Answers: filters}); got != want {
				t.Errorf("%s: found %q, want %q", condition, got, want)
			}
		}
		both, err := s.AnswerFilters(ctx, owner, p.ID, []store.Comparison{{Field: "n", Op: form.AtLeast, Value: "5"}, {Field: "text", Op: form.NotContains, Value: "red"}})
		if err != nil || found(store.ResponseFilter{Answers: both}) != "2" {
			t.Errorf("two conditions find %q (%v)", found(store.ResponseFilter{Answers: both}), err)
		}
		for _, c := range []store.Comparison{
			{"nothing", "equals", "1"}, {"n", "equals", "many"}, {"n", "at_least", ""}, {"day", "less", "soon"}, {"text", "like", "x"}, {"text", "contains", ""}, {`grid.$"`, "equals", "a"}, {"text", "greater", "a"},
		} {
			if _, err := s.AnswerFilters(ctx, owner, p.ID, []store.Comparison{c}); !isFilterError(err) {
				t.Errorf("%v: %v", c, err)
			}
		}
		if _, err := s.AnswerFilters(ctx, owner, p.ID, make([]store.Comparison, store.MaxAnswerFilters+1)); !isFilterError(err) {
			t.Errorf("too many conditions: %v", err)
		}
		var ids []string
		for id := range names {
			ids = append(ids, id)
		}
		if got := found(store.ResponseFilter{IDs: append(ids[:2:2], "rsp_x", "' OR 1")}); len(got) != 2 || found(store.ResponseFilter{IDs: []string{}}) != "" {
			t.Errorf("two selected responses: %q", got)
		}
	})
}

func isFilterError(err error) bool {
	_, ok := errors.AsType[*store.FilterError](err)
	return ok
}

// A scan in parts finds what one search finds, in the same order, and says how far it is.
func TestScanInParts(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		p := openForm(t, s, owner, `{"fields": [{"key": "n", "kind": "number"}]}`)
		start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		var ids []string
		for n := range 2000 {
			r, err := s.SubmitResponse(ctx, store.Submission{Form: p, Answers: map[string]any{"n": float64(n % 100)}, At: start.Add(time.Duration(n) * time.Minute)})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, r.ID)
		}
		// Without these, few responses can be found by their serial.
		for n := 100; n < 900; n += 200 {
			if _, err := s.DeleteResponsesWithUndo(ctx, owner, p.ID, ids[n:n+190], start); err != nil {
				t.Fatal(err)
			}
		}
		rare, err := s.AnswerFilters(ctx, owner, p.ID, []store.Comparison{{Field: "n", Op: form.AtLeast, Value: "97"}})
		if err != nil {
			t.Fatal(err)
		}
		for name, filter := range map[string]store.ResponseFilter{
			"newest first": {Answers: rare}, "oldest first": {Answers: rare, Oldest: true}, "nothing": {Search: "nobody"},
			"a range":         {Answers: rare, Since: start.Add(5 * time.Hour), Until: start.Add(20 * time.Hour)},
			"an oldest range": {Since: start.Add(5 * time.Hour), Until: start.Add(20 * time.Hour), Oldest: true},
			"an empty range":  {Since: start.AddDate(1, 0, 0)},
		} {
			want, total, err := s.Responses(ctx, owner, p.ID, filter, store.Page{Limit: 5000})
			if err != nil {
				t.Fatal(err)
			}
			var got []form.Response
			var matches int64
			parts, done := 0, 0.0
			for scan := (store.Scan{Rows: 10, Budget: 1}); ; parts++ {
				part, err := s.ScanResponses(ctx, owner, p.ID, filter, scan)
				if err != nil || part.Done < done || parts > 200 {
					t.Fatalf("%s: part %d: %f after %f (%v)", name, parts, part.Done, done, err)
				}
				got, matches, done = append(got, part.Responses...), matches+part.Matches, part.Done
				if scan.From = part.Next; part.Next == "" {
					break
				}
				if scan.Rows = 10 - int64(len(got)); scan.Rows < 0 {
					scan.Rows = 0
				}
			}
			sum, err := s.SummarizeSome(ctx, owner, p.ID, store.SummaryQuery{Filter: filter})
			first, err2 := s.SummarizeSome(ctx, owner, p.ID, store.SummaryQuery{Filter: filter, Budget: 1})
			if err := errors.Join(err, err2); err != nil || sum.Responses != total || sum.Done != 1 || first.Responses > total || name == "newest first" && first.Done == 1 {
				t.Errorf("%s: a summary of %d, and %d (%f) in the first part, want %d (%v)", name, sum.Responses, first.Responses, first.Done, total, err)
			}
			if matches != total || done != 1 {
				t.Errorf("%s: %d of %d responses, done %f", name, matches, total, done)
			}
			if len(got) != min(10, len(want)) {
				t.Errorf("%s: %d responses, want %d", name, len(got), min(10, len(want)))
			}
			for i := range got {
				if got[i].ID != want[i].ID {
					t.Errorf("%s: response %d is %s, want %s", name, i, got[i].ID, want[i].ID)
				}
			}
			if total > 100 && parts == 0 {
				t.Errorf("%s: all in one part", name)
			}
		}
		// A page starts behind the last response of the one before.
		all, _, err := s.Responses(ctx, owner, p.ID, store.ResponseFilter{Answers: rare}, store.Page{Limit: 20})
		if err != nil {
			t.Fatal(err)
		}
		next, err := s.ScanResponses(ctx, owner, p.ID, store.ResponseFilter{Answers: rare}, store.Scan{From: all[9].ID, Rows: 10, Budget: time.Minute})
		if err != nil || len(next.Responses) != 10 || next.Responses[0].ID != all[10].ID || next.Next != "" {
			t.Errorf("page 2: %d responses, next %q (%v)", len(next.Responses), next.Next, err)
		}
		stranger := addUser(t, s, "bob@example.com").ID
		if _, err := s.ScanResponses(ctx, stranger, p.ID, store.ResponseFilter{}, store.Scan{Rows: 10, Budget: time.Minute}); err == nil {
			t.Error("another account can scan the responses")
		}
	})
}

// A short list is found whole, however slow the machine is.
func TestShortListsHaveOnePart(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		p := openForm(t, s, owner, `{"fields": [{"key": "n", "kind": "number"}]}`)
		const count = 100
		for n := range count {
			if _, err := s.SubmitResponse(ctx, store.Submission{Form: p, Answers: map[string]any{"n": float64(n)}, At: time.Now()}); err != nil {
				t.Fatal(err)
			}
		}
		for _, filter := range []store.ResponseFilter{{}, {Oldest: true}} {
			part, err := s.ScanResponses(ctx, owner, p.ID, filter, store.Scan{Rows: 10, Budget: 1})
			if err != nil || part.Matches != count || len(part.Responses) != 10 || part.Next != "" {
				t.Errorf("oldest %v: %d of %d responses, next %q (%v)", filter.Oldest, part.Matches, count, part.Next, err)
			}
		}
	})
}
