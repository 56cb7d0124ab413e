package e2e

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"formulary/internal/form"
)

const (
	authorizeButton = `.auth-wrapper .btn.authorize`
	grantButton     = `.modal-ux .btn.authorize`
	listForms       = `#operations-Forms-listForms`
)

// granted, and refused, are true in the explorer when the pop-up has brought it a
// token, or none.
const (
	granted = `Array.from(document.querySelectorAll(".modal-ux button")).some((b) => b.textContent.trim() === "Logout")`
	refused = `document.querySelector(".modal-ux .errors") !== null`
)

// closing clicks what makes a pop-up close itself. The browser says nothing more of a
// window that is gone, not even that it was clicked; so what tells of the click is
// what it leads to in the opener.
func (b *tab) closing(selector string, opener *tab, then string) {
	b.t.Helper()
	b.do(chromedp.WaitVisible(selector))
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	over := make(chan error, 1)
	go func() { over <- chromedp.Do(ctx, chromedp.Click(selector)) }()
	opener.wait(then)
	cancel()
	<-over
}

// executed presses Execute on the operation that lists forms and returns the
// status and the body that the page shows.
func (b *tab) executed() (status, body string) {
	b.t.Helper()
	if b.count(listForms+".is-open") == 0 {
		b.do(chromedp.Click(listForms + ` .opblock-summary-control`))
	}
	const answer = listForms + ` .live-responses-table .response`
	b.do(chromedp.Click(listForms+` .btn.execute`), chromedp.WaitVisible(answer))
	return strings.TrimSpace(b.text(answer + ` .response-col_status`)), b.text(answer + ` .response-col_description`)
}

// A person who has registered nothing tries the API in the browser.
func TestExplorer(t *testing.T) {
	t.Parallel()
	s := start(t)
	addForms(t, s, ada, form.Head{Title: "Summer party", Language: "en"})
	b := openTab(t, s.URL)
	b.wantStatus(b.open("/docs/api/try"), 200)
	b.do(chromedp.WaitVisible(listForms), chromedp.Click(authorizeButton), chromedp.WaitVisible(grantButton))

	window := b.popup(chromedp.Click(grantButton))
	window.do(chromedp.WaitVisible(button("Sign in")))
	window.signIn(ada)
	window.wantPath("/authorize")
	window.wantWords("API page of this Formulary", ada, "See your forms")
	window.wantQuiet()
	window.closing(button("Allow Access"), b, granted)

	b.do(chromedp.Click(`.modal-ux .btn-done`))
	status, body := b.executed()
	if status != "200" || !strings.Contains(body, "Summer party") {
		t.Errorf("GET /api/v1/forms shows %s:\n%s", status, body)
	}
}

// Cancel brings the person back to the explorer, which says so. An operation of the
// reference leads there, to the same operation.
func TestExplorerCancel(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := visitor(t, s, ada)
	b.press(link("API"))
	b.press(`.index a[href$="/listForms"]`)
	b.press(link("Try it in the browser"))
	b.do(chromedp.WaitVisible(listForms + ".is-open"))
	b.do(chromedp.Click(authorizeButton), chromedp.WaitVisible(grantButton))
	window := b.popup(chromedp.Click(grantButton))
	window.closing(button("Cancel"), b, refused)
	if words := b.text(`.modal-ux .errors`); !strings.Contains(words, "access_denied") {
		t.Errorf("the explorer says %q", words)
	}
}

// Opened by hand, the callback page explains itself.
func TestExplorerCallback(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openTab(t, s.URL)
	b.wantStatus(b.open("/docs/api/callback?code=x&state=y"), 200)
	b.wantWords("The API page is no longer waiting for this.")
}
