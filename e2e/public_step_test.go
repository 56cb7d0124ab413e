package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"formulary/internal/form"
)

const stepQuestions = `{"fields": [
	{"key": "name", "kind": "short_text", "label": "Your name", "required": true},
	{"key": "what", "kind": "single_choice", "label": "Which workshop, {{name}}?", "options": [{"value": "a", "label": "Wheel"}, {"value": "b", "label": "Hand"}, {"value": "c", "label": "Glaze"}], "other": true},
	{"key": "some", "kind": "multiple_choice", "label": "Which days?", "options": [{"value": "fr", "label": "Friday"}, {"value": "sa", "label": "Saturday"}]},
	{"key": "likely", "kind": "scale", "label": "How likely?", "min": 0, "max": 10},
	{"key": "grid", "kind": "matrix", "label": "How often?", "rows": [{"value": "r", "label": "Today"}], "options": [{"value": "n", "label": "Never"}, {"value": "o", "label": "Often"}]},
	{"key": "text", "kind": "long_text", "label": "Anything else?"},
	{"key": "last", "kind": "yes_no", "label": "All right?"}],
	"endings": [{"title": "See you, {{name|friend}}", "summary": true, "button_label": "Find us", "button_url": "https://example.com/", "event_start": "2027-06-12"}],
	"design": {"layout": "one_at_a_time", "mood": "paper", "brand": "#b4532a"}}`

// pressKey presses a key that loads another page.
func (b *tab) pressKey(keys string) {
	b.t.Helper()
	b.wantStatus(b.navigate(chromedp.KeyEvent(keys)), 200)
	b.wait(`!!document.querySelector("form.step kbd:not([hidden]), .end")`)
}

// TestLiveProgress: the bar follows the answers on the page, and conditions.
func TestLiveProgress(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := publishForm(t, s, form.Header{Title: "Bar"}, `{"fields": [{"key": "a", "kind": "short_text", "label": "First"}, {"key": "b", "kind": "yes_no", "label": "More?"},
		{"key": "c", "kind": "slider", "label": "How much?"}, {"key": "d", "kind": "short_text", "label": "Which?", "show_if": {"field": "b", "op": "equals", "value": true}},
		{"kind": "page_break"}, {"key": "e", "kind": "short_text", "label": "Last"}]}`)
	b := openTab(t, s.URL)
	b.wantStatus(b.open(path), 200)
	bar := func(value, max int) {
		t.Helper()
		b.wait(fmt.Sprintf(`(({ value, max }) => value === %d && max === %d)(document.querySelector("progress"))`, value, max))
	}
	bar(0, 4)
	b.fill("[name=a]", "x")
	bar(1, 4)
	b.do(chromedp.Click(`//label[contains(., "Yes")]`))
	bar(2, 5)
	b.do(chromedp.Focus("[name=c]"), chromedp.KeyEvent(kb.ArrowRight))
	bar(3, 5)
	b.wantStatus(b.press("button.primary"), 200)
	bar(3, 5)
	b.wantText("Page 2 of 2")
}

// TestOneAtATime: with JavaScript, one question at a time can be answered by keys alone, and
// a choice continues by itself.
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := publishForm(t, s, form.Header{Title: "Ceramics weekend", Description: "Two slow days."}, stepQuestions)
	b := openTab(t, s.URL)
	b.wantStatus(b.open(path), 200)
	waitUntilStill := func() { // a click on a question that still moves would miss
		t.Helper()
		b.wait(`document.getAnimations().every((a) => a.playState !== "running")`)
	}
	accessible := func(name string) {
		for _, scheme := range []string{"light", "dark"} {
			b.setColorScheme(scheme)
			waitUntilStill()
			for _, violation := range b.axeViolations() {
				t.Errorf("%s, %s: %s", name, scheme, violation)
			}
		}
	}
	accessible("the first screen")
	b.pressKey(kb.Enter)
	b.wait(`document.activeElement.id === "name"`)
	b.wantText("1 of 7")
	b.do(chromedp.KeyEvent("Ada"))
	b.pressKey(kb.Enter)
	b.wantText("Which workshop, Ada?", "2 of 7")
	b.wait(`document.activeElement.matches("fieldset#what")`)
	if shown := run(b, chromedp.Evaluate[string](`Array.from(document.querySelectorAll(".choice > .key"), (k) => k.textContent).join("")`)); shown != "ABCD" {
		t.Errorf("the letters are %s", shown)
	}
	accessible("a choice")
	// A letter chooses and continues; Back keeps it.
	b.pressKey("b")
	b.wantText("Which days?", "3 of 7")
	b.wantStatus(b.press(button("Back")), 200)
	b.wait(`document.querySelector("[name=what][value=b]").checked && document.querySelector("form.step").matches(".backwards")`)
	// The note about kept answers, which appears once the scripts are loaded, moves nothing.
	b.wait(`document.querySelector(".kept:not([hidden])")?.checkVisibility()`)
	waitUntilStill()
	const noteMoves = `(() => {
		const top = () => document.querySelector("#what").getBoundingClientRect().top, note = document.querySelector(".kept:not([hidden])"), shown = top();
		note.hidden = true;
		const moved = top() - shown;
		note.hidden = false;
		return moved;
	})()`
	for _, width := range []int64{1280, 700, 360} {
		b.do(chromedp.EmulateViewport(width, 800))
		if moved := run(b, chromedp.Evaluate[float64](noteMoves)); moved != 0 {
			t.Errorf("at %d pixels, the note moves the question by %v", width, moved)
		}
	}
	b.do(chromedp.EmulateViewport(1280, 800))
	// So does a click, but neither arrow keys nor "Other".
	waitUntilStill()
	b.do(chromedp.Click(`//label[contains(., "Other")]`))
	b.wait(`document.querySelector("[name=what][value=_other]").checked`)
	b.do(chromedp.Focus(`[name=what][value=b]`), chromedp.KeyEvent(kb.ArrowUp))
	b.wait(`document.querySelector("[name=what][value=a]").checked`)
	waitUntilStill()
	b.wantStatus(b.navigate(chromedp.Click(`//label[contains(., "Glaze")]`)), 200)
	b.wantText("Which days?")
	// Several can be chosen; Enter continues.
	b.do(chromedp.KeyEvent("a"), chromedp.KeyEvent("b"), chromedp.KeyEvent("a"))
	b.wait(`Array.from(document.querySelectorAll(":checked"), (e) => e.value).join() === "sa"`)
	b.pressKey(kb.Enter)
	// Digits choose numbers.
	b.wantText("How likely?")
	b.do(chromedp.KeyEvent("1"), chromedp.KeyEvent("0"))
	b.wait(`document.querySelector(":checked").value === "10"`)
	accessible("a scale")
	b.pressKey(kb.Enter)
	b.wantText("How often?")
	if n := b.count(".matrix .key"); n != 0 {
		t.Errorf("%d letters in a matrix", n)
	}
	// The back button of the browser works, and so does forward.
	b.do(chromedp.Evaluate[chromedp.Void](`setTimeout(() => history.back())`))
	b.wait(`document.body?.innerText.includes("How likely?")`)
	b.do(chromedp.Evaluate[chromedp.Void](`setTimeout(() => history.forward())`))
	b.wait(`document.body?.innerText.includes("How often?") && !document.querySelector(".row > .key").hidden`)
	b.pressKey(kb.Enter)
	b.wantText("Anything else?")
	b.do(chromedp.KeyEvent("One"), chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent("Two"))
	b.wantStatus(b.navigate(chromedp.Click(button("Continue"))), 200)
	// On the last question a choice does not submit the form.
	b.wantText("7 of 7")
	b.do(chromedp.Evaluate[chromedp.Void](`window.timers = 0, window.setTimeout = () => { window.timers++; }`))
	b.do(chromedp.KeyEvent("a"))
	b.wait(`document.querySelector("[name=last][value=true]").checked`)
	if timers := run(b, chromedp.Evaluate[int](`window.timers`)); timers != 0 {
		t.Error("the last choice submits the form")
	}
	b.do(chromedp.EmulateViewport(360, 740))
	if width := run(b, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`)); width > 360 {
		t.Errorf("%d pixels wide on a screen of 360: %s", width, run(b, chromedp.Evaluate[string](overflowing)))
	}
	if n := run(b, chromedp.Evaluate[int](`Array.from(document.querySelectorAll(".key")).filter((k) => k.checkVisibility()).length`)); n != 0 {
		t.Errorf("%d keys are shown on a phone", n)
	}
	if small := run(b, chromedp.Evaluate[string](smallTargets)); small != "" {
		t.Errorf("too small are %s", small)
	}
	b.wantStatus(b.press(button("Submit")), 200)
	b.wantText("See you, Ada", "Find us", "Add to calendar")
	b.do(chromedp.Click(".copy summary"))
	b.wantText("Which workshop, Ada?", "Glaze")
	accessible("the ending")
	openOwnerDB(t, s).wantStored(path, `{"name": "Ada", "what": "c", "some": ["sa"], "likely": 10, "text": "One\nTwo", "last": true}`)
}

// A choice that makes its question the last one shows the button that submits the form.
func TestChoiceDoesNotSubmit(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := publishForm(t, s, form.Header{Title: "Short"}, `{"fields": [{"key": "go", "kind": "yes_no", "label": "Go on?", "jumps": [{"if": {"field": "go", "op": "equals", "value": false}, "to": "bye"}]},
		{"kind": "page_break"}, {"key": "more", "kind": "short_text", "label": "More"}], "endings": [{"key": "bye", "title": "Bye"}], "design": {"layout": "one_at_a_time"}}`)
	b := openTab(t, s.URL)
	b.wantStatus(b.open(path), 200)
	b.wantStatus(b.navigate(chromedp.Click(`//label[contains(., "No")]`)), 200)
	b.wantText("Go on?", "Submit")
	openOwnerDB(t, s).wantStored(path)
	b.wantStatus(b.press(button("Submit")), 200)
	b.wantText("Bye")
}
