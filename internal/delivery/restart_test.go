package delivery_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"formulary/internal/delivery"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// A receiver that was down gets everything, in pages, when the service runs again.
func TestCatchUp(t *testing.T) {
	forEachEngine(t, quick, func(t *testing.T, w *fixture) {
		to := receive(t, nil)
		key := w.hook(to.url, nil)
		const n = 700
		want := map[string]bool{}
		for i := range n {
			want["evt_"+w.submit(fmt.Sprint(i))[4:]] = true
		}
		stop := w.dispatch()
		w.until("some", func() bool { return len(to.all()) > 100 })
		stop() // waits for requests in flight, so none is repeated
		w.dispatch()
		w.until("all", func() bool { return len(to.all()) >= n })
		w.until("stored", func() bool { return len(w.deliveries(key, store.Delivered)) == n })
		for _, got := range to.all() {
			delete(want, got.id)
		}
		if len(want) != 0 || len(to.all()) != n {
			t.Errorf("%d are missing, %d requests arrived", len(want), len(to.all()))
		}
	})
}

// A replay delivers again what was delivered, with the same IDs, beside new events.
func TestReplay(t *testing.T) {
	forEachEngine(t, quick, func(t *testing.T, w *fixture) {
		to := receive(t, nil)
		before := w.submit("before the webhook")
		key := w.hook(to.url, nil)
		w.dispatch()
		var ids []string
		for i := range 5 {
			ids = append(ids, w.submit(fmt.Sprint(i)))
		}
		w.until("delivered", func() bool { return len(w.deliveries(key, store.Delivered)) == 5 })
		w.must(w.ReplayWebhook(ctx, w.owner, key, "", time.Now()))
		w.submit("new")
		w.until("replayed", func() bool { return len(to.all()) == 12 })
		counts := map[string]int{}
		for _, got := range to.all() {
			counts[got.id]++
		}
		for _, id := range ids {
			if counts["evt_"+id[4:]] != 2 {
				t.Errorf("%s arrived %d times", id, counts["evt_"+id[4:]])
			}
		}
		if counts["evt_"+before[4:]] != 1 {
			t.Errorf("what was before the webhook arrived %d times", counts["evt_"+before[4:]])
		}
		w.until("ended", func() bool { return w.read(key).ReplayUntil == "" })
		w.until("stored", func() bool { return len(w.deliveries(key, store.Delivered)) == 7 }) // a replay ends there
		w.must(w.ReplayWebhook(ctx, w.owner, key, ids[3][4:], time.Now()))
		w.until("the last two", func() bool { return len(to.all()) == 14 })
		w.until("ended", func() bool { return w.read(key).ReplayUntil == "" })
		w.must(w.ReplayWebhook(ctx, w.owner, key, ids[3][4:], time.Now()))
		w.until("the same again", func() bool { return len(to.all()) == 16 })
		w.until("one entry for each event", func() bool { return len(w.deliveries(key, "")) == 7 })
	})
}

// What a webhook's owner changes takes effect at once.
func TestPauseAndChange(t *testing.T) {
	forEachEngine(t, quick, func(t *testing.T, w *fixture) {
		first, second := receive(t, nil), receive(t, nil)
		key := w.hook(first.url, nil)
		w.dispatch()
		w.submit("a")
		w.until("delivered", func() bool { return len(first.all()) == 1 })
		set := func(change func(*store.Webhook)) {
			t.Helper()
			_, err := w.service.Update(ctx, w.owner, key, change)
			w.must(err)
		}
		set(func(h *store.Webhook) { h.Status = store.WebhookPaused })
		w.submit("b")
		set(func(h *store.Webhook) { h.URL = second.url })
		set(func(h *store.Webhook) { h.Status = store.WebhookActive })
		w.until("delivered", func() bool { return len(second.all()) == 1 })
		set(func(h *store.Webhook) { h.Events = []store.EventKind{store.FormClosed} })
		w.submit("c")
		_, err := w.CloseForm(ctx, w.owner, w.form.ID, 0, time.Now())
		w.must(err)
		w.until("closed", func() bool { return second.kinds() == "response.created form.closed" })
		if first.texts() != "a" {
			t.Errorf("at the old address: %s", first.texts())
		}
	})
}

// Nodes on one database share the accounts. When one fails, the others continue within
// seconds; when one is stopped, at once.
func TestNodes(t *testing.T) {
	t.Parallel()
	storage := storetest.Postgres(t)
	s := storetest.Open(t, storage)
	now := time.Now()
	slots := func(node string, at time.Time) int {
		t.Helper()
		list, err := s.RenewDeliveryLeases(ctx, node, false, at)
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	if n := slots("a", now); n != store.DeliverySlots {
		t.Errorf("alone: %d", n)
	}
	slots("b", now)
	if a, b := slots("a", now), slots("b", now); a != store.DeliverySlots/2 || b != store.DeliverySlots/2 {
		t.Errorf("two nodes: %d and %d", a, b)
	}
	later := now.Add(store.DeliveryLease - time.Millisecond)
	if n := slots("a", later); n != store.DeliverySlots/2 {
		t.Errorf("before the lease has ended: %d", n)
	}
	if n := slots("a", now.Add(store.DeliveryLease+time.Millisecond)); n != store.DeliverySlots {
		t.Errorf("after it has: %d", n)
	}
	if err := s.ReleaseDeliveryLeases(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	if n := slots("b", now); n != store.DeliverySlots {
		t.Errorf("after the other has stopped: %d", n)
	}
}

// Several dispatchers on one database deliver each event, and after a clean stop of one of
// them none twice.
func TestTwoDispatchers(t *testing.T) {
	forEachEngine(t, quick, func(t *testing.T, w *fixture) {
		to := receive(t, func(http.ResponseWriter, request) int { return 200 })
		key := w.hook(to.url, nil)
		other := configure(t, storetest.Open(t, w.storage), quick)
		stop := w.dispatch()
		w.submit("first")
		w.until("delivered", func() bool { return len(to.all()) == 1 })
		run(t, delivery.NewDispatcher(other))
		for i := range 20 {
			w.submit(fmt.Sprint(i))
		}
		w.until("delivered", func() bool { return len(w.deliveries(key, store.Delivered)) == 21 })
		stop()
		w.submit("last")
		w.until("delivered by the other", func() bool { return len(w.deliveries(key, store.Delivered)) == 22 })
	})
}
