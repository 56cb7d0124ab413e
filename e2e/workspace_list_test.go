package e2e

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"formulary/internal/form"
	"formulary/internal/store"
)

// The list beside the response: keys, marks, views, more pages, and a search in parts.
func TestResponseList(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := openOwnerDB(t, s)
	id, from := createPoll(d)
	b := signedInTab(t, s, ada)
	b.focusTab()
	b.do(chromedp.EmulateViewport(1280, 860))
	responses := "/forms/" + id + "/responses"
	b.wantStatus(b.open(responses), 200)
	const shown = `document.querySelector(".detail-pane h2").innerText`
	const current = `document.querySelector(".response-list [aria-current] b").textContent`
	b.wait(shown + ` === "Person 59" && ` + current + ` === "Person 59"`)
	if totals, err := d.db.MarkTotals(t.Context(), d.owner, id); err != nil || totals.New != 60 {
		t.Errorf("%d responses are new before one is opened (%v)", totals.New, err)
	}

	// J opens and goes on, K goes back, arrows do the same in the list. What was opened is read.
	b.typeKeys("j")
	b.wait(`document.querySelectorAll(".response-list .is-new").length === 24`)
	b.typeKeys("j")
	b.wait(shown + ` === "Person 58" && ` + current + ` === "Person 58"`)
	b.wait(`document.querySelectorAll(".response-list .is-new").length === 23`)
	b.typeKeys("k")
	b.wait(shown + ` === "Person 59"`)
	b.typeKeys(kb.ArrowDown)
	b.wait(shown + ` === "Person 58"`)
	b.typeKeys("e")
	b.wait(`document.querySelector(".response-list .is-done b")?.textContent === "Person 58"`)
	b.typeKeys("x")
	b.wait(`document.querySelector(".selection-bar").innerText.includes("1 selected")`)
	b.typeKeys("x")
	b.do(chromedp.Click(".response-list li:nth-child(4) a"))
	b.wait(shown + ` === "Person 56"`)

	// A key at the end of the list loads more of it.
	b.do(chromedp.Click(".response-list li:last-child a"))
	b.wait(shown + ` === "Person 35"`)
	b.typeKeys("j")
	b.wait(shown + ` === "Person 34" && document.querySelectorAll(".response-list li").length === 50`)

	// A filter as a view, with what it found marked in the list and in the response.
	b.wantStatus(b.open(responses+"?where=who:contains:person+4&where=colour:equals:blue"), 200)
	b.wait(`document.querySelectorAll(".response-list b mark").length === 5 && document.querySelectorAll(".detail-pane mark").length === 1`)
	b.do(chromedp.Click(`//summary[normalize-space()="Save view"]`))
	b.fill(`[name="name"]`, "Blue forties")
	b.wantStatus(b.press(`.views .primary`), 200)
	b.wantText("View saved.", "Who? contains person 4", "Which colour? is Deep blue", "1–5 of 5")
	b.wantStatus(b.open(responses), 200)
	b.wantStatus(b.press(link("Blue forties 5")), 200)
	b.wantText("1–5 of 5")

	// A search that takes longer than one request shows how far it is, and can be stopped.
	public, err := d.db.PublicForm(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 1500 {
		if _, err := d.db.SubmitResponse(t.Context(), store.Submission{Form: public, Answers: map[string]any{"who": "Crowd"}, Metadata: form.Metadata{Source: "page"}, At: from.AddDate(0, 1, 0).Add(time.Duration(n) * time.Second)}); err != nil {
			t.Fatal(err)
		}
	}
	b.wantStatus(b.open(responses+"?search=person+07&budget=0"), 200)
	b.wait(`document.querySelector("[data-scan]") === null`)
	b.wantText("Person 07", "1–1 of 1")
	// Stop ends a request that takes long, and keeps what was found.
	stopped := signedInTab(t, s, ada)
	stopped.injectScript(`{
		const send = fetch;
		let parts = 0;
		window.fetch = (address, options = {}) => !String(address).includes("from=") || ++parts === 1 ? send(address, options)
			: new Promise((_, reject) => { window.waiting = true; options.signal.addEventListener("abort", () => { window.waiting = false; reject(options.signal.reason); }); });
	}`)
	stopped.wantStatus(stopped.open(responses+"?search=crowd&budget=0"), 200)
	stopped.wait(`window.waiting === true && document.querySelector("[data-scan] progress").value > 0`)
	stopped.do(chromedp.Click("[data-stop]"))
	stopped.wait(`window.waiting === false && document.querySelector("[data-stop]").hidden && !document.querySelector("[data-scan] a").hidden`)
	stopped.wantText("Crowd", "Continue search")
	stopped.wantStatus(stopped.press(link("Continue search")), 200)
	stopped.wantNoProblems()
	b.disableScript()
	b.wantStatus(b.open(responses+"?search=person+07&budget=0"), 200)
	b.wantText("Searching…", "Continue search")
	for b.count("[data-scan]") == 1 {
		b.wantStatus(b.press(link("Continue search")), 200)
	}
	b.wantText("Person 07", "1–1 of 1")
	b.wantNoProblems()
}
