package e2e

import (
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"formulary/internal/form"
)

// pressed is the status that the page of a response shows.
const pressed = `document.querySelector("[name=status][aria-pressed=true]")?.value`

// A person works with responses by mouse and keys, without leaving the page.
func TestResponse(t *testing.T) {
	t.Parallel()
	s := start(t)
	d := openOwnerDB(t, s)
	path := d.publish(form.FormInput{Header: form.Header{Title: "Poll", Language: "en"}, Definition: parseDefinition(t, pollForm)})
	from := time.Date(2026, 3, 1, 0, 30, 0, 0, time.UTC)
	older := d.addResponse(path, map[string]any{"who": "Ben", "days": []string{"fri", "sat"}}, from)
	newer := d.addResponse(path, map[string]any{"who": "Ada", "stars": 4.0, "likely": 8.0, "note": "two\nlines"}, from.Add(time.Hour))
	list := "/forms/" + path[len("/f/"):] + "/responses"
	b := signedInTab(t, s, ada)
	b.wantStatus(b.open(list+"/"+newer), 200)
	b.wait(pressed + ` === "read"`) // opening it is reading it
	b.wantText("Ada", "two\nlines")
	b.do(chromedp.Click(".star"))
	b.wait(`document.querySelector(".star").ariaPressed === "true"`)
	b.do(chromedp.Click(".add-tag summary"), chromedp.SendKeys("[name=tag]", "Deposit, Gift\r"))
	b.wait(`document.querySelectorAll(".mark-tag").length === 2`)
	b.do(chromedp.Click(`[name=untag][value=Gift]`))
	b.wait(`document.querySelectorAll(".mark-tag").length === 1`)
	b.do(chromedp.SendKeys(".note-new textarea", "Call back"), chromedp.Click(".note-new button"))
	b.wait(`document.querySelector(".note-text")?.textContent === "Call back"`)
	b.wait(`document.activeElement.closest(".note-new") !== null`) // ready for the next one
	b.do(chromedp.SendKeys(".note-new textarea", "e"))             // keys belong to the control
	b.wait(`document.querySelector(".note-new textarea").value === "e" && ` + pressed + ` === "read"`)
	run(b, chromedp.Evaluate[any](`document.activeElement.blur()`))
	b.typeKeys("e")
	b.wait(pressed + ` === "done"`)

	// What does not fit is said, and nothing is lost.
	b.do(chromedp.Click(".add-tag summary"), chromedp.SendKeys("[name=tag]", "a tag that is much longer than forty characters\r"))
	b.wait(`document.querySelector("[data-problem]").checkVisibility()`)
	b.wantText("Use no more than 40 characters in a tag.")
	b.wantRefused("/mark", 422)

	// Only the response is printed.
	sendCommand(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	b.wait(`document.querySelector(".answers").checkVisibility()`)
	for _, hidden := range []string{".brand", ".tabs", ".detail-actions", ".note-new", ".add-tag", ".mark-tag button"} {
		b.wait(`!document.querySelector("` + hidden + `").checkVisibility()`)
	}
	sendCommand(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})

	run(b, chromedp.Evaluate[any](`document.activeElement.blur()`)) // it is still in the tag
	if status := b.navigate(chromedp.KeyEvent("j")); status != 200 {
		t.Errorf("the next response: %d", status)
	}
	b.wantPath(list + "/" + older)
	b.wait(pressed + ` === "read"`)
	b.wantStatus(b.open(list+"/"+older+"/edit"), 200)
	b.fill("[name=who]", "Benno")
	b.wantStatus(b.press("button.primary"), 200)
	b.wantPath(list + "/" + older)
	b.wantText("Benno", "Changes saved.")
	b.wantNoProblems()
}
