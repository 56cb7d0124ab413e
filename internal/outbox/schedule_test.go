package outbox_test

import (
	"testing"
	"time"

	"formulary/internal/outbox"
	"formulary/internal/store"
)

// While a server is away, mails are given up after three days.
func TestExpire(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.server.Stop()
		w.config.Now = func() time.Time { return time.Now().Add(-73 * time.Hour) }
		w.service = outbox.New(w.config)
		w.enqueue("old@example.org")
		w.config.Now = time.Now
		w.service = outbox.New(w.config)
		w.enqueue("new@example.org")
		w.run(w.service)
		w.waitFor("one has failed", func() bool { return w.waiting() == 1 })
		list, err := w.DueMails(ctx, w.owner.ID, time.Now(), 10)
		if err != nil || len(list) != 1 || list[0].Recipient != "new@example.org" || list[0].Status != store.MailWaiting {
			t.Errorf("%+v (%v)", list, err)
		}
	})
}
