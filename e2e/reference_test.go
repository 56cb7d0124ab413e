package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// TestReferenceWithoutScript: the API reference works without JavaScript. Only the API
// explorer, which needs it, is hidden.
func TestReferenceWithoutScript(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openTab(t, s.URL)
	b.disableScript()
	b.wantStatus(b.open("/docs/api"), 200)
	b.wantText("Authentication", "forms:read", "401005", "Create a form")
	b.wantStatus(b.press(`.index a[href$="/createForm"]`), 200)
	b.wantText("Create a form", "/api/v1/forms", "forms:write", "Idempotency-Key", "1 to 200 characters", `"title": "Order"`, "422001", "show_if")
	b.do(chromedp.Click(`#body ~ table a[href="#Field"]`))
	if got := b.location().Fragment; got != "Field" {
		t.Errorf("the browser is at #%s", got)
	}
	b.do(chromedp.WaitNotVisible(`.explorer`))
	b.wantStatus(b.press(`.breadcrumb a[href="/docs/api"]`), 200)
	b.wantPath("/docs/api")
}

// TestReferenceOnPhone: on a phone the list of operations is collapsed and opens
// without JavaScript.
func TestReferenceOnPhone(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openTab(t, s.URL)
	b.disableScript()
	b.do(chromedp.EmulateViewport(360, 800))
	b.wantStatus(b.open("/docs/api/listForms"), 200)
	b.do(chromedp.WaitNotVisible(`.index a[href$="/readForm"]`), chromedp.Click(`.index-toggle`))
	b.wantStatus(b.press(`.index a[href$="/readForm"]`), 200)
	b.wantPath("/docs/api/readForm")
}
