package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"formulary/internal/cli/clitest"
)

// fewActions is how much a newcomer should have to do until the first answer is
// read: each page opened, each field filled in and each button pressed counts.
const fewActions = 25

// paste puts a text where the focus is, as from the clipboard.
func (b *tab) paste(text string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => {
		const brought = new DataTransfer();
		brought.setData("text/plain", %q);
		document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData: brought, bubbles: true, cancelable: true }));
	})()`, text)))
}

// Somebody who has never seen the service comes from the set-up link to the first
// answer without help and in a few steps.
func TestFirstForm(t *testing.T) {
	t.Parallel()
	setup := firstStart(t)
	site, _, _ := strings.Cut(setup, "/setup")
	b, guest := openTab(t, site), openTab(t, site)
	b.prefer("light")
	b.inFront()
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
	fill := func(b *tab, selector, words string) {
		t.Helper()
		act(func() { b.fill(selector, words) })
	}

	act(func() { b.wantStatus(b.open(setup), 200) })
	fill(b, `input[name="email"]`, ada)
	fill(b, `input[name="name"]`, "Ada Lovelace")
	fill(b, `input[name="password"]`, clitest.Password)
	press(b, button("Create account"))
	b.wantWords("Create your first form")
	if n := b.count(".starters .starter"); n != 9 {
		t.Errorf("%d ways to start, want a blank one and 8", n)
	}
	press(b, ".starter.blank")
	b.wait(`document.querySelectorAll(".first .kind").length > 20`)
	fill(b, ".title", "Cake sale")
	click(`//button[contains(@class, "kind")][span[text()="Single choice"]]`)
	b.wait(`document.activeElement.matches(".asks textarea")`)
	act(func() { b.typeIn("Which cake would you like?") })
	click(`[data-option^="here."]`)
	act(func() { b.paste("Carrot cake\r\n  Cheesecake\r\n\r\nApple pie\n") })
	b.wait(`document.querySelectorAll('[data-option^="here."]').length === 3`) // in place of the examples
	click(".more .primary")
	click(`//dialog//button[contains(@class, "kind")][span[text()="Short text"]]`)
	b.wait(`document.activeElement.matches(".asks textarea")`)
	act(func() { b.typeIn("Your name") })
	click(".tools .primary")
	b.do(chromedp.WaitVisible("dialog form"))
	b.wantWords("Anyone with the link will be able to respond.")
	press(b, "dialog .primary")
	b.wantWords("Cake sale", "Open")
	address := b.text(".link code")
	if !strings.HasPrefix(address, site+"/f/") {
		t.Fatalf("the link is %q", address)
	}
	path := strings.TrimPrefix(address, site)

	act(func() { guest.wantStatus(guest.open(address), 200) })
	guest.wantWords("Cake sale", "Which cake would you like?", "Carrot cake", "Cheesecake", "Apple pie", "Your name")
	guest.wantNoWords("Option 1", "Option 2")
	act(func() { guest.choose("which_cake_would_you_like", "cheesecake") })
	fill(guest, `input[name="your_name"]`, "Grace")
	press(guest, button("Submit"))
	guest.wantPath(path + "/done")
	guest.wantWords("Thank you")

	press(b, `//nav[@class="tabs"]//a[contains(., "Responses")]`)
	b.wantWords("Which cake would you like?", "Cheesecake", "Grace", "1–1 of 1")
	press(b, "table.answers tbody th a")
	b.wantWords("Cheesecake", "Grace", "version 1")
	press(b, `//nav[@class="tabs"]//a[contains(., "Summary")]`)
	b.wantWords("Responses: 1", "Which cake would you like?", "1 answer", "Cheesecake")
	if actions > fewActions {
		t.Errorf("it took %d actions, more than %d", actions, fewActions)
	}
	t.Logf("%d actions", actions)
}
