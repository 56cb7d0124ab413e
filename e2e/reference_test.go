package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// The API reference is read without JavaScript, and found through its own links; what
// only JavaScript can do, trying calls, is not there then.
func TestReferenceWithoutScript(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openTab(t, s.URL)
	b.withoutScript()
	b.wantStatus(b.open("/docs/api"), 200)
	b.wantWords("Authentication", "forms:read", "401005", "Create a form")
	b.wantStatus(b.press(`.index a[href$="/createForm"]`), 200)
	b.wantWords("Create a form", "/api/v1/forms", "forms:write", "Idempotency-Key", "1 to 200 characters", `"title": "Order"`, "422001", "show_if")
	b.do(chromedp.Click(`#body ~ table a[href="#Field"]`))
	if got := b.at().Fragment; got != "Field" {
		t.Errorf("the browser is at #%s", got)
	}
	b.do(chromedp.WaitNotVisible(`.try`))
	b.wantStatus(b.press(`.trail a[href="/docs/api"]`), 200)
	b.wantPath("/docs/api")
}

// On a telephone the list of operations is folded; it opens without JavaScript, too.
func TestReferenceOnATelephone(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openTab(t, s.URL)
	b.withoutScript()
	b.do(chromedp.EmulateViewport(360, 800))
	b.wantStatus(b.open("/docs/api/listForms"), 200)
	b.do(chromedp.WaitNotVisible(`.index a[href$="/readForm"]`), chromedp.Click(`.fold`))
	b.wantStatus(b.press(`.index a[href$="/readForm"]`), 200)
	b.wantPath("/docs/api/readForm")
}
