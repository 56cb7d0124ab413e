package delivery_test

import (
	"fmt"
	"testing"
	"time"

	"formulary/internal/delivery"
	"formulary/internal/store"
)

// While deliveries yield to submissions they are slow, but they go on, and what a commit
// postpones is stored in the end.
func TestYield(t *testing.T) {
	forEachEngine(t, nil, func(t *testing.T, w *fixture) {
		r := receive(t, nil)
		key := w.hook(r.url, nil)
		const n = 40 // more than may be in flight
		for i := range n {
			w.submit(fmt.Sprint(i))
		}
		d := delivery.NewDispatcher(w.config)
		d.YieldFor(time.Hour)
		stop := run(t, d)
		w.until("everything is delivered", func() bool { return len(r.all()) == n })
		w.until("everything is stored", func() bool { return len(w.deliveries(key, store.Delivered)) == n })
		stop()
		if len(r.all()) != n {
			t.Errorf("%d requests for %d events", len(r.all()), n)
		}
	})
}
