package e2e

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"formulary/internal/account"
	"formulary/internal/cli/clitest"
	"formulary/internal/form"
	"formulary/internal/id"
	"formulary/internal/store"
)

const orderForm = `{"fields": [{"key": "name", "kind": "short_text", "label": "Your name"}, {"key": "email", "kind": "email", "label": "Your email"},
	{"key": "drink", "kind": "single_choice", "label": "Drink", "options": [{"value": "tea", "label": "Tea"}, {"value": "coffee", "label": "Coffee"}]}]}`

// addFailure gives a form a mail that could not be sent.
func (d ownerDB) addFailure(formID, kind, to, reason string, next time.Duration) {
	d.t.Helper()
	ctx, now := context.Background(), time.Now()
	// A mail from the future is not due: the service leaves it alone.
	m := store.Mail{ID: id.New(id.Mail, now), Kind: kind, FormID: formID, Recipient: to, Language: "en", CreatedAt: now.Add(time.Hour)}
	if err := d.db.AddMail(ctx, d.owner, m); err != nil {
		d.t.Fatal(err)
	}
	r := store.MailResult{ID: m.ID, Status: store.MailFailed, Attempts: 1, Error: reason, Suppress: to}
	if next > 0 {
		r.Status, r.NextAt, r.Suppress = store.MailWaiting, now.Add(next), ""
	}
	if err := d.db.CommitMails(ctx, d.owner, []store.MailResult{r}, false, now); err != nil {
		d.t.Fatal(err)
	}
}

// notifyViews returns the pages about mails, of a form with recipients in every state.
func notifyViews(s *clitest.Service, d ownerDB) []view {
	d.t.Helper()
	publish := func(definition string) string {
		return strings.Replace(d.publish(form.FormInput{Header: form.Header{Title: "Ceramics weekend", Language: "en"}, Definition: parseDefinition(d.t, definition)}), "/f/", "/forms/", 1)
	}
	base, plain := publish(orderForm), publish(`{"fields": [{"key": "name", "kind": "short_text", "label": "Name"}]}`)
	formID := strings.TrimPrefix(base, "/forms/")
	links := map[string]string{}
	change := store.NotificationChange{When: store.NotifyEach, To: []string{ada, "lena@kiln.example", "gone@kiln.example", "tomasz@kiln.example", "waits@kiln.example"}}
	change.Confirm = func(link store.RecipientLink) (store.Mail, error) {
		links[account.EmailKey(link.Email)] = link.String()
		return store.Mail{ID: id.New(id.Mail, time.Now()), Kind: "test", FormID: formID, Recipient: link.Email, Language: "en", Data: "{}", CreatedAt: time.Now()}, nil
	}
	ctx := context.Background()
	if _, err := d.db.SetNotifications(ctx, d.owner, formID, change, time.Now()); err != nil {
		d.t.Fatal(err)
	}
	for address, step := range map[string]func(context.Context, string, time.Time) error{
		"lena@kiln.example": d.db.ConfirmRecipient, "gone@kiln.example": d.db.ConfirmRecipient, "tomasz@kiln.example": d.db.Unsubscribe,
	} {
		if err := step(ctx, links[address], time.Now()); err != nil {
			d.t.Fatal(err)
		}
	}
	d.addFailure(formID, "notification", "gone@kiln.example", "550 5.1.1 <gone@kiln.example>: Recipient address rejected: User unknown in virtual mailbox table", 0)
	d.addFailure(formID, "receipt", "mara@lindqvist.example", "451 4.7.1 "+strings.Repeat("no-space-here", 20), 20*time.Minute)
	b := s.Browser()
	b.SignIn(ada)
	b.Post(base+"/connect/receipt", url.Values{"active": {"1"}, "field": {"email"}, "subject": {"See you on 12 June, {{name}}"}, "answers": {"1"},
		"text": {"We keep a wheel by the window for you. **Bring short nails** and an apron; the rest is here.\n\n- Saturday and Sunday, 10–16 h\n- Lindenstraße 12, Leipzig"}})
	s.Call("POST", "/f/"+formID, "", `{"answers": {"name": "Mara", "email": "mara@lindqvist.example", "drink": "tea"}}`)
	var kept []store.Mail
	if !clitest.WaitFor(func() bool {
		var err error
		kept, err = d.db.KeptMails(ctx, store.Page{Limit: 20})
		return err == nil && len(kept) > 0 && kept[0].Kind != "test"
	}) {
		d.t.Fatalf("no mail was kept: %+v", kept)
	}
	return []view{
		{name: "notify, new", path: plain + "/connect/notify", status: 200},
		{name: "notify", path: base + "/connect/notify", status: 200},
		{name: "notify, wrong address", path: plain + "/connect/notify", status: 200, prepare: func(b *tab) {
			run(b, chromedp.Evaluate[any](`document.querySelector("[name=add]").type = "text"; null`))
			b.fill(`[name="add"]`, "nonsense")
			b.wantStatus(b.press(`main form button.primary`), 422)
		}},
		{name: "mails", path: "/mails", status: 200},
		{name: "mail", path: "/mails/" + kept[0].Account + "/" + kept[0].ID, status: 200},
		{name: "confirm", path: "/notifications/confirm?k=" + links["waits@kiln.example"], status: 200},
		{name: "confirmed", path: "/notifications/confirm?k=" + links["lena@kiln.example"], status: 200},
		{name: "unsubscribe", path: "/notifications/unsubscribe?k=" + links["lena@kiln.example"], status: 200},
		{name: "unsubscribed", path: "/notifications/unsubscribe?k=" + links["tomasz@kiln.example"], status: 200},
		{name: "wrong link", path: "/notifications/confirm?k=x", status: 400},
	}
}

// The preview of the receipt follows what is typed, and leaves the history alone.
func TestReceiptPreview(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := openOwnerDB(t, s)
	path := strings.Replace(d.publish(form.FormInput{Header: form.Header{Title: "Order", Language: "en"}, Definition: parseDefinition(t, orderForm)}), "/f/", "/forms/", 1) + "/connect/notify"
	b := signedInTab(t, s, ada)
	b.open(path)
	length := run(b, chromedp.Evaluate[int](`history.length`))
	const frame = `document.querySelectorAll("#receipt iframe").length === 1 && document.querySelector("#receipt iframe").name`
	for number, text := range []string{"first", "second"} {
		b.do(chromedp.SendKeys(`textarea[name="text"]`, text))
		b.wait(frame + ` === "receipt-preview-` + string(rune('1'+number)) + `"`)
	}
	b.do(chromedp.Click(`input[value="daily"]`))
	b.wait(`document.querySelectorAll("iframe").length === 2 && document.querySelector("iframe").name === "notification-preview-1" && document.querySelector("iframe").src.endsWith("?when=daily")`)
	b.do(chromedp.Click(`.insertable summary`), chromedp.Click(`[data-insert="drink"] button`))
	b.wait(`document.querySelector("textarea[name=text]").value === "firstsecond{{drink}}"`)
	b.wait(frame + ` === "receipt-preview-3"`)
	preview := b.findFrame(s.URL, strings.Replace(path, "/notify", "/receipt/preview", 1))
	preview.wantText("firstsecond")
	if now := run(b, chromedp.Evaluate[int](`history.length`)); now != length {
		t.Errorf("the history has %d entries after the previews, %d before", now, length)
	}
	b.wantStatus(b.press(`#receipt button.primary`), 200)
	b.wantText("Receipt saved.")
	b.wait(`document.querySelector("textarea[name=text]").value === "firstsecond{{drink}}"`)
	b.wantNoProblems()

	plain := signedInTab(t, s, ada)
	plain.disableScript()
	plain.open(path)
	previews := func() int {
		return strings.Count(s.Log(), "method=POST path="+strings.Replace(path, "/notify", "/receipt/preview", 1)+" status=200")
	}
	before := previews()
	plain.do(chromedp.Click(button("Preview")))
	if !clitest.WaitFor(func() bool { return previews() > before }) {
		t.Error("the button loads no preview")
	}
	plain.wantPath(path)
	plain.wantNoProblems()
}

// Links in a mail that was not sent open in a new window, outside of the sandbox.
func TestUnsentMailLinks(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := openOwnerDB(t, s)
	path := strings.Replace(d.publish(form.FormInput{Header: form.Header{Title: "Order", Language: "en"}, Definition: parseDefinition(t, orderForm)}), "/f/", "/forms/", 1) + "/connect/notify"
	b := signedInTab(t, s, ada)
	b.open(path)
	b.do(chromedp.Click(`input[value="each"]`))
	b.fill(`[name="add"]`, "lena@kiln.example")
	b.wantStatus(b.press(`main form button.primary`), 200)
	b.wantText("Notifications saved.", "Not confirmed yet")
	if !clitest.WaitFor(func() bool {
		return b.open("/mails") == 200 && strings.Contains(b.text("main"), "Confirm notifications")
	}) {
		t.Fatal("no mail was kept")
	}
	b.wantStatus(b.press(`//a[contains(., "Confirm notifications")]`), 200)
	frame := b.findFrame(s.URL, b.location().Path+"/html")
	opened := chromedp.WaitNewTarget(b.ctx, func(info *target.Info) bool { return info.URL != "" })
	frame.do(chromedp.Click(link("Confirm")))
	ctx, closeTab := chromedp.NewContext(b.ctx, chromedp.WithTargetID(<-opened))
	defer closeTab()
	page := &tab{t: t, ctx: ctx, site: s.URL, monitor: startMonitor(t, ctx, []string{s.URL})}
	page.wait(`document.readyState === "complete" && document.body.innerText.includes("Get notified of responses?")`)
	page.wantStatus(page.press(button("Confirm")), 200)
	b.open(path)
	b.wantText("lena@kiln.example Confirmed")
}
