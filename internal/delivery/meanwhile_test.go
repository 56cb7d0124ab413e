package delivery_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"formulary/internal/form"
	"formulary/internal/store"
)

// retried is a webhook whose first attempts have failed. The next ones follow when again is
// called.
type retried struct {
	*fixture
	to    *receiver
	key   store.WebhookKey
	up    atomic.Bool
	later atomic.Bool // it is two hours later
	tried int         // requests before again
}

// forRetries runs a test on every engine, with a webhook that fails until it is tried again.
func forRetries(t *testing.T, events []store.EventKind, test func(t *testing.T, w *retried)) {
	t.Helper()
	forEachEngine(t, []time.Duration{time.Hour}, func(t *testing.T, f *fixture) {
		w := &retried{fixture: f}
		w.to = receive(t, func(http.ResponseWriter, request) int {
			if w.up.Load() {
				return 200
			}
			return 500
		})
		w.key = w.hook(w.to.url, func(h *store.Webhook) { h.Events = events })
		w.config.Now = func() time.Time {
			if w.later.Load() {
				return time.Now().Add(2 * time.Hour)
			}
			return time.Now()
		}
		w.dispatch()
		test(t, w)
	})
}

// fail submits a response and waits until its first attempt has failed.
func (w *retried) fail(text string) (response string) {
	w.t.Helper()
	response = w.submit(text)
	w.pending(1)
	return response
}

func (w *retried) pending(n int) {
	w.t.Helper()
	w.until("pending", func() bool { return len(w.deliveries(w.key, store.DeliveryPending)) == n })
}

// again lets the receiver work when the second attempts are due.
func (w *retried) again() {
	w.tried = len(w.to.all())
	w.up.Store(true)
	w.later.Store(true)
}

// arrives checks what arrives after again: the types and answers of events, in any order. An
// event may arrive twice, with one ID. The log has as many deliveries, and none is left.
func (w *retried) arrives(want ...string) {
	w.t.Helper()
	w.until("everything", func() bool {
		h := w.read(w.key)
		return len(w.deliveries(w.key, store.Delivered)) == len(want) && h.Pending == 0
	})
	missing := map[string]int{}
	for _, event := range want {
		missing[event]++
	}
	seen := map[string]bool{}
	for _, got := range w.to.all()[w.tried:] {
		if seen[got.id] {
			continue
		}
		seen[got.id] = true
		event := got.kind
		if text := got.text(); text != "" {
			event += " " + text
		}
		if missing[event]--; missing[event] < 0 {
			w.t.Errorf("%s arrived", event)
		}
	}
	for event, n := range missing {
		if n > 0 {
			w.t.Errorf("%s did not arrive", event)
		}
	}
}

func TestEditedBeforeRetry(t *testing.T) {
	forRetries(t, store.EventKinds, func(t *testing.T, w *retried) {
		response := w.fail("before")
		w.edit(response, "after")
		w.pending(2)
		w.again()
		w.arrives("response.created after", "response.updated after")
	})
}

func TestDeletedBeforeRetry(t *testing.T) {
	forRetries(t, store.EventKinds, func(t *testing.T, w *retried) {
		response := w.fail("text")
		w.edit(response, "edited")
		w.pending(2)
		w.must(w.DeleteResponse(ctx, w.owner, w.form.ID, response, time.Now()))
		w.pending(3)
		w.again()
		w.arrives("response.deleted")
	})
}

func TestRestoredBeforeRetry(t *testing.T) {
	forRetries(t, store.EventKinds, func(t *testing.T, w *retried) {
		response := w.fail("text")
		_, err := w.DeleteResponsesWithUndo(ctx, w.owner, w.form.ID, []string{response}, time.Now())
		w.must(err)
		_, err = w.RestoreResponses(ctx, w.owner, w.form.ID, []string{response}, time.Now())
		w.must(err)
		w.pending(3)
		w.again()
		w.arrives("response.created text", "response.deleted", "response.restored text")
	})
}

// A webhook for new responses only does not learn of one that was deleted when it was due and
// restored later.
func TestRestoredAfterRetry(t *testing.T) {
	forRetries(t, []store.EventKind{store.ResponseCreated}, func(t *testing.T, w *retried) {
		response := w.fail("text")
		_, err := w.DeleteResponsesWithUndo(ctx, w.owner, w.form.ID, []string{response}, time.Now())
		w.must(err)
		w.again()
		w.arrives()
		_, err = w.RestoreResponses(ctx, w.owner, w.form.ID, []string{response}, time.Now())
		w.must(err)
		w.submit("next")
		w.arrives("response.created next")
	})
}

// What a closed form has received is delivered, with the title and the version that the form
// has now.
func TestClosedAndChangedBeforeRetry(t *testing.T) {
	forRetries(t, store.EventKinds, func(t *testing.T, w *retried) {
		w.fail("text")
		_, err := w.UpdateForm(ctx, w.owner, store.FormRevision{ID: w.form.ID}, func(p *form.FormInput) error {
			p.Title = "Renamed"
			return nil
		}, time.Now())
		w.must(err)
		_, err = w.Publish(ctx, w.owner, store.FormRevision{ID: w.form.ID}, store.IdempotencyKey{}, time.Now())
		w.must(err)
		_, err = w.CloseForm(ctx, w.owner, w.form.ID, 0, time.Now())
		w.must(err)
		w.pending(3)
		w.again()
		w.arrives("response.created text", "form.published", "form.closed")
		for _, got := range w.to.all()[w.tried:] {
			if got.form["title"] != "Renamed" || got.form["version"] != 2.0 {
				t.Errorf("%s has the form %v", got.kind, got.form)
			}
		}
	})
}

// A form in the trash sends nothing, although retries are due. They follow when the form is
// restored.
func TestTrashedBeforeRetry(t *testing.T) {
	forRetries(t, store.EventKinds, func(t *testing.T, w *retried) {
		w.fail("text")
		w.must(w.DeleteForm(ctx, w.owner, w.form.ID, 0, time.Now()))
		w.again()
		w.lookedAt()
		if n := len(w.to.all()); n != w.tried {
			t.Errorf("%d requests from the trash", n-w.tried)
		}
		_, err := w.RestoreForm(ctx, w.owner, w.form.ID, time.Now())
		w.must(err)
		w.arrives("response.created text")
	})
}

// lookedAt waits until the events of another form of the account are delivered.
func (w *retried) lookedAt() {
	w.t.Helper()
	before := w.form
	w.form = w.open()
	to := receive(w.t, nil)
	w.hook(to.url, nil)
	w.submit("of another form")
	w.until("delivered", func() bool { return len(to.all()) == 1 })
	w.form = before
}

// With a form that is deleted for good, its webhooks and what they had to deliver are gone.
func TestPurgedBeforeRetry(t *testing.T) {
	forRetries(t, store.EventKinds, func(t *testing.T, w *retried) {
		w.fail("text")
		w.must(w.DeleteForm(ctx, w.owner, w.form.ID, 0, time.Now()))
		w.must(w.Cleanup(ctx, time.Now().Add(2*time.Hour), time.Hour))
		w.again()
		w.lookedAt()
		if n := len(w.to.all()); n != w.tried {
			t.Errorf("%d requests of a form that is gone", n-w.tried)
		}
	})
}

// A webhook that is deleted sends nothing more.
func TestWebhookDeletedBeforeRetry(t *testing.T) {
	forRetries(t, store.EventKinds, func(t *testing.T, w *retried) {
		w.fail("text")
		w.must(w.DeleteWebhook(ctx, w.owner, w.key))
		w.again()
		w.lookedAt()
		if n := len(w.to.all()); n != w.tried {
			t.Errorf("%d requests of a webhook that is gone", n-w.tried)
		}
	})
}
