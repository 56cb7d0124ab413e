package delivery_test

import (
	"strings"
	"testing"
	"time"

	"formulary/internal/form"
	"formulary/internal/store"
)

func (w *fixture) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *fixture) edit(response, text string) {
	w.t.Helper()
	_, err := w.UpdateResponse(ctx, w.owner, store.ResponseKey{FormID: w.form.ID, ID: response}, func(*form.Definition, map[string]any) (map[string]any, error) {
		return map[string]any{"text": text}, nil
	}, time.Now())
	w.must(err)
}

// Everything that happens arrives in order, each with an ID of its own.
func TestEvents(t *testing.T) {
	forEachEngine(t, nil, func(t *testing.T, w *fixture) {
		to := receive(t, nil)
		w.hook(to.url, func(h *store.Webhook) { h.StrictOrder = true })
		w.dispatch()
		first := w.submit("first")
		w.until("created", func() bool { return len(to.all()) == 1 })
		w.edit(first, "edited")
		w.until("updated", func() bool { return len(to.all()) == 2 })
		_, err := w.DeleteResponsesWithUndo(ctx, w.owner, w.form.ID, []string{first}, time.Now())
		w.must(err)
		w.until("deleted", func() bool { return len(to.all()) == 3 })
		_, err = w.RestoreResponses(ctx, w.owner, w.form.ID, []string{first}, time.Now())
		w.must(err)
		_, err = w.CloseForm(ctx, w.owner, w.form.ID, 0, time.Now())
		w.must(err)
		_, err = w.ReopenForm(ctx, w.owner, w.form.ID, 0, time.Now())
		w.must(err)
		_, err = w.UpdateForm(ctx, w.owner, store.FormRevision{ID: w.form.ID}, func(p *form.FormInput) error {
			p.ResponseLimit = 2
			return nil
		}, time.Now())
		w.must(err)
		w.submit("second") // closes the form
		w.until("closed", func() bool { return len(to.all()) == 8 })
		_, err = w.UpdateForm(ctx, w.owner, store.FormRevision{ID: w.form.ID}, func(p *form.FormInput) error {
			p.Title, p.ResponseLimit, p.ClosesAt = "Renamed", 0, time.Now().Add(time.Hour)
			return nil
		}, time.Now())
		w.must(err)
		_, err = w.Publish(ctx, w.owner, store.FormRevision{ID: w.form.ID}, store.IdempotencyKey{}, time.Now())
		w.must(err)
		w.must(w.CloseExpiredForms(ctx, time.Now().Add(2*time.Hour)))
		w.until("all", func() bool { return len(to.all()) == 11 })
		const want = "response.created response.updated response.deleted response.restored form.closed form.opened response.created form.closed form.published form.opened form.closed"
		if got := to.kinds(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if got := strings.TrimSpace(to.texts()); got != "first edited  edited   second" {
			t.Errorf("answers: %q", got)
		}
		all := to.all()
		if deleted := all[2].response; len(deleted) != 1 || deleted["id"] != first {
			t.Errorf("of a deleted response: %v", deleted)
		}
		if all[4].response != nil || all[4].form["version"] != 1.0 || all[8].form["version"] != 2.0 || all[8].form["title"] != "Renamed" {
			t.Errorf("of the form: %v, %v, %v", all[4].response, all[4].form, all[8].form)
		}
		ids := map[string]bool{}
		for _, got := range all {
			ids[got.id] = true
		}
		if len(ids) != len(all) || all[0].id != "evt_"+first[4:] {
			t.Errorf("%d ids of %d events, the first is %s", len(ids), len(all), all[0].id)
		}
	})
}

// Between an event and its delivery the response and the form may change. Each case has one
// outcome.
func TestChangedMeanwhile(t *testing.T) {
	forEachEngine(t, nil, func(t *testing.T, w *fixture) {
		to := receive(t, nil)
		key := w.hook(to.url, nil)
		edited, deleted, restored := w.submit("before"), w.submit("deleted"), w.submit("restored")
		w.edit(edited, "after")
		w.edit(deleted, "gone anyway")
		w.must(w.DeleteResponse(ctx, w.owner, w.form.ID, deleted, time.Now()))
		_, err := w.DeleteResponsesWithUndo(ctx, w.owner, w.form.ID, []string{restored}, time.Now())
		w.must(err)
		_, err = w.RestoreResponses(ctx, w.owner, w.form.ID, []string{restored}, time.Now())
		w.must(err)
		w.dispatch()
		w.until("everything", func() bool { return len(to.all()) == 6 })
		got := map[string]int{}
		for _, r := range to.all() {
			got[r.kind+" "+r.text()]++
		}
		for _, want := range []string{"response.created after", "response.updated after", "response.created restored", "response.restored restored"} {
			if got[want] != 1 {
				t.Errorf("%s arrived %d times", want, got[want])
			}
		}
		if got["response.deleted "] != 2 {
			t.Errorf("%d deletions arrived", got["response.deleted "])
		}
		w.until("a log without what was skipped", func() bool { return len(w.deliveries(key, store.Delivered)) == 6 })

		// A form in the trash sends nothing, and goes on when it is restored.
		last := w.submit("in the trash")
		w.must(w.DeleteForm(ctx, w.owner, w.form.ID, 0, time.Now()))
		before := len(to.all())
		_, err = w.RestoreForm(ctx, w.owner, w.form.ID, time.Now())
		w.must(err)
		w.until("after the restoration", func() bool {
			all := to.all()
			return len(all) > 0 && all[len(all)-1].id == "evt_"+last[4:]
		})
		if n := len(to.all()); n > before+1 {
			t.Errorf("%d requests arrived after the restoration", n-before)
		}
	})
}

// Without a webhook nothing is stored about events. With one, they count for the account's
// storage, and are removed after a while, but not before they are delivered.
func TestEventsAreKeptForAWhile(t *testing.T) {
	forEachEngine(t, nil, func(t *testing.T, w *fixture) {
		used := func() int64 {
			t.Helper()
			u, err := w.Usage(ctx, w.owner)
			w.must(err)
			return u.Bytes
		}
		r := w.submit("text")
		empty := used()
		w.edit(r, "tent")
		if n := used(); n > empty+40 { // the time of the edit
			t.Errorf("an event without a reader takes %d", n-empty)
		}
		to := receive(t, nil)
		key := w.hook(to.url, nil)
		before := used()
		w.edit(r, "test")
		if n := used(); n <= before {
			t.Errorf("an event takes %d", n-before)
		}
		later := time.Now().Add(31 * 24 * time.Hour)
		w.must(w.Cleanup(ctx, later, time.Hour))
		if n := used(); n <= before {
			t.Error("it was removed before it was delivered")
		}
		w.dispatch()
		w.until("delivered", func() bool { return len(w.deliveries(key, store.Delivered)) == 1 })
		w.until("moved", func() bool {
			w.must(w.Cleanup(ctx, later, time.Hour))
			return used() == before
		})
		w.edit(r, "tests")
		w.must(w.DeleteWebhook(ctx, w.owner, key))
		w.must(w.Cleanup(ctx, later, time.Hour))
		if n := used(); n != before+1 {
			t.Errorf("without webhooks, old events take %d", n-before)
		}
	})
}
