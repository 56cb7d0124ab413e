package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"formulary/internal/cli/clitest"
)

// maxActions is how many actions a new user may need until the first response is shown.
// Opening a page, filling in an input and pressing a button count as one each.
const maxActions = 25

// paste pastes a text into the focused element.
func (b *tab) paste(text string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => {
		const data = new DataTransfer();
		data.setData("text/plain", %q);
		document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
	})()`, text)))
}

// TestFirstForm: a new user gets from the setup link to the first response without
// help, in a few steps.
func TestFirstForm(t *testing.T) {
	t.Parallel()
	setup := firstStart(t)
	site, _, _ := strings.Cut(setup, "/setup")
	b, respondent := openTab(t, site), openTab(t, site)
	b.setColorScheme("light")
	b.focusTab()
	actions := 0
	act := func(do func()) {
		t.Helper()
		actions++
		do()
	}
	press := func(b *tab, selector string) {
		t.Helper()
		act(func() { b.wantStatus(b.press(selector), 200) })
	}
	click := func(selector string) {
		t.Helper()
		act(func() { b.do(chromedp.Click(selector)) })
	}
	fill := func(b *tab, selector, text string) {
		t.Helper()
		act(func() { b.fill(selector, text) })
	}

	act(func() { b.wantStatus(b.open(setup), 200) })
	fill(b, `input[name="email"]`, ada)
	fill(b, `input[name="name"]`, "Ada Lovelace")
	fill(b, `input[name="password"]`, clitest.Password)
	press(b, button("Create account"))
	b.wantText("Create your first form")
	if n := b.count(".template-list .template-button"); n != 9 {
		t.Errorf("%d buttons for new forms, want a blank form and 8 templates", n)
	}
	press(b, ".template-button.blank")
	b.wait(`document.querySelectorAll(".empty-form .kind").length > 20`)
	fill(b, ".title-input", "Cake sale")
	click(`//button[contains(@class, "kind")][span[text()="Single choice"]]`)
	b.wait(`document.activeElement.matches(".label-row textarea")`)
	act(func() { b.typeKeys("Which cake would you like?") })
	click(`[data-option^="canvas."]`)
	act(func() { b.paste("Carrot cake\r\n  Cheesecake\r\n\r\nApple pie\n") })
	b.wait(`document.querySelectorAll('[data-option^="canvas."]').length === 3`) // the pasted options replace the examples
	click(".add-buttons .primary")
	click(`//dialog//button[contains(@class, "kind")][span[text()="Short text"]]`)
	b.wait(`document.activeElement.matches(".label-row textarea")`)
	act(func() { b.typeKeys("Your name") })
	click(".toolbar .primary")
	b.do(chromedp.WaitVisible("dialog form"))
	b.wantText("Anyone with the link will be able to respond.")
	press(b, "dialog .primary")
	b.wantText("Cake sale", "Open")
	address := b.text(".share-link code")
	if !strings.HasPrefix(address, site+"/f/") {
		t.Fatalf("the link is %q", address)
	}
	path := strings.TrimPrefix(address, site)

	act(func() { respondent.wantStatus(respondent.open(address), 200) })
	respondent.wantText("Cake sale", "Which cake would you like?", "Carrot cake", "Cheesecake", "Apple pie", "Your name")
	respondent.wantNoText("Option 1", "Option 2")
	act(func() { respondent.choose("which_cake_would_you_like", "cheesecake") })
	fill(respondent, `input[name="your_name"]`, "Grace")
	press(respondent, button("Submit"))
	respondent.wantPath(path + "/done")
	respondent.wantText("Thank you")

	press(b, `//nav[@class="tabs"]//a[contains(., "Responses")]`)
	b.wantText("Cheesecake", "Grace", "1–1 of 1")
	act(func() { b.do(chromedp.Click(".response-list a")) })
	b.wantText("Cheesecake", "Grace", "version 1")
	press(b, `//nav[@class="tabs"]//a[contains(., "Summary")]`)
	b.wantText("Responses: 1", "Which cake would you like?", "1 answer", "Cheesecake")
	if actions > maxActions {
		t.Errorf("it took %d actions, more than %d", actions, maxActions)
	}
	t.Logf("%d actions", actions)
}
