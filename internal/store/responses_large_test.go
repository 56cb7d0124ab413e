package store_test

import (
	"strings"
	"testing"
	"time"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// Responses that together exceed the memory of a page can still be found, deleted, restored and
// marked, in several transactions.
func TestManyLargeResponses(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		const many = 40
		owner := addUser(t, s, "ada@example.com").ID
		p := openForm(t, s, owner, `{"fields": [{"key": "t", "kind": "long_text", "label": "Text"}]}`)
		var ids []string
		for range many {
			r, err := s.SubmitResponse(ctx, store.Submission{Form: p, Answers: map[string]any{"t": strings.Repeat("x", form.MaxAnswers-1000)}, At: time.Now()})
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, r.ID)
		}
		count := func(want int64) {
			t.Helper()
			f, err := s.Form(ctx, owner, p.ID)
			if err != nil || f.ResponseCount != want {
				t.Errorf("%d responses (%v), want %d", f.ResponseCount, err, want)
			}
		}
		filter := store.ResponseFilter{Search: "xx"}
		found, err := s.ScanResponses(ctx, owner, p.ID, filter, store.Scan{Rows: 100, Budget: time.Minute})
		if err != nil || found.Matches != many || found.Next != "" || len(found.Responses) < 20 || len(found.Responses) == many {
			t.Errorf("found %d of %d, next %q (%v)", len(found.Responses), found.Matches, found.Next, err)
		}
		starred := true
		n, err := s.MarkResponses(ctx, owner, p.ID, ids, store.MarkChange{Starred: &starred, Add: []string{"a", "b"}})
		if err != nil || n != many {
			t.Errorf("marked %d (%v)", n, err)
		}
		before, err := s.Usage(ctx, owner)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if n, err := s.DeleteResponsesWithUndo(ctx, owner, p.ID, append(ids, ids...), time.Now()); err != nil || n != many {
				t.Errorf("deleted %d (%v)", n, err)
			}
			count(0)
			if n, err := s.RestoreResponses(ctx, owner, p.ID, append(ids, ids...), time.Now()); err != nil || n != many {
				t.Errorf("restored %d (%v)", n, err)
			}
			count(many)
		}
		if after, err := s.Usage(ctx, owner); err != nil || after.Bytes != before.Bytes {
			t.Errorf("%d bytes are used, before %d (%v)", after.Bytes, before.Bytes, err)
		}
		if totals, err := s.MarkTotals(ctx, owner, p.ID); err != nil || totals.Starred != many || len(totals.Tags) != 2 || totals.Tags[1].Responses != many {
			t.Errorf("%+v (%v)", totals, err)
		}
		if n, err := s.DeleteResponses(ctx, owner, p.ID, filter, time.Now()); err != nil || n != many {
			t.Errorf("deleted %d for good (%v)", n, err)
		}
		count(0)
	})
}

// A change that is not possible for one response changes none.
func TestMarkAllOrNone(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		m := newMarksTest(t, s)
		var tags []string
		for i := range form.MaxTags {
			tags = append(tags, strings.Repeat("t", i+1))
		}
		m.mark(store.MarkChange{Tags: &tags}, 4)
		before := m.totals()
		if _, err := s.MarkResponses(ctx, m.owner, m.form.ID, m.ids, store.MarkChange{Status: form.ResponseDone, Add: []string{"more"}}); err == nil {
			t.Error("a response has too many tags")
		}
		if after := m.totals(); after != before {
			t.Errorf("%s, before %s", after, before)
		}
	})
}
