package outbox_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"formulary/internal/id"
	"formulary/internal/outbox"
	"formulary/internal/store"
)

// A mail about a form that is being moved to another space waits, moves too, and is sent then.
func TestMovedForm(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		f, space := w.open("Order", "en"), store.Space{Key: id.New(id.User, time.Now()), Name: "Team"}
		if err := w.AddSpace(ctx, space, w.owner, time.Now()); err != nil {
			t.Fatal(err)
		}
		if err := w.service.SetReceipt(ctx, w.owner.ID, f.ID, store.ReceiptChange{Receipt: store.Receipt{Active: true, Field: "email", Text: "Thanks"}}); err != nil {
			t.Fatal(err)
		}
		w.server.Stop()
		stop := w.run(w.service)
		w.submit(f, map[string]any{"email": "mara@example.net", "text": "first"})
		w.waitFor("the mail waits", func() bool { return w.waiting() == 1 })
		stop()
		if err := w.StartMove(ctx, w.owner.ID, f.ID, space.Key, time.Now()); err != nil {
			t.Fatal(err)
		}
		if err := w.PrepareMove(ctx, w.owner.ID, f.ID, time.Now()); err != nil {
			t.Fatal(err)
		}
		w.server.Restart()
		w.run(outbox.New(w.config))
		w.waitFor("the mail was tried", func() bool {
			list, err := w.FailedMails(ctx, w.owner.ID, f.ID, 10)
			return err == nil && slices.ContainsFunc(list, func(m store.Mail) bool { return strings.Contains(m.Error, "being moved") })
		})
		if n := len(w.server.Received()); n != 0 || w.waiting() != 1 {
			t.Errorf("%d mails were sent during the move, %d wait", n, w.waiting())
		}
		if err := w.ContinueMove(ctx, w.owner.ID, f.ID, time.Now()); err != nil {
			t.Fatal(err)
		}
		if got := w.server.WaitFor(1); !strings.Contains(got[0].Content, "Thanks") || w.waiting() != 0 {
			t.Errorf("received %v, %d wait in the old space", got, w.waiting())
		}
		// Later responses are read from the position that moved too: the first one sends nothing again.
		after, err := w.PublicForm(ctx, f.ID)
		if err != nil {
			t.Fatal(err)
		}
		w.submit(after, map[string]any{"email": "last@example.net", "text": "second"})
		list := w.server.Wait(func(list []received) bool { return countTo(list, "last@example.net") == 1 })
		if n := countTo(list, "mara@example.net"); n != 1 {
			t.Errorf("the first respondent got %d receipts", n)
		}
	})
}
