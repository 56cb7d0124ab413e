package delivery_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/delivery"
	"formulary/internal/store"
)

// quick is a schedule for tests.
var quick = []time.Duration{10 * time.Millisecond, 20 * time.Millisecond, 30 * time.Millisecond}

// A failed delivery is tried again until it succeeds. It keeps its ID, and the log has one
// entry with the last attempt.
func TestRetry(t *testing.T) {
	forEachEngine(t, quick, func(t *testing.T, w *fixture) {
		var n atomic.Int64
		to := receive(t, func(rw http.ResponseWriter, _ request) int {
			switch n.Add(1) {
			case 1:
				rw.Header().Set("Content-Type", "text/plain")
				return 500
			case 2:
				return 404 // a deployment, perhaps
			}
			return 200
		})
		key := w.hook(to.url, nil)
		w.dispatch()
		id := w.submit("once")
		w.until("delivered", func() bool { return len(w.deliveries(key, store.Delivered)) == 1 })
		d := w.deliveries(key, "")[0]
		if d.Attempt != 3 || d.ResponseStatus != 200 || d.Error != "" || d.ResponseID != id || !d.LastAt.After(d.FirstAt) || !d.NextAt.IsZero() {
			t.Errorf("%+v", d)
		}
		for _, got := range to.all() {
			if got.id != "evt_"+id[4:] {
				t.Errorf("an attempt has the id %s", got.id)
			}
		}
		if h := w.read(key); h.Pending != 0 || !h.FailingSince.IsZero() || h.Status != store.WebhookActive {
			t.Errorf("%+v", h)
		}
	})
}

// The times between attempts are those of the contract, and a receiver can ask for more.
func TestSchedule(t *testing.T) {
	forEachEngine(t, nil, func(t *testing.T, w *fixture) {
		to := receive(t, func(rw http.ResponseWriter, r request) int {
			if r.text() == "later" {
				rw.Header().Set("Retry-After", "600")
			}
			return 429
		})
		key := w.hook(to.url, nil)
		w.dispatch()
		w.submit("soon")
		w.submit("later")
		w.until("both failed", func() bool { return len(w.deliveries(key, store.DeliveryPending)) == 2 })
		for _, d := range w.deliveries(key, "") {
			wait := d.NextAt.Sub(d.LastAt)
			if wait > 8*time.Second && (wait < 600*time.Second || wait > 605*time.Second) || wait < 4*time.Second {
				t.Errorf("attempt %d follows after %s", d.Attempt+1, wait)
			}
		}
		if h := w.read(key); h.Pending != 2 || h.FailingSince.IsZero() {
			t.Errorf("%+v", h)
		}
	})
}

// A receiver that fails through the whole schedule is disabled. Nothing is lost: it continues
// where it stopped when it is enabled.
func TestDisabledAfterSchedule(t *testing.T) {
	forEachEngine(t, quick, func(t *testing.T, w *fixture) {
		var up atomic.Bool
		to := receive(t, func(http.ResponseWriter, request) int {
			if up.Load() {
				return 200
			}
			return 503
		})
		key := w.hook(to.url, nil)
		w.dispatch()
		w.submit("first")
		w.until("disabled", func() bool { return w.read(key).Status == store.WebhookDisabled })
		if n := len(to.all()); n != len(quick)+1 {
			t.Errorf("%d attempts", n)
		}
		w.submit("second")
		up.Store(true)
		if h := w.read(key); h.DisabledReason == "" || h.Pending != 1 {
			t.Errorf("%+v", h)
		}
		before := len(to.all())
		_, err := w.service.Update(ctx, w.owner, key, func(h *store.Webhook) { h.Status = store.WebhookActive })
		w.must(err)
		w.until("both", func() bool { return len(w.deliveries(key, store.Delivered)) == 2 })
		texts := strings.Fields(to.texts())[before:]
		if len(texts) != 2 || texts[0] == texts[1] {
			t.Errorf("after it was enabled: %v", texts)
		}
		if h := w.read(key); h.DisabledReason != "" || h.Pending != 0 || !h.FailingSince.IsZero() {
			t.Errorf("%+v", h)
		}
	})
}

// An event that a working receiver never accepts fails alone.
func TestOneEventFails(t *testing.T) {
	forEachEngine(t, quick, func(t *testing.T, w *fixture) {
		to := receive(t, func(_ http.ResponseWriter, r request) int {
			if r.text() == "poison" {
				return 500
			}
			return 200
		})
		key := w.hook(to.url, nil)
		w.dispatch()
		w.submit("poison")
		for len(w.deliveries(key, store.DeliveryFailed)) == 0 {
			w.submit("fine")
		}
		failed := w.deliveries(key, store.DeliveryFailed)
		if h := w.read(key); h.Status != store.WebhookActive || len(failed) != 1 || failed[0].Attempt != int64(len(quick)+1) || failed[0].ResponseStatus != 500 || failed[0].Error == "" {
			t.Errorf("%s, %+v", h.Status, failed)
		}
		// It can still be sent again.
		w.must(w.ResendDelivery(ctx, w.owner, key, failed[0].ID(), time.Now()))
		before := strings.Count(to.texts(), "poison")
		w.until("sent again", func() bool { return strings.Count(to.texts(), "poison") > before })
	})
}

// 410 disables at once.
func TestGone(t *testing.T) {
	forEachEngine(t, nil, func(t *testing.T, w *fixture) {
		to := receive(t, func(http.ResponseWriter, request) int { return 410 })
		key := w.hook(to.url, nil)
		w.dispatch()
		w.submit("first")
		w.until("disabled", func() bool { return w.read(key).Status == store.WebhookDisabled })
		if h := w.read(key); !strings.Contains(h.DisabledReason, "410") || h.Pending != 1 || len(to.all()) != 1 {
			t.Errorf("%+v after %d requests", h, len(to.all()))
		}
	})
}

// With strict order, an event waits for those before it; otherwise it does not.
func TestOrder(t *testing.T) {
	forEachEngine(t, quick, func(t *testing.T, w *fixture) {
		var failures [2]atomic.Int64
		answer := func(i int) func(http.ResponseWriter, request) int {
			return func(_ http.ResponseWriter, r request) int {
				if r.text() == "a" && failures[i].Add(1) < 4 {
					return 500
				}
				return 200
			}
		}
		strict, loose := receive(t, answer(0)), receive(t, answer(1))
		first := w.hook(strict.url, func(h *store.Webhook) { h.StrictOrder = true })
		second := w.hook(loose.url, nil)
		for _, text := range strings.Fields("a b c") {
			w.submit(text)
		}
		w.dispatch()
		w.until("all", func() bool {
			return len(w.deliveries(first, store.Delivered)) == 3 && len(w.deliveries(second, store.Delivered)) == 3
		})
		if got := strict.texts(); got != "a a a a b c" {
			t.Errorf("in strict order: %s", got)
		}
		if got := loose.texts(); strings.LastIndex(got, "a") < strings.Index(got, "c") {
			t.Errorf("without: %s", got)
		}
	})
}

// Requests that hang keep neither the next events of its webhook waiting nor other
// webhooks.
func TestHangingReceiver(t *testing.T) {
	forEachEngine(t, quick, func(t *testing.T, w *fixture) {
		end := make(chan struct{})
		defer close(end)
		hangs := receive(t, func(_ http.ResponseWriter, r request) int {
			if r.text() == "hang" {
				<-end
			}
			return 200
		})
		fine := receive(t, nil)
		first, second := w.hook(hangs.url, nil), w.hook(fine.url, nil)
		w.dispatch()
		for i := range 60 {
			w.submit([]string{"hang", "go", "go", "go", "go", "go"}[i%6])
		}
		w.until("all others", func() bool {
			return len(w.deliveries(first, store.Delivered)) == 50 && len(w.deliveries(second, store.Delivered)) == 60
		})
		if h := w.read(first); h.Position >= w.read(second).Position {
			t.Error("the position has passed what is not delivered")
		}
	})
}

// With a thousand deliveries pending, the position waits.
func TestPendingIsBounded(t *testing.T) {
	forEachEngine(t, []time.Duration{time.Hour}, func(t *testing.T, w *fixture) {
		to := receive(t, func(http.ResponseWriter, request) int { return 500 })
		key := w.hook(to.url, nil)
		for range 1100 {
			w.submit("x")
		}
		w.dispatch()
		w.until("a thousand", func() bool { return w.read(key).Pending >= 1000 })
		stop := w.dispatch()
		stop()
		if n := w.read(key).Pending; n > 1032 {
			t.Errorf("%d are pending", n)
		}
	})
}

// Without the key that encrypted its secret, a webhook is disabled until it gets another.
func TestOtherKey(t *testing.T) {
	forEachEngine(t, quick, func(t *testing.T, w *fixture) {
		to := receive(t, nil)
		key := w.hook(to.url, nil)
		w.submit("text")
		var err error
		w.config.Sealer, err = account.NewSealer(account.NewKeyText())
		w.must(err)
		w.service = delivery.New(w.config)
		w.dispatch()
		w.until("disabled", func() bool { return w.read(key).Status == store.WebhookDisabled })
		_, _, err = w.service.Rotate(ctx, w.owner, key)
		w.must(err)
		_, err = w.service.Update(ctx, w.owner, key, func(h *store.Webhook) { h.Status = store.WebhookActive })
		w.must(err)
		w.until("delivered", func() bool { return len(to.all()) == 1 })
	})
}
