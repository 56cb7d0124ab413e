package e2e

import (
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

// A person who has registered nothing tries the API in its page.
func TestAPIPage(t *testing.T) {
	t.Parallel()
	s := start(t)
	addForms(t, s, ada, form.Head{Title: "Summer party", Language: "en"})
	b := openTab(t, s.URL)
	b.wantStatus(b.open("/docs/api"), 200)
	b.do(chromedp.WaitVisible(listForms), chromedp.Click(authorizeButton), chromedp.WaitVisible(grantButton))

	window := b.popup(chromedp.Click(grantButton))
	window.do(chromedp.WaitVisible(button("Sign in")))
	window.signIn(ada)
	window.wantPath("/authorize")
	window.wantWords("API page of this Formulary", ada, "See your forms")
	window.wantQuiet()
	window.do(chromedp.Click(button("Allow Access")))

	b.do(chromedp.WaitVisible(`//button[normalize-space()="Logout"]`), chromedp.Click(`.modal-ux .btn-done`))
	status, body := b.executed()
	if status != "200" || !strings.Contains(body, "Summer party") {
		t.Errorf("GET /api/v1/forms shows %s:\n%s", status, body)
	}
}

// Cancel brings the person back to the API page, which says so.
func TestAPIPageCancel(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := visitor(t, s, ada)
	b.press(link("API"))
	b.do(chromedp.Click(authorizeButton), chromedp.WaitVisible(grantButton))
	window := b.popup(chromedp.Click(grantButton))
	window.do(chromedp.Click(button("Cancel")))
	b.do(chromedp.WaitVisible(`.modal-ux .errors`))
	if words := b.text(`.modal-ux .errors`); !strings.Contains(words, "access_denied") {
		t.Errorf("the API page says %q", words)
	}
}

// Opened by hand, the callback page explains itself.
func TestAPIPageCallback(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openTab(t, s.URL)
	b.wantStatus(b.open("/docs/api/callback?code=x&state=y"), 200)
	b.wantWords("The API page is no longer waiting for this.")
}
