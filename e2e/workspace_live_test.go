package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"formulary/internal/form"
)

// submitTo stores a response now, as a respondent would.
func (d ownerDB) submitTo(id, who, colour string) string {
	d.t.Helper()
	return d.addResponse("/f/"+id, map[string]any{"who": who, "colour": colour}, time.Now())
}

// New responses appear in the table, with selection, focus and filter untouched.
func TestLiveResponses(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := openOwnerDB(t, s)
	path := d.publish(form.FormInput{Header: form.Header{Title: "Poll", Language: "en"}, Availability: form.Availability{Sites: form.AnySite}, Definition: parseDefinition(t, pollForm)})
	id := strings.TrimPrefix(path, "/f/")
	d.useTable(id)
	b := signedInTab(t, s, ada)
	b.open("/forms/" + id + "/responses")
	b.wantText("No responses yet")

	const names = `Array.from(document.querySelectorAll(".response-table tbody tr"), (row) => row.children[2].textContent).join()`
	const status = `document.querySelector("[role=status][data-live]").textContent`
	d.submitTo(id, "Ada", "red")
	b.wait(names + ` === "Ada"`)
	b.wait(status + ` === "1 new response"`)
	b.wait(`document.querySelector(".tabs [aria-current] .muted").textContent === "1"`)

	// The first row is selected and has the focus.
	b.do(chromedp.Click(".response-table tbody input"))
	d.submitTo(id, "Bob", "blue")
	b.wait(names + ` === "Bob,Ada"`)
	b.wait(`document.querySelectorAll(".response-table tbody input")[1].checked && document.querySelectorAll(".response-table tbody input")[1] === document.activeElement`)
	b.wait(`document.querySelector("[data-live-part=range]").textContent.startsWith("1–2 of 2")`)
	b.do(chromedp.Click("[data-select-all] input"))
	b.wait(`document.querySelectorAll(".response-table tbody input:checked").length === 2`)

	// A filter that excludes a response hides it, and nothing is announced.
	b.open("/forms/" + id + "/responses?where=colour&is=Red")
	b.wait(names + ` === "Ada"`)
	d.submitTo(id, "Cyd", "blue")
	b.wait(`document.querySelector(".tabs [aria-current] .muted").textContent === "3"`)
	b.wait(names + ` === "Ada" && ` + status + ` === ""`)
	d.submitTo(id, "Dan", "red")
	b.wait(names + ` === "Dan,Ada" && ` + status + ` === "1 new response"`)
	b.wantNoProblems()
}

// Counts on the home page and charts on the summary page follow.
func TestLiveCounts(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := openOwnerDB(t, s)
	path := d.publish(form.FormInput{Header: form.Header{Title: "Poll", Language: "en"}, Availability: form.Availability{Sites: form.AnySite}, Definition: parseDefinition(t, pollForm)})
	id := strings.TrimPrefix(path, "/f/")
	d.submitTo(id, "Ada", "red")
	b := signedInTab(t, s, ada)
	b.open("/")
	b.wait(`document.querySelector(".count strong").textContent === "1"`)
	d.submitTo(id, "Bob", "blue")
	b.wait(`document.querySelector(".count strong").textContent === "2"`)

	b.open("/forms/" + id + "/summary")
	b.wait(`document.querySelector("main h2").textContent.endsWith(": 2")`)
	b.do(chromedp.Click("main details:not(.menu) summary"))
	d.submitTo(id, "Cyd", "blue")
	b.wait(`document.querySelector(".tabs .muted").textContent === "3"`)
	// What the user works with is left alone until the focus is elsewhere.
	b.do(chromedp.Click("h1"))
	d.submitTo(id, "Dan", "blue")
	b.wait(`document.querySelector("main h2").textContent.endsWith(": 4") && document.querySelector("main details:not(.menu)").open`)
	b.wantNoProblems()
}
