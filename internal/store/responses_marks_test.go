package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// marksTest is a form with five responses.
type marksTest struct {
	*testing.T
	s     *store.Store
	owner string
	form  *store.PublicForm
	ids   []string
}

func newMarksTest(t *testing.T, s *store.Store) *marksTest {
	m := &marksTest{T: t, s: s, owner: addUser(t, s, "ada@example.com").ID}
	m.form = openForm(t, s, m.owner, small)
	for i := range 5 {
		r, err := submit(s, m.form, i)
		if err != nil {
			t.Fatal(err)
		}
		m.ids = append(m.ids, r.ID)
	}
	return m
}

func (m *marksTest) key(i int) store.ResponseKey {
	return store.ResponseKey{FormID: m.form.ID, ID: m.ids[i]}
}

func (m *marksTest) mark(change store.MarkChange, numbers ...int) {
	m.Helper()
	var ids []string
	for _, i := range numbers {
		ids = append(ids, m.ids[i])
	}
	if _, err := m.s.MarkResponses(ctx, m.owner, m.form.ID, ids, change); err != nil {
		m.Fatal(err)
	}
}

// totals returns the totals as text, and checks them against the responses.
func (m *marksTest) totals() string {
	m.Helper()
	totals, err := m.s.MarkTotals(ctx, m.owner, m.form.ID)
	if err != nil {
		m.Fatal(err)
	}
	list, _, err := m.s.Responses(ctx, m.owner, m.form.ID, store.ResponseFilter{}, store.Page{Limit: 100})
	if err != nil {
		m.Fatal(err)
	}
	var counted store.MarkTotals
	tags := map[string]int64{}
	for _, r := range list {
		switch r.Marks.Status {
		case form.ResponseNew:
			counted.New++
		case form.ResponseRead:
			counted.Read++
		case form.ResponseDone:
			counted.Done++
		}
		if r.Marks.Starred {
			counted.Starred++
		}
		for _, tag := range r.Marks.TagList() {
			tags[tag]++
		}
	}
	for name, n := range tags {
		counted.Tags = append(counted.Tags, store.TagTotal{Name: name, Responses: n})
	}
	slices.SortFunc(counted.Tags, func(a, b store.TagTotal) int { return strings.Compare(form.TagKey(a.Name), form.TagKey(b.Name)) })
	text := fmt.Sprint(totals)
	if text != fmt.Sprint(counted) {
		m.Errorf("the totals are %s, but the responses have %v", text, counted)
	}
	return text
}

func TestMarks(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		m := newMarksTest(t, s)
		yes, no := true, false
		expect := func(what, want string) {
			t.Helper()
			if got := m.totals(); got != want {
				t.Errorf("%s: %s instead of %s", what, got, want)
			}
		}
		empty := usedBytes(t, s, m.owner)
		m.mark(store.MarkChange{Opened: true}, 0, 1, 2)
		m.mark(store.MarkChange{Status: form.ResponseDone, Starred: &yes}, 1)
		m.mark(store.MarkChange{Opened: true}, 1) // stays done
		expect("opened and done", "{2 2 1 1 []}")
		m.mark(store.MarkChange{Add: []string{" Urgent ", "gift  box", "urgent"}}, 1, 2)
		m.mark(store.MarkChange{Add: []string{"URGENT"}}, 3)
		expect("tagged", "{2 2 1 1 [{gift box 2} {Urgent 3}]}")
		r, err := s.Response(ctx, m.owner, m.form.ID, m.ids[3])
		if err != nil || strings.Join(r.Marks.TagList(), ",") != "Urgent" {
			t.Errorf("the spelling of the first tag is kept: %v (%v)", r.Marks, err)
		}
		m.mark(store.MarkChange{Starred: &no, Remove: []string{"Gift Box"}}, 1)
		m.mark(store.MarkChange{Tags: &[]string{"later"}, Status: form.ResponseNew}, 2)
		expect("changed", "{3 1 1 0 [{later 1} {Urgent 2}]}")

		// Deleted responses count nowhere, and get their marks back.
		if _, err := s.AddNote(ctx, m.owner, m.key(1), store.NewNote{Author: m.owner, Text: "Call back"}, time.Now()); err != nil {
			t.Fatal(err)
		}
		full := usedBytes(t, s, m.owner)
		if full <= empty {
			t.Errorf("tags and notes count for nothing: %d, then %d bytes", empty, full)
		}
		if _, err := s.DeleteResponsesWithUndo(ctx, m.owner, m.form.ID, m.ids[1:3], time.Now()); err != nil {
			t.Fatal(err)
		}
		expect("deleted", "{2 1 0 0 [{Urgent 1}]}")
		if n := usedBytes(t, s, m.owner); n != full {
			t.Errorf("deleted responses count for %d instead of %d bytes", n, full)
		}
		if _, err := s.RestoreResponses(ctx, m.owner, m.form.ID, m.ids[1:3], time.Now()); err != nil {
			t.Fatal(err)
		}
		expect("restored", "{3 1 1 0 [{later 1} {Urgent 2}]}")
		if notes, err := s.Notes(ctx, m.owner, m.key(1)); err != nil || len(notes) != 1 || notes[0].Text != "Call back" {
			t.Errorf("notes after restoring: %v (%v)", notes, err)
		}
		if n := usedBytes(t, s, m.owner); n != full {
			t.Errorf("restored responses count for %d instead of %d bytes", n, full)
		}

		// Neither the feed nor an event tells of marks.
		page, err := s.Feed(ctx, m.owner, m.form.ID, store.ResponseFilter{}, store.FeedPage{Limit: 10})
		if err != nil || len(page.Responses) != 5 {
			t.Fatalf("the feed: %v (%v)", page, err)
		}
		for _, r := range page.Responses {
			if strings.Contains(string(r.AppendJSON(nil)), `"status"`) {
				t.Errorf("the feed has marks: %s", r.AppendJSON(nil))
			}
		}
		for _, id := range m.ids {
			if err := s.DeleteResponse(ctx, m.owner, m.form.ID, id, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		for _, table := range []string{"response_tag", "response_note", "form_mark"} {
			if rows := tableRows(t, s, table); rows != "0" {
				t.Errorf("%s keeps %s rows of deleted responses", table, rows)
			}
		}
	})
}

func TestMarksAreBounded(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		m := newMarksTest(t, s)
		other := addUser(t, s, "bob@example.com").ID
		mark := func(owner string, change store.MarkChange) error {
			_, err := s.MarkResponses(ctx, owner, m.form.ID, m.ids[:1], change)
			return err
		}
		many := func(n int) (tags []string) {
			for i := range n {
				tags = append(tags, fmt.Sprintf("tag %d of %d", i, n))
			}
			return tags
		}
		for what, err := range map[string]error{
			"another owner":      mark(other, store.MarkChange{Status: form.ResponseDone}),
			"a note of another":  secondError(s.AddNote(ctx, other, m.key(0), store.NewNote{Author: other, Text: "x"}, time.Now())),
			"notes of another":   secondError(s.Notes(ctx, other, m.key(0))),
			"totals of another":  secondError(s.MarkTotals(ctx, other, m.form.ID)),
			"totals of bad text": secondError(s.MarkTotals(ctx, m.owner, "\xff")),
		} {
			if !errors.Is(err, fault.NotFound) {
				t.Errorf("%s: %v", what, err)
			}
		}
		for what, change := range map[string]store.MarkChange{
			"a status": {Status: "open"}, "many tags": {Add: many(21)}, "very many tags": {Add: many(10_000)}, "an empty tag": {Add: []string{" "}},
			"a long tag": {Add: []string{strings.Repeat("é", 41)}}, "a comma": {Add: []string{"a,b"}}, "bad text": {Add: []string{"\xff"}}, "a turned tag": {Add: []string{"a\u202eb"}},
		} {
			if err := mark(m.owner, change); fault.Wrap(err).Code != fault.Invalid {
				t.Errorf("%s: %v", what, err)
			}
		}
		// A form has a limited number of different tags.
		var last error
		for i := range form.MaxFormTags/form.MaxTags + 1 {
			r, err := submit(s, m.form, i)
			if err != nil || last != nil {
				t.Fatalf("response %d: %v, %v", i, err, last)
			}
			tags := many(form.MaxTags)
			for j := range tags {
				tags[j] = fmt.Sprintf("%d %s", i, tags[j])
			}
			_, last = s.MarkResponses(ctx, m.owner, m.form.ID, []string{r.ID}, store.MarkChange{Tags: &tags})
		}
		if fault.Wrap(last).Code != fault.QuotaReached {
			t.Errorf("tags beyond the limit of a form: %v", last)
		}
		for i := range form.MaxNotes {
			if _, err := s.AddNote(ctx, m.owner, m.key(0), store.NewNote{Author: m.owner, Text: fmt.Sprint(i)}, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.AddNote(ctx, m.owner, m.key(0), store.NewNote{Author: m.owner, Text: "one more"}, time.Now()); fault.Wrap(err).Code != fault.QuotaReached {
			t.Errorf("a note beyond the limit: %v", err)
		}
		notes, err := s.Notes(ctx, m.owner, m.key(0))
		if err != nil || len(notes) != form.MaxNotes {
			t.Fatalf("%d notes (%v)", len(notes), err)
		}
		if err := s.DeleteNote(ctx, m.owner, m.key(1), notes[0].ID); !errors.Is(err, fault.NotFound) {
			t.Errorf("a note of another response: %v", err)
		}
		if err := s.DeleteNote(ctx, other, m.key(0), notes[0].ID); !errors.Is(err, fault.NotFound) {
			t.Errorf("a note of another owner: %v", err)
		}
		before := usedBytes(t, s, m.owner)
		if _, err := s.UpdateNote(ctx, m.owner, m.key(0), store.NoteChange{ID: notes[0].ID, Text: "longer"}, time.Now()); err != nil || usedBytes(t, s, m.owner) != before+5 {
			t.Errorf("a longer note: %d, then %d bytes (%v)", before, usedBytes(t, s, m.owner), err)
		}
		if err := s.DeleteNote(ctx, m.owner, m.key(0), notes[0].ID); err != nil || usedBytes(t, s, m.owner) >= before {
			t.Errorf("a deleted note: %d, then %d bytes (%v)", before, usedBytes(t, s, m.owner), err)
		}
	})
}
