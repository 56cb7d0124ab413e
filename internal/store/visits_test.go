package store_test

import (
	"fmt"
	"testing"
	"time"

	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

const twoPages = `{"fields": [{"id": "a", "key": "a", "kind": "short_text"}, {"id": "p", "key": "p", "kind": "page_break", "label": "More"}, {"id": "b", "key": "b", "kind": "short_text"}]}`

var (
	opened   = store.Visit{Kind: store.VisitOpened}
	second   = []store.Visit{{Kind: store.VisitPassed}, {Kind: store.VisitReached, Part: "p"}}
	finished = []store.Visit{{Kind: store.VisitPassed, Part: "p"}, {Kind: store.VisitFinished}, {Kind: store.VisitTime, Part: "40"}}
)

// describe shows how many visits opened and finished, and how many reached each screen and
// left there.
func describe(d store.DropOff) string {
	text := fmt.Sprintf("%d/%d", d.Finished, d.Opened)
	for _, screen := range d.Screens {
		text += fmt.Sprintf(" %d-%d", screen.Reached, screen.Left)
	}
	return text
}

// Counts of several nodes add up, are kept by day and version, and end with the form.
func TestVisits(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, storage storetest.Storage) {
		owner, bob := addUser(t, s, "ada@example.com").ID, addUser(t, s, "bob@example.com").ID
		p := openForm(t, s, owner, twoPages)
		now := time.Now()
		yesterday := now.AddDate(0, 0, -1)
		for range 3 { // of each node
			node := storetest.Open(t, storage)
			node.CountVisit(p, now, opened)
			node.CountVisit(p, now, opened)
			node.CountVisit(p, now, second...)
			node.CountVisit(p, yesterday, opened)
			node.Close()
		}
		s.CountVisit(p, now, finished...)
		read := func(since, until time.Time) store.DropOff {
			t.Helper()
			d, err := s.DropOff(ctx, owner, p.ID, since, until)
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		all := func() string { return describe(read(time.Time{}, time.Time{})) }
		s.StoreVisits()
		if want := "1/9 9-6 3-2"; all() != want {
			t.Fatalf("all days: %s, want %s", all(), want)
		}
		today := now.UTC().Truncate(24 * time.Hour)
		for name, c := range map[string]struct {
			since, until time.Time
			want         string
		}{
			"today": {today, time.Time{}, "1/6 6-3 3-2"}, "yesterday": {today.AddDate(0, 0, -1), today, "0/3 3-3 0-0"}, "part of a day": {today, today.Add(time.Minute), "1/6 6-3 3-2"},
		} {
			if got := describe(read(c.since, c.until)); got != c.want {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
		}
		if d := read(today, time.Time{}); d.Median < 45*time.Second || d.Median > 50*time.Second {
			t.Errorf("the median is %s", d.Median)
		}
		if d, err := s.DropOff(ctx, bob, p.ID, time.Time{}, time.Time{}); err == nil {
			t.Errorf("of another account: %+v", d)
		}
		// A version with the same pages adds to them; with others they start again.
		p = republish(t, s, p, `{"fields": [{"id": "a", "key": "a", "kind": "number"}, {"id": "p", "key": "p", "kind": "page_break"}, {"id": "b", "key": "b", "kind": "short_text"}]}`)
		s.CountVisit(p, now, opened)
		s.StoreVisits()
		if want := "1/10 10-7 3-2"; all() != want {
			t.Errorf("same pages: %s, want %s", all(), want)
		}
		p = republish(t, s, p, `{"fields": [{"id": "a", "key": "a", "kind": "number"}], "settings": {"forget_visits": true}}`)
		if d := read(time.Time{}, time.Time{}); describe(d) != "1/10 0-0" || d.OtherScreens != 10 || d.Counted {
			t.Errorf("other pages: %s, %+v", describe(d), d)
		}
		if err := s.DeleteForm(ctx, owner, p.ID, 0, now); err != nil {
			t.Fatal(err)
		}
		if err := s.Cleanup(ctx, now.AddDate(0, 2, 0), time.Hour); err != nil {
			t.Fatal(err)
		}
		s.CountVisit(p, now, opened) // by a node that does not know yet
		s.StoreVisits()
		if rows := tableRows(t, s, "form_visit"); rows != "0" {
			t.Errorf("%s rows are left", rows)
		}
	})
}

// Counters in memory are bounded, and old ones are dropped from the database.
func TestVisitBounds(t *testing.T) {
	s := storetest.Open(t, storetest.SQLite(t))
	owner := addUser(t, s, "ada@example.com").ID
	p := openForm(t, s, owner, small)
	now := time.Now()
	old := store.Visit{Kind: store.VisitOpened}
	s.CountVisit(p, now.AddDate(-3, 0, 0), old)
	s.StoreVisits()
	if rows := tableRows(t, s, "form_visit"); rows != "1" {
		t.Fatalf("%s rows", rows)
	}
	for n := range store.MaxVisitCounters + 10 {
		s.CountVisit(&store.PublicForm{Owner: owner, ID: fmt.Sprint("frm_", n), Version: 1}, now, old)
	}
	if n := s.PendingVisits(); n > store.MaxVisitCounters {
		t.Errorf("%d counters in memory", n)
	}
	s.DiscardVisits()
	s.CountVisit(p, now, old)
	s.StoreVisits()
	if d, err := s.DropOff(ctx, owner, p.ID, time.Time{}, time.Time{}); err != nil || d.Opened != 1 {
		t.Errorf("after three years: %+v (%v)", d, err)
	}
}
