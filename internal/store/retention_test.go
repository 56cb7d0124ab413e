package store_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"formulary/internal/fault"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// Old responses are deleted a week after the owner was told, and others stay.
func TestRetention(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		m := newMarksTest(t, s)
		other := addUser(t, s, "bob@example.com").ID
		kept := openForm(t, s, m.owner, small)
		if _, err := submit(s, kept, 1); err != nil {
			t.Fatal(err)
		}
		now := time.Now()
		day := func(n int) time.Time { return now.Add(time.Duration(n) * 24 * time.Hour) }
		apply := func(at time.Time) (left int64) {
			t.Helper()
			// Twice: what is due is done once.
			for range 2 {
				if err := s.ApplyRetention(ctx, at); err != nil {
					t.Fatal(err)
				}
			}
			f, err := s.Form(ctx, m.owner, m.form.ID)
			if err != nil {
				t.Fatal(err)
			}
			return f.ResponseCount
		}
		mails := func() string { return tableRows(t, s, "mail") }
		for _, days := range []int64{-1, store.MaxRetentionDays + 1} {
			if _, err := s.SetRetention(ctx, m.owner, m.form.ID, store.RetentionChange{Days: days}, now); fault.Wrap(err).Code != fault.Invalid {
				t.Errorf("%d days: %v", days, err)
			}
		}
		if _, err := s.SetRetention(ctx, other, m.form.ID, store.RetentionChange{Days: 1}, now); !errors.Is(err, fault.NotFound) {
			t.Errorf("by another owner: %v", err)
		}
		if _, err := s.AddNote(ctx, m.owner, m.key(0), store.NewNote{Author: m.owner, Text: "x"}, now); err != nil {
			t.Fatal(err)
		}
		if r, err := s.SetRetention(ctx, m.owner, m.form.ID, store.RetentionChange{Days: 30}, now); err != nil || r.Days != 30 || r.StartsAt.Before(day(6)) {
			t.Fatalf("%+v (%v)", r, err)
		}
		if n := apply(now); n != 5 || mails() != "0" {
			t.Errorf("at once: %d responses are left, %s mails", n, mails())
		}
		if n := apply(day(22)); n != 5 || mails() != "0" {
			t.Errorf("eight days before: %d responses are left, %s mails", n, mails())
		}
		if n := apply(day(24)); n != 5 || mails() != "1" {
			t.Errorf("six days before: %d responses are left, %s mails", n, mails())
		}
		rows, err := s.Rows(ctx, 2, `SELECT kind, data FROM mail`)
		if err != nil || rows[0][0] != "retention" || !strings.Contains(rows[0][1], m.form.ID) {
			t.Errorf("the mail is %v (%v)", rows, err)
		}
		if n := apply(day(30).Add(-time.Hour)); n != 5 {
			t.Errorf("before the day: %d responses are left", n)
		}
		if n := apply(day(31).Add(time.Hour)); n != 0 || mails() != "1" {
			t.Errorf("after the day: %d responses are left, %s mails", n, mails())
		}
		if r, err := s.Retention(ctx, m.owner, m.form.ID); err != nil || r.Deleted != 5 {
			t.Errorf("%+v (%v)", r, err)
		}
		if tableRows(t, s, "response_note") != "0" || tableRows(t, s, "response") != "1" {
			t.Errorf("%s notes and %s responses are left", tableRows(t, s, "response_note"), tableRows(t, s, "response"))
		}

		// A short time set for old responses still gives a week.
		if _, err := s.SetRetention(ctx, m.owner, kept.ID, store.RetentionChange{Days: 1}, day(60)); err != nil {
			t.Fatal(err)
		}
		left := func() int64 {
			f, err := s.Form(ctx, m.owner, kept.ID)
			if err != nil {
				t.Fatal(err)
			}
			return f.ResponseCount
		}
		apply(day(60))
		if apply(day(66)); left() != 1 || mails() != "2" {
			t.Errorf("within the week: %d responses are left, %s mails", left(), mails())
		}
		if apply(day(68)); left() != 0 {
			t.Errorf("after the week: %d responses are left", left())
		}
	})
}

// A clock that is wrong, or a service that was stopped for long, deletes nothing without another
// notice.
func TestRetentionAfterClockJump(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		m := newMarksTest(t, s)
		now := time.Now()
		day := func(n int) time.Time { return now.Add(time.Duration(n) * 24 * time.Hour) }
		apply := func(at time.Time) string {
			t.Helper()
			for range 2 {
				if err := s.ApplyRetention(ctx, at); err != nil {
					t.Fatal(err)
				}
			}
			return tableRows(t, s, "response") + " responses, " + tableRows(t, s, "mail") + " mails"
		}
		if _, err := s.SetRetention(ctx, m.owner, m.form.ID, store.RetentionChange{Days: 30}, now); err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct {
			at   int
			want string
		}{
			{24, "5 responses, 1 mails"},
			{3650, "5 responses, 2 mails"}, // the clock is ten years ahead
			{25, "5 responses, 3 mails"},   // and right again
			{31, "5 responses, 3 mails"},
			{33, "0 responses, 3 mails"},
		} {
			if got := apply(day(step.at)); got != step.want {
				t.Errorf("day %d: %s, want %s", step.at, got, step.want)
			}
		}
	})
}

// Once a change of the retention is confirmed, no more responses are deleted.
func TestRetentionChangedWhileDeleting(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		m := newMarksTest(t, s)
		for i := range 600 {
			if _, err := submit(s, m.form, i); err != nil {
				t.Fatal(err)
			}
		}
		now := time.Now()
		if _, err := s.SetRetention(ctx, m.owner, m.form.ID, store.RetentionChange{Days: 1}, now); err != nil {
			t.Fatal(err)
		}
		if err := s.ApplyRetention(ctx, now); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- s.ApplyRetention(ctx, now.Add(8*24*time.Hour)) }()
		for tableRows(t, s, "response") == "605" {
			select {
			case err := <-done:
				if n := tableRows(t, s, "response"); n == "605" {
					t.Fatalf("nothing was deleted (%v)", err)
				}
				done <- err
			case <-time.After(time.Millisecond):
			}
		}
		if _, err := s.SetRetention(ctx, m.owner, m.form.ID, store.RetentionChange{Days: 0}, now); err != nil {
			t.Fatal(err)
		}
		left := tableRows(t, s, "response")
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if got := tableRows(t, s, "response"); got != left {
			t.Errorf("%s responses are left, and later %s", left, got)
		}
	})
}

func TestDuplicateKeepsRetention(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		m := newMarksTest(t, s)
		now := time.Now()
		if _, err := s.SetRetention(ctx, m.owner, m.form.ID, store.RetentionChange{Days: 30}, now.Add(-100*24*time.Hour)); err != nil {
			t.Fatal(err)
		}
		f, err := s.DuplicateForm(ctx, m.owner, m.form.ID, store.IdempotencyKey{}, now)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := s.Retention(ctx, m.owner, f.ID); err != nil || r.Days != 30 || r.StartsAt.Before(now) || r.Deleted != 0 {
			t.Errorf("%+v (%v)", r, err)
		}
	})
}
