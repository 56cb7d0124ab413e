package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"formulary/internal/form"
	"formulary/internal/store"
)

// A visit in the browser counts once on each page, and the summary shows where visits ended.
func TestDropOff(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := openOwnerDB(t, s)
	path := d.publish(form.FormInput{Header: form.Header{Title: "Trip", Language: "en"}, Definition: parseDefinition(t, `{"fields": [
		{"key": "who", "kind": "short_text", "label": "Who?"}, {"key": "more", "kind": "page_break", "label": "More about you"}, {"key": "why", "kind": "short_text", "label": "Why?"}]}`)})
	b := signedInTab(t, s, ada)
	summary := "/forms/" + strings.TrimPrefix(path, "/f/") + "/summary"
	b.wantStatus(b.open(summary), 200)
	b.wantText("No responses yet", "Once people open the form, you see here on which page they leave it.")
	guest := openTab(t, s.URL)
	guest.wantStatus(guest.open(path), 200) // leaves
	guest.wantStatus(guest.open(path), 200)
	guest.fill(`[name="who"]`, "Ada")
	guest.wantStatus(guest.press(`[value="next"]`), 200)
	guest.wantStatus(guest.press(`[value="back"]`), 200)
	guest.wantStatus(guest.press(`[value="next"]`), 200)
	guest.wantText("More about you")
	guest.fill(`[name="why"]`, "Fun")
	guest.wantStatus(guest.press(`[value="next"]`), 200)
	for deadline := time.Now().Add(30 * time.Second); ; {
		b.wantStatus(b.open(summary), 200)
		if strings.Contains(b.text("#drop-off"), "2 visits · 1 submitted") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the summary has %q", b.text("#drop-off"))
		}
	}
	b.wantText("Completion rate", "50 %", "Median time")
	b.do(chromedp.Click("#drop-off details summary"))
	// Reached, share, and left here.
	if rows := b.readTexts("#drop-off tbody tr"); strings.Join(rows, "|") != "Page 12100 %1|More about you150 %0|Submitted150 %" {
		t.Errorf("the table is %q", rows)
	}
	b.wantAccessible("drop-off")
	b.wantNoProblems()
}

// Counting very many responses shows how far it is, and can be stopped and continued.
func TestSummaryStop(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := openOwnerDB(t, s)
	id, from := createPoll(d)
	public, err := d.db.PublicForm(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 1500 {
		if _, err := d.db.SubmitResponse(t.Context(), store.Submission{Form: public, Answers: map[string]any{"who": "Crowd"}, At: from.AddDate(0, 1, 0).Add(time.Duration(n) * time.Second)}); err != nil {
			t.Fatal(err)
		}
	}
	summary := "/forms/" + id + "/summary?search=o&budget=0"
	b := signedInTab(t, s, ada)
	b.injectScript(`window.EventSource = class extends EventTarget {
		constructor(address) {
			super();
			window.counting = address;
			setTimeout(() => this.dispatchEvent(new MessageEvent("progress", { data: "40" })));
		}
		close() { window.counting = ""; }
	};`)
	b.wantStatus(b.open(summary), 200)
	b.wait(`window.counting.includes("progress=1") && document.querySelector(".scan progress").value === 40 && document.querySelector("[data-percent]").textContent === "40 %"`)
	b.do(chromedp.Click("[data-stop]"))
	b.wait(`window.counting === "" && document.querySelector("[data-stop]").hidden`)
	b.wantStatus(b.press(link("Count all")), 200)
	b.wantText("Responses: 1,560")
	if n := b.count("[data-scan]"); n != 0 {
		t.Errorf("%d parts are left", n)
	}

	// Without interruption, the page counts all by itself.
	whole := signedInTab(t, s, ada)
	whole.wantStatus(whole.open(summary), 200)
	whole.wait(`document.querySelector("[data-scan]") === null`)
	whole.wantText("Responses: 1,560")
	whole.wantNoProblems()
	b.wantNoProblems()
}
