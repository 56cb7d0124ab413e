package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"formulary/internal/form"
)

// goBack goes back in the history and waits until the page has the path.
func (b *tab) goBack(path string) {
	b.t.Helper()
	history := run(b, chromedp.NavigationEntries())
	sendCommand(b, page.NavigateToHistoryEntry, page.NavigateToHistoryEntryParams{EntryID: history.Entries[history.CurrentIndex-1].ID})
	b.wait(fmt.Sprintf(`location.pathname === %q && document.readyState === "complete"`, path))
}

// TestStoredOnce: however often the user submits, the response is stored once.
func TestStoredOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	ownerDB := openOwnerDB(t, s)
	for _, test := range []struct {
		name    string
		prepare func(*tab)
	}{
		{"script", func(*tab) {}},
		{"no script", (*tab).disableScript},
		// A page with an unload handler is not in the back/forward cache: the browser
		// requests it again and restores the inputs.
		{"forgotten", func(b *tab) { b.injectScript(`addEventListener("unload", () => {});`) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ownerDB := ownerDB.withT(t)
			path := ownerDB.publish(form.FormInput{Header: form.Header{Title: "Once"}, Definition: parseDefinition(t, `{"fields": [{"key": "a", "kind": "short_text", "label": "Word", "required": true}]}`)})
			b := openTab(t, s.URL)
			test.prepare(b)

			b.wantStatus(b.open(path), 200)
			b.fill(`input[name="a"]`, "one")
			b.navigate(chromedp.DoubleClick(button("Submit")))
			b.wait(`location.pathname.endsWith("/done")`)
			ownerDB.wantStored(path, `{"a": "one"}`)

			b.do(chromedp.Reload())
			b.wantPath(path + "/done")
			b.wantText("Thank you")
			ownerDB.wantStored(path, `{"a": "one"}`)

			// The browser restores the page with its inputs.
			b.goBack(path)
			b.wait(`document.querySelector('input[name="a"]').value === "one"`)
			run(b, chromedp.Evaluate[any](`document.querySelector("button.primary").focus(), null`))
			b.do(chromedp.KeyEvent(enter))
			b.wait(`location.pathname.endsWith("/done")`)
			ownerDB.wantStored(path, `{"a": "one"}`)
		})
	}
}
