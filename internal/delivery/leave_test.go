package delivery_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/id"
	"formulary/internal/store"
)

// ofAnother delivers an event of another account whose webhook is new: the dispatcher has then
// looked for accounts that have webhooks.
func (w *fixture) ofAnother(email string) {
	w.t.Helper()
	owner, f := w.owner, w.form
	defer func() { w.owner, w.form = owner, f }()
	now := time.Now()
	user, err := w.AddUser(ctx, account.User{ID: id.New(id.User, now), Email: email, Language: "en", Password: "not a hash", CreatedAt: now})
	if err != nil {
		w.t.Fatal(err)
	}
	w.owner = user.ID
	w.form = w.open()
	to := receive(w.t, nil)
	w.hook(to.url, nil)
	w.submit("of another")
	w.until("delivered", func() bool { return len(to.all()) == 1 })
}

// An account that this node stops to deliver for, and delivers for again, has requests in flight.
// They are not repeated.
func TestReturnWhileInFlight(t *testing.T) {
	forEachEngine(t, nil, func(t *testing.T, w *fixture) {
		release := make(chan struct{})
		open := sync.OnceFunc(func() { close(release) })
		defer open()
		to := receive(t, func(_ http.ResponseWriter, got request) int {
			if got.text() == "first" {
				<-release
			}
			return 204
		})
		key := w.hook(to.url, nil)
		w.dispatch()
		w.submit("first")
		w.until("in flight", func() bool { return len(to.all()) == 1 })
		set := func(status store.WebhookStatus) {
			t.Helper()
			change := store.WebhookChange{Apply: func(h *store.Webhook) error { h.Status = status; return nil }}
			if _, err := w.UpdateWebhook(ctx, w.owner, key, change, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		set(store.WebhookPaused)
		w.ofAnother("bob@example.com")
		set(store.WebhookActive)
		w.submit("second")
		w.ofAnother("eve@example.com")
		open()
		w.until("second", func() bool { return len(w.deliveries(key, store.Delivered)) == 2 })
		if got := to.texts(); got != "first second" {
			t.Errorf("arrived: %s", got)
		}
	})
}
