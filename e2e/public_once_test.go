package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"formulary/internal/form"
)

// back goes back as the browser's button does and waits until the tab is at a path.
func (b *tab) back(path string) {
	b.t.Helper()
	history := ask(b, chromedp.NavigationEntries())
	call(b, page.NavigateToHistoryEntry, page.NavigateToHistoryEntryParams{EntryID: history.Entries[history.CurrentIndex-1].ID})
	b.wait(fmt.Sprintf(`location.pathname === %q && document.readyState === "complete"`, path))
}

// However often people press, what they answered is stored once.
func TestStoredOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	desk := openDesk(t, s)
	for _, test := range []struct {
		name    string
		prepare func(*tab)
	}{
		{"script", func(*tab) {}},
		{"no script", (*tab).withoutScript},
		// A page that listens for its end is not kept by the browser, which then
		// asks for it again and fills in what was there.
		{"forgotten", func(b *tab) { b.onEveryPage(`addEventListener("unload", () => {});`) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			desk := desk.in(t)
			path := desk.publish(form.FormInput{Header: form.Header{Title: "Once"}, Definition: asking(t, `{"fields": [{"key": "a", "kind": "short_text", "label": "Word", "required": true}]}`)})
			b := openTab(t, s.URL)
			test.prepare(b)

			b.wantStatus(b.open(path), 200)
			b.fill(`input[name="a"]`, "one")
			b.leads(chromedp.DoubleClick(button("Submit")))
			b.wait(`location.pathname.endsWith("/done")`)
			desk.wantStored(path, `{"a": "one"}`)

			b.do(chromedp.Reload())
			b.wantPath(path + "/done")
			b.wantWords("Thank you")
			desk.wantStored(path, `{"a": "one"}`)

			// The browser gives the page back as it was filled in.
			b.back(path)
			b.wait(`document.querySelector('input[name="a"]').value === "one"`)
			ask(b, chromedp.Evaluate[any](`document.querySelector("button.primary").focus(), null`))
			b.do(chromedp.KeyEvent(enter))
			b.wait(`location.pathname.endsWith("/done")`)
			desk.wantStored(path, `{"a": "one"}`)
		})
	}
}
