package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"formulary/internal/cli/clitest"
)

// TestTour counts clicks and filled fields from the setup link to the first response, with
// the tour that creates the first form.
func TestTour(t *testing.T) {
	t.Parallel()
	setup := firstStart(t)
	site, _, _ := strings.Cut(setup, "/setup")
	b := openTab(t, site)
	b.setColorScheme("light")
	b.focusTab()
	began, actions := time.Now(), 0
	press := func(selector string) {
		t.Helper()
		actions++
		b.wantStatus(b.press(selector), 200)
	}
	fill := func(selector, text string) {
		t.Helper()
		actions++
		b.fill(selector, text)
	}

	actions++
	b.wantStatus(b.open(setup), 200)
	fill(`input[name="email"]`, ada)
	fill(`input[name="name"]`, "Ada Lovelace")
	fill(`input[name="password"]`, clitest.Password)
	press(button("Create account"))

	b.wantText("Create your first form")
	fill(`input[name="title"]`, "Cake sale")
	fill(`textarea[name="questions"]`, "Your name\nWhich cake would you like?: Carrot cake, Cheesecake, Apple pie\nYour email")
	actions++
	b.do(chromedp.Click(`input[name="mood"][value="paper"]`))
	press(button("Create form"))
	b.wantText("2/4", "This is your form.")
	b.do(chromedp.WaitVisible(".toolbar .primary"))
	actions++
	b.do(chromedp.Click(".toolbar .primary"), chromedp.WaitVisible("dialog form"))
	press("dialog .primary")
	b.wantText("3/4", "Your form is live.", "Cake sale", "Open")
	address := b.text(".share-link code")

	actions++
	b.wantStatus(b.open(address), 200) // the link opens another window
	b.wantText("Cake sale", "Which cake would you like?", "Carrot cake", "Cheesecake", "Apple pie")
	if b.count(`link[href*="form-paper"]`) != 1 || b.count(`input[type="email"]`) != 1 {
		t.Error("the form has not the chosen look, or no question for an email address")
	}
	fill(`input[name="your_name"]`, "Grace")
	actions++
	b.choose("which_cake_would_you_like", "cheesecake")
	press(button("Submit"))
	b.wantText("Thank you")
	t.Logf("%d clicks and fields, %s", actions, time.Since(began).Round(time.Second))
	if actions > maxActions {
		t.Errorf("%d clicks and fields, more than %d", actions, maxActions)
	}

	form := strings.TrimPrefix(address, site+"/f/")
	b.wantStatus(b.open("/forms/"+form+"/responses"), 200)
	b.wantText("4/4", "Your first response.", "Grace", "Cheesecake")
	b.wantStatus(b.press(button("End tour")), 200)
	b.wantListed("Cake sale")
	b.wantStatus(b.open("/forms/"+form+"/responses"), 200)
	b.wantNoText("Your first response.")

	// The list of forms: a key to search, results while typing, folders.
	b.wantStatus(b.open("/"), 200)
	b.do(chromedp.Evaluate[chromedp.Void](`document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "/", bubbles: true }))`))
	b.wait(`document.activeElement.name === "search"`)
	b.typeKeys("zzz")
	b.wait(`document.querySelector("#forms .empty-state") !== null && location.search === "?search=zzz"`)
	b.fill(`input[name="search"]`, "cake")
	b.wait(`document.querySelectorAll(".forms > li").length === 1 && document.querySelector("#found").textContent === "One form found"`)
	if got := run(b, chromedp.Evaluate[bool](`getComputedStyle(document.querySelector(".mini-paper")).backgroundColor !== getComputedStyle(document.body).backgroundColor`)); !got {
		t.Error("the miniature has no colors of its own")
	}
	b.do(chromedp.Click(".forms .menu summary"))
	b.fill(`.forms [name="folder"]`, "Bakery")
	b.wantStatus(b.press(".forms .move button"), 200)
	b.wantText("Bakery")
	b.wantListed("Cake sale")

	// The account: all time zones, by city.
	b.wantStatus(b.open("/account"), 200)
	b.do(chromedp.Focus(`[name="time_zone"]`))
	b.wait(`document.querySelectorAll("#zones option").length > 300`)
	b.fill(`[name="language"]`, "German")
	b.wantStatus(b.press(`form[action="/account/profile"] button:not([type])`), 200)
	b.wantText("Zeitzone")
	if got := run(b, chromedp.Value(`[name="language"]`)); got != "Deutsch (de)" {
		t.Errorf("the language is %q", got)
	}
	b.wantNoProblems()
}
