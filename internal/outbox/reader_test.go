package outbox_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"formulary/internal/form"
	"formulary/internal/mail/mailtest"
	"formulary/internal/outbox"
	"formulary/internal/store"
	"formulary/internal/theme"
)

// order returns the questions of a form: an address, a text and a choice. Each test has its
// own, because Normalize changes them.
func order() []*form.Field {
	return []*form.Field{
		{Key: "email", Kind: "email", Label: "Your email"},
		{Key: "text", Kind: "long_text", Label: "What else, {{email}}?"},
		{Key: "size", Kind: "single_choice", Label: "Size", Options: []form.Option{{Value: "s", Label: "Small"}, {Value: "m", Label: "Medium"}}},
	}
}

// open creates and publishes a form.
func (w *fixture) open(title, language string) *store.PublicForm {
	w.t.Helper()
	d := form.Definition{Fields: order(), Design: form.Design{Brand: "#b4532a", Mood: "paper"}}
	if err := d.Normalize(); err != nil {
		w.t.Fatal(err)
	}
	f, err := w.CreateForm(ctx, w.owner.ID, form.Header{Title: title, Language: language}, &d, time.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.Publish(ctx, w.owner.ID, store.FormRevision{ID: f.ID}, store.IdempotencyKey{}, time.Now()); err != nil {
		w.t.Fatal(err)
	}
	p, err := w.PublicForm(ctx, f.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w *fixture) submit(f *store.PublicForm, answers map[string]any) string {
	w.t.Helper()
	r, err := w.SubmitResponse(ctx, store.Submission{Form: f, Answers: answers, At: time.Now()})
	if err != nil {
		w.t.Fatal(err)
	}
	return r.ID
}

func (w *fixture) notify(f *store.PublicForm, when store.Frequency, to ...string) {
	w.t.Helper()
	if _, err := w.service.SetNotifications(ctx, w.owner.ID, f.ID, store.NotificationChange{When: when, To: to}); err != nil {
		w.t.Fatal(err)
	}
}

// must checks that a part of a mail has some texts.
func must(t *testing.T, where, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("the %s lacks %q:\n%s", where, part, text)
		}
	}
}

// Each response sends a notification to confirmed addresses, with the answers in the form's
// order, in one thread, and a link to unsubscribe.
func TestNotifications(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		f := w.open("Ceramics <b>weekend</b>", "en")
		w.submit(f, map[string]any{"text": "before"})
		w.notify(f, store.NotifyEach, "ada@example.com", "bob@example.org")
		w.run(w.service)
		confirm := mailtest.Parse(t, w.server.WaitFor(1)[0])
		if confirm.Get("To") != "<bob@example.org>" {
			t.Fatalf("confirmation to %s", confirm.Get("To"))
		}
		responses := []string{
			w.submit(f, map[string]any{"email": "mara@example.net", "text": "I am left-handed.\nIs there a wheel & <i>clay</i>?", "size": "m"}),
			w.submit(f, map[string]any{"text": "Second"}),
		}
		list := w.server.WaitFor(3)[1:]
		first, second := mailtest.Parse(t, list[0]), mailtest.Parse(t, list[1])
		if strings.Contains(second.Text, "left-handed") {
			first, second = second, first
		}
		must(t, "subject", first.Subject, "New response to “Ceramics <b>weekend</b>”")
		must(t, "text", first.Text, "Your email:\r\n  mara@example.net", "What else, mara@example.net?:\r\n  I am left-handed.\r\n  Is there a wheel & <i>clay</i>?", "Size:\r\n  Medium",
			"https://forms.example.com/forms/"+f.ID+"/responses/"+responses[0], "/notifications/unsubscribe?k=fmn_")
		must(t, "HTML", first.HTML, "Ceramics &lt;b&gt;weekend", "Is there a wheel &amp; &lt;i&gt;clay&lt;/i&gt;?", "color-scheme", responses[0])
		if strings.Contains(first.HTML, "<img") || strings.Contains(first.HTML, "<script") {
			t.Errorf("the HTML has images or scripts:\n%s", first.HTML)
		}
		if first.Get("Reply-To") != "<mara@example.net>" || second.Get("Reply-To") != "" {
			t.Errorf("Reply-To is %q and %q", first.Get("Reply-To"), second.Get("Reply-To"))
		}
		if first.Get("References") == "" || first.Get("References") != second.Get("References") || first.Get("Message-Id") == second.Get("Message-Id") {
			t.Errorf("threads: %v\n%v", first.Header, second.Header)
		}
		if got := first.Get("List-Unsubscribe-Post"); got != "List-Unsubscribe=One-Click" {
			t.Errorf("List-Unsubscribe-Post is %q", got)
		}

		// Others are notified once they have confirmed, until they unsubscribe.
		link := func(text, path string) string {
			_, after, ok := strings.Cut(text, path+"?k=")
			if !ok {
				t.Fatalf("no link to %s in\n%s", path, text)
			}
			return strings.Fields(after)[0]
		}
		if err := w.ConfirmRecipient(ctx, link(confirm.Text, outbox.ConfirmRecipientPath), time.Now()); err != nil {
			t.Fatal(err)
		}
		w.submit(f, map[string]any{"text": "Third"})
		for _, r := range w.server.WaitFor(5)[3:] {
			if r.To != "bob@example.org" {
				continue
			}
			if err := w.Unsubscribe(ctx, link(mailtest.Parse(t, r).Text, outbox.UnsubscribePath), time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		w.submit(f, map[string]any{"text": "Fourth"})
		if got := w.server.WaitFor(6)[5:]; got[0].To != "ada@example.com" || len(got) != 1 {
			t.Errorf("after unsubscribing: %+v", got)
		}
	})
}

// A mail about a response that was deleted meanwhile is not sent.
func TestDeletedResponse(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		f := w.open("Order", "en")
		w.notify(f, store.NotifyEach, "ada@example.com")
		w.server.Stop()
		stop := w.run(w.service)
		gone := w.submit(f, map[string]any{"text": "gone"})
		w.waitFor("the mail waits", func() bool { return w.waiting() == 1 })
		stop()
		if err := w.DeleteResponse(ctx, w.owner.ID, f.ID, gone, time.Now()); err != nil {
			t.Fatal(err)
		}
		w.submit(f, map[string]any{"text": "stays"})
		w.server.Restart()
		w.run(outbox.New(w.config))
		w.waitFor("all have ended", func() bool { return len(w.server.Received()) > 0 && w.waiting() == 0 })
		list := w.server.Received()
		if len(list) != 1 || !strings.Contains(list[0].Content, "stays") {
			t.Errorf("received %d mails", len(list))
		}
	})
}

// A digest has the number of responses and the newest ones.
func TestDigests(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		hourly, daily := w.open("Hourly", "en"), w.open("Daily", "en")
		var mu sync.Mutex
		ahead := time.Duration(0)
		w.config.Now = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return time.Now().Add(ahead)
		}
		w.service = outbox.New(w.config)
		w.notify(hourly, store.NotifyHourly, "ada@example.com")
		w.notify(daily, store.NotifyDaily, "ada@example.com")
		w.run(w.service)
		for n := range 12 {
			w.submit(hourly, map[string]any{"text": fmt.Sprintf("response %d.", n)})
			w.submit(daily, map[string]any{"text": fmt.Sprintf("response %d.", n)})
		}
		w.waitFor("nothing is due", func() bool { return w.waiting() == 0 && len(w.server.Received()) == 0 })
		for i, wait := range []time.Duration{time.Hour, 24 * time.Hour} {
			mu.Lock()
			ahead = wait
			mu.Unlock()
			// At some times of the day, both are due within an hour.
			subject, m := []string{"New responses to “Hourly”", "New responses to “Daily”"}[i], mailtest.Message{}
			w.server.Wait(func(list []mailtest.Received) bool {
				return slices.ContainsFunc(list, func(r mailtest.Received) bool {
					m = mailtest.Parse(t, r)
					return strings.Contains(m.Subject, subject)
				})
			})
			must(t, "subject", m.Subject, subject)
			must(t, "text", m.Text, "12 new responses", "response 11.", "response 2.")
			if strings.Contains(m.Text, "response 1.") {
				t.Errorf("the digest has all responses:\n%s", m.Text)
			}
		}
		if n := len(w.server.Received()); n != 2 {
			t.Errorf("%d mails", n)
		}
	})
}

// A receipt has the owner's text with the respondent's answers, in the language of the form. An
// address gets only a few of them.
func TestReceipts(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		f := w.open("Töpfern", "de")
		receipt := store.Receipt{Active: true, Field: "email", Subject: "Bis bald: {{text}}", Text: "Hallo **{{email}}**,\n\nGröße {{size}}, {{text}}", Answers: true}
		for field, change := range map[string]func(*store.Receipt){
			"field": func(r *store.Receipt) { r.Field = "text" }, "subject": func(r *store.Receipt) { r.Subject = "{{other}}" }, "text": func(r *store.Receipt) { r.Text = strings.Repeat("x", 10_001) },
		} {
			wrong := receipt
			change(&wrong)
			if err := w.service.SetReceipt(ctx, w.owner.ID, f.ID, store.ReceiptChange{Receipt: wrong}); err == nil || !strings.Contains(err.Error(), field+":") {
				t.Errorf("wrong %s: %v", field, err)
			}
		}
		if err := w.service.SetReceipt(ctx, w.owner.ID, f.ID, store.ReceiptChange{Receipt: receipt}); err != nil {
			t.Fatal(err)
		}
		w.run(w.service)
		w.submit(f, map[string]any{"email": "mara@example.net", "text": "[a](https://evil.example)\r\nBcc: victim@example.org", "size": "s"})
		w.submit(f, map[string]any{"text": "no address"})
		m := mailtest.Parse(t, w.server.WaitFor(1)[0])
		if m.Get("To") != "<mara@example.net>" || m.Get("Bcc") != "" || m.Get("Reply-To") != "<ada@example.com>" || !strings.Contains(m.Get("From"), "forms@example.com") {
			t.Errorf("headers: %v", m.Header)
		}
		must(t, "subject", m.Subject, "Bis bald: [a](https://evil.example) Bcc: victim@example.org")
		must(t, "HTML", m.HTML, "<strong>mara@example.net</strong>", "Größe Small", "[a](https://evil.example)", `lang="de"`, "a { color: "+theme.Light(theme.Spec{Brand: theme.Color{0xb4, 0x53, 0x2a}, Mood: theme.Paper}).Accent.String())
		if strings.Contains(m.HTML, `href="https://evil.example`) {
			t.Errorf("an answer became a link:\n%s", m.HTML)
		}
		for range 60 {
			w.submit(f, map[string]any{"email": "victim@example.org", "text": "x"})
		}
		w.submit(f, map[string]any{"email": "last@example.org", "text": "x"})
		w.server.Wait(func(list []received) bool { return countTo(list, "last@example.org") == 1 })
		w.waitFor("all are sent", func() bool { return w.waiting() == 0 })
		list := w.server.Wait(func(list []received) bool { return countTo(list, "victim@example.org") >= store.MailsPerHour })
		if n := countTo(list, "victim@example.org"); n != store.MailsPerHour {
			t.Errorf("the victim got %d receipts", n)
		}
	})
}
