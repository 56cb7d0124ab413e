package store_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// eventKinds lists what happened to a form that has a webhook.
func eventKinds(t *testing.T, s *store.Store, owner, formID string) string {
	t.Helper()
	list, _, err := s.Events(ctx, owner, formID, store.EventRange{Limit: 100, Kinds: store.EventKinds})
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, e := range list {
		kinds = append(kinds, strings.TrimPrefix(string(e.Kind), "form."))
	}
	return strings.Join(kinds, " ")
}

// form.opened and form.closed alternate and say when a form begins and ends to accept
// responses, whatever the reason.
func TestOpeningEvents(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		now := time.Now().UTC().Truncate(time.Millisecond)
		hours := func(n int) time.Time { return now.Add(time.Duration(n) * time.Hour) }
		var formID string
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		publish := func(at time.Time) {
			t.Helper()
			_, err := s.Publish(ctx, owner, store.FormRevision{ID: formID}, store.IdempotencyKey{}, at)
			must(err)
		}
		change := func(at time.Time, change func(*form.FormInput)) {
			t.Helper()
			_, err := s.UpdateForm(ctx, owner, store.FormRevision{ID: formID}, func(in *form.FormInput) error {
				change(in)
				return nil
			}, at)
			must(err)
		}
		opens := func(at, opens time.Time) {
			t.Helper()
			change(at, func(in *form.FormInput) { in.OpensAt = opens })
		}
		closeForm := func(at time.Time) {
			t.Helper()
			_, err := s.CloseForm(ctx, owner, formID, 0, at)
			must(err)
		}
		sweep := func(at time.Time) {
			t.Helper()
			must(s.OpenDueForms(ctx, at))
			must(s.CloseExpiredForms(ctx, at))
		}
		for name, c := range map[string]struct {
			run  func()
			want string
		}{
			"at once": {func() { publish(now) }, "published opened"},
			"by itself, once": {func() {
				opens(now, hours(1))
				publish(now)
				sweep(hours(1).Add(-time.Millisecond))
				closeForm(now)
				_, err := s.ReopenForm(ctx, owner, formID, 0, now)
				must(err)
				sweep(hours(1))
				sweep(hours(2))
			}, "published opened"},
			"not yet swept when it is closed": {func() {
				opens(now, hours(1))
				publish(now)
				closeForm(hours(2))
				sweep(hours(3))
			}, "published opened closed"},
			"opened and closed while the service was down": {func() {
				change(now, func(in *form.FormInput) { in.OpensAt, in.ClosesAt = hours(1), hours(2) })
				publish(now)
				must(s.CloseExpiredForms(ctx, hours(3)))
			}, "published opened closed"},
			"closed before its opening": {func() {
				opens(now, hours(1))
				publish(now)
				closeForm(now)
				sweep(hours(2))
			}, "published"},
			"opening date moved": {func() {
				publish(now)
				opens(now, hours(1))
				opens(now, hours(2))
				sweep(hours(1))
				opens(hours(1), time.Time{})
				sweep(hours(3))
			}, "published opened closed opened"},
			"before the first response": {func() {
				opens(now, hours(1))
				publish(now)
				p, err := s.PublicForm(ctx, formID)
				must(err)
				for range 2 { // with a form that was cached before the first
					_, err = s.SubmitResponse(ctx, store.Submission{Form: p, Answers: map[string]any{"n": 1.0}, At: hours(1)})
					must(err)
				}
				sweep(hours(2))
			}, "published opened response.created response.created"},
			"in the trash": {func() {
				opens(now, hours(1))
				publish(now)
				must(s.DeleteForm(ctx, owner, formID, 0, now))
				sweep(hours(2))
				_, err := s.RestoreForm(ctx, owner, formID, hours(2))
				must(err)
				sweep(hours(2))
			}, "published opened"},
			"a limit that is reached": {func() {
				change(now, func(in *form.FormInput) { in.OpensAt, in.ResponseLimit = hours(1), 1 })
				publish(now)
				p, err := s.PublicForm(ctx, formID)
				must(err)
				_, err = s.SubmitResponse(ctx, store.Submission{Form: p, Answers: map[string]any{"n": 1.0}, At: hours(1)})
				must(err)
			}, "published opened response.created closed"},
		} {
			f, err := s.CreateForm(ctx, owner, form.Header{Title: name, Language: "en"}, define(t, small), now)
			must(err)
			formID = f.ID
			addWebhook(t, s, owner, formID)
			c.run()
			if got := eventKinds(t, s, owner, formID); got != c.want {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
		}
	})
}

// Of several nodes that find a form due, one stores the event.
func TestNodesOpenOnce(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, storage storetest.Storage) {
		nodes := []*store.Store{s, s}
		if s.MultiNode() {
			nodes[1] = storetest.Open(t, storage)
		}
		owner := addUser(t, s, "ada@example.com").ID
		p := openForm(t, s, owner, small)
		addWebhook(t, s, owner, p.ID)
		now := time.Now()
		updateForm(t, s, owner, p.ID, func(in *form.FormInput) { in.OpensAt = now.Add(time.Hour) })
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				if err := nodes[i%2].OpenDueForms(ctx, now.Add(2*time.Hour)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if got := eventKinds(t, s, owner, p.ID); got != "closed opened" {
			t.Error(got)
		}
	})
}
