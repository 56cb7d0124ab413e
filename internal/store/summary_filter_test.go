package store_test

import (
	"errors"
	"maps"
	"testing"
	"time"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// A filtered summary counts the same as a summary of only these responses, and crosses two
// questions.
func TestSummaryOfSome(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		p := openForm(t, s, owner, `{"fields": [{"id": "d", "key": "drink", "kind": "single_choice", "options": [{"value": "tea"}, {"value": "milk"}]},
			{"id": "f", "key": "food", "kind": "multiple_choice", "other": true, "options": [{"value": "rice"}, {"value": "soup"}]}, {"id": "n", "key": "nps", "kind": "scale", "min": 0, "max": 10}]}`)
		start := time.Date(2026, 5, 1, 22, 30, 0, 0, time.UTC)
		for i := range 30 {
			answers := map[string]any{"drink": []string{"tea", "milk"}[i%2], "food": []string{"rice", []string{"soup", "own idea"}[i%2]}, "nps": float64(i % 11)}
			if i%10 == 9 {
				delete(answers, "food")
			}
			if _, err := s.SubmitResponse(ctx, store.Submission{Form: p, Answers: answers, At: start.AddDate(0, 0, i/3)}); err != nil {
				t.Fatal(err)
			}
		}
		versions, err := s.Definitions(ctx, owner, p.ID)
		if err != nil {
			t.Fatal(err)
		}
		fields := versions[0].Fields
		teas, err := s.AnswerFilters(ctx, owner, p.ID, []store.Comparison{{Field: "drink", Op: form.Equals, Value: "tea"}})
		if err != nil {
			t.Fatal(err)
		}
		zone := time.FixedZone("east", 2*3600)
		progress := 0.0
		cross := form.NewCrossTab(fields[0], fields[1])
		sum, err := s.SummarizeSome(ctx, owner, p.ID, store.SummaryQuery{
			Filter: store.ResponseFilter{Answers: teas, Since: start.AddDate(0, 0, 1), Until: start.AddDate(0, 0, 5)}, Zone: zone, Cross: cross,
			Progress: func(share float64) error { progress = share; return nil },
		})
		if err != nil || sum.Done != 1 || progress != 1 {
			t.Fatalf("%v, done %v, progress %v", err, sum.Done, progress)
		}
		// Responses 3 to 14, of which the even ones drink tea, are a day later in the east.
		if want := map[string]int64{"2026-05-03": 1, "2026-05-04": 2, "2026-05-05": 1, "2026-05-06": 2}; sum.Responses != 6 || !maps.Equal(sum.Days, want) {
			t.Errorf("%d responses on %v, want %v", sum.Responses, sum.Days, want)
		}
		if want := map[string]int64{"tea": 6}; !maps.Equal(sum.Fields["d"].Counts, want) {
			t.Errorf("drinks are %v", sum.Fields["d"].Counts)
		}
		if want := map[[2]string]int64{{"tea", "rice"}: 6, {"tea", "soup"}: 6}; cross.Responses != 6 || !maps.Equal(cross.Counts, want) {
			t.Errorf("%d responses: %v", cross.Responses, cross.Counts)
		}

		cross = form.NewCrossTab(fields[1], fields[0])
		all, err := s.SummarizeSome(ctx, owner, p.ID, store.SummaryQuery{Cross: cross})
		if err != nil {
			t.Fatal(err)
		}
		whole, err := s.Summary(ctx, owner, p.ID)
		if err != nil || all.Responses != whole.Responses || !maps.Equal(all.Days, whole.Days) || !maps.Equal(all.Fields["n"].Counts, whole.Fields["n"].Counts) {
			t.Errorf("the summary of all differs (%v): %+v, %+v", err, all.Summary, whole)
		}
		rows, columns := cross.Lines(2, 5)
		if cross.Responses != 27 || len(rows) != 2 || rows[0] != (form.CrossLine{Value: "rice", Label: "rice", Total: 27}) || len(columns) != 2 {
			t.Errorf("%d responses, rows %v, columns %v", cross.Responses, rows, columns)
		}
		if n := cross.Counts[[2]string{form.OtherValue, "milk"}]; n != 12 {
			t.Errorf("%d other answers with milk, want 12", n)
		}

		// An error of Progress, such as a closed connection, stops it.
		stopped, calls := errors.New("stopped"), 0
		if _, err := s.SummarizeSome(ctx, owner, p.ID, store.SummaryQuery{Progress: func(float64) error { calls++; return stopped }}); !errors.Is(err, stopped) || calls != 1 {
			t.Errorf("after %d calls: %v", calls, err)
		}

		other := addUser(t, s, "bob@example.com").ID
		if _, err := s.SummarizeSome(ctx, other, p.ID, store.SummaryQuery{}); err == nil {
			t.Error("somebody else can read the summary")
		}
	})
}
