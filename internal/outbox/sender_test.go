package outbox_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"formulary/internal/mail"
	"formulary/internal/mail/mailtest"
	"formulary/internal/outbox"
	"formulary/internal/store"
)

// A mail that is put into the queue is sent once, in the language of its reader.
func TestSend(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.run(w.service)
		for n := range 100 {
			w.enqueue(fmt.Sprintf("ana%d@example.org", n))
		}
		w.waitFor("all are sent", func() bool { return w.waiting() == 0 })
		list := w.server.WaitFor(100)
		seen := map[string]bool{}
		for _, r := range list {
			seen[r.To] = true
			if p := mailtest.Parse(t, r); !strings.Contains(p.HTML, `lang="de"`) || p.Subject != "E-Mails von Formulary kommen an" {
				t.Fatalf("received:\n%s", r.Content)
			}
		}
		if len(list) != 100 || len(seen) != 100 {
			t.Errorf("%d mails to %d addresses", len(list), len(seen))
		}
		if s := w.service.Stats(); s.Sent != 100 || s.Failed != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// Temporary errors are tried again, permanent ones are final. No mail is lost.
func TestRetries(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.run(w.service)
		for _, address := range []string{"a@rcpt-450-2.test", "b@data-451-3.test", "c@drop-2.test", "d@rcpt-421-1.test", "e@rcpt-550.test", "f@data-554.test", "g@slow-50.test"} {
			w.enqueue(address)
		}
		w.waitFor("all have ended", func() bool { return w.waiting() == 0 })
		got := map[string]int{}
		for _, r := range w.server.WaitFor(7) {
			got[r.To[:1]]++
		}
		// A mail whose answer was cut off is received again: SMTP cannot tell.
		if fmt.Sprint(got) != "map[a:1 b:1 c:3 d:1 g:1]" {
			t.Errorf("received %v", got)
		}
		if reason, err := w.MailSuppressed(ctx, w.owner.ID, "e@rcpt-550.test"); err != nil || !strings.Contains(reason, "550") {
			t.Errorf("suppressed: %q (%v)", reason, err)
		}
		if reason, err := w.MailSuppressed(ctx, w.owner.ID, "f@data-554.test"); err != nil || reason != "" {
			t.Errorf("suppressed although only the content was refused: %q (%v)", reason, err)
		}
	})
}

// Those who wait for a mail do not wait for a long queue at a slow server.
func TestUrgent(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		for n := range 120 {
			w.enqueue(fmt.Sprintf("ana%d@slow-300.test", n))
		}
		stop := w.run(w.service)
		w.server.WaitFor(1)
		kind := mail.PasswordReset{Email: "ada@example.com", Link: "https://forms.example.com/reset?token=x", Expires: time.Now().Add(time.Hour)}
		if err := w.service.Enqueue(ctx, w.owner.ID, outbox.Recipient{Address: "ada@example.com", Language: "en"}, kind); err != nil {
			t.Fatal(err)
		}
		list := w.server.Wait(func(list []mailtest.Received) bool {
			return slices.ContainsFunc(list, func(r mailtest.Received) bool { return r.To == "ada@example.com" })
		})
		if len(list) > 100 {
			t.Errorf("%d mails were sent first", len(list)-1)
		}
		stop()
	})
}

// While the server is away, mails wait.
func TestOutage(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.server.Stop()
		stop := w.run(w.service)
		for n := range 50 {
			w.enqueue(fmt.Sprintf("ana%d@example.org", n))
		}
		w.waitFor("the outage is noticed", func() bool { problem, _ := w.service.Problem(); return problem != "" })
		if n := w.waiting(); n != 50 {
			t.Errorf("%d mails wait", n)
		}
		stop()
		// Another process continues.
		w.server.Restart()
		w.run(outbox.New(w.config))
		w.waitFor("all are sent", func() bool { return w.waiting() == 0 })
		if n := len(w.server.WaitFor(50)); n != 50 {
			t.Errorf("%d mails", n)
		}
	})
}

// Without a server, mails are kept for administrators.
func TestKept(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		w.config.Client = nil
		off := outbox.New(w.config)
		w.run(off)
		w.enqueue("ana@example.org")
		w.waitFor("it is kept", func() bool { return w.waiting() == 0 })
		list, err := w.KeptMails(ctx, store.Page{Limit: 10})
		if err != nil || len(list) != 1 {
			t.Fatalf("%d kept (%v)", len(list), err)
		}
		message, err := off.Render(ctx, list[0])
		if err != nil || message.To != "ana@example.org" || message.Subject == "" || !strings.Contains(message.HTML, "<h1") || !strings.Contains(message.Text, "https://forms.example.com") {
			t.Errorf("%+v (%v)", message, err)
		}
	})
}
