package e2e

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"formulary/internal/form"
)

// setMotion sets whether the respondent prefers less motion: reduce, or no-preference.
func (b *tab) setMotion(preference string) {
	b.t.Helper()
	sendCommand(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: preference}}})
}

// moving lists what moves on the page or would move when it changes.
const moving = `[...document.querySelectorAll("*")].flatMap((e) => ["", "::before", "::after"].map((part) => [e, part, getComputedStyle(e, part)]))
	.filter(([, , s]) => s.animationName !== "none" || s.transitionDuration.split(", ").some((d) => d !== "0s") || s.scrollBehavior === "smooth")
	.map(([e, part, s]) => e.tagName + "." + e.getAttribute("class") + part + " " + s.animationName).join(", ")`

// TestMotion: a question rises gently, the previous one comes from above, and nothing moves if
// the respondent prefers less motion.
func TestMotion(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := publishForm(t, s, form.Header{Title: "Motion", Description: "Gentle."}, `{"fields": [{"key": "a", "kind": "yes_no", "label": "First"}, {"key": "b", "kind": "short_text", "label": "Second"}],
		"endings": [{"title": "Done"}], "design": {"layout": "one_at_a_time", "mood": "playful"}}`)
	classic := publishForm(t, s, form.Header{Title: "Motion"}, `{"fields": [{"key": "a", "kind": "yes_no", "label": "First"},
		{"key": "b", "kind": "single_choice", "label": "Second", "options": [{"label": "One"}], "show_if": {"field": "a", "op": "equals", "value": true}}], "design": {"mood": "bold"}}`)
	b := openTab(t, s.URL)
	animation := func(selector, want string) {
		t.Helper()
		if got := run(b, chromedp.Evaluate[string](`(({ animationName, animationDuration }) => animationName + " " + animationDuration)(getComputedStyle(document.querySelector("`+selector+`")))`)); got != want {
			t.Errorf("%s moves by %q, want %q", selector, got, want)
		}
	}
	b.setMotion("no-preference")
	b.wantStatus(b.open(path), 200)
	b.wantStatus(b.press(button("Begin")), 200)
	animation(".sheet", "next 0.36s")
	b.wantStatus(b.press(button("Continue")), 200)
	b.wantStatus(b.press(button("Back")), 200)
	animation(".sheet", "previous 0.36s")
	b.wantStatus(b.open(path+"/done"), 200)
	animation(".mark", "pop 0.5s")

	b.setMotion("reduce")
	still := func(name string) {
		t.Helper()
		if list := run(b, chromedp.Evaluate[string](moving)); list != "" {
			t.Errorf("%s moves: %s", name, list)
		}
		if n := run(b, chromedp.Evaluate[int](`document.getAnimations().length`)); n != 0 {
			t.Errorf("%s: %d animations", name, n)
		}
	}
	still("the ending")
	b.wantStatus(b.open(path), 200)
	still("the first screen")
	b.wantStatus(b.press(button("Begin")), 200)
	still("a question")
	b.wantStatus(b.press(button("Continue")), 200)
	b.wantStatus(b.press(button("Back")), 200)
	still("the question before")
	b.wantStatus(b.open(classic), 200)
	b.do(chromedp.Click(`//label[contains(., "Yes")]`))
	b.wait(`document.querySelector(".conditional").checkVisibility()`)
	still("all questions")
}

// TestOneAtATimeRightToLeft: in Arabic everything is mirrored: marks, letters, scales, arrow
// keys, the bar.
func TestOneAtATimeRightToLeft(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := publishForm(t, s, form.Header{Title: "ورشة الخزف", Description: "يومان هادئان", Language: "ar"}, `{"fields": [
		{"key": "one", "kind": "single_choice", "label": "أي ورشة؟", "options": [{"value": "a", "label": "العجلة"}, {"value": "b", "label": "اليد"}, {"value": "c", "label": "الطلاء"}]},
		{"key": "likely", "kind": "scale", "label": "ما مدى الاحتمال؟", "min": 0, "max": 10, "low": "لا", "high": "نعم"}, {"key": "more", "kind": "short_text", "label": "المزيد"}],
		"design": {"layout": "one_at_a_time", "mood": "paper", "brand": "#b4532a"}}`)
	b := openTab(t, s.URL)
	b.focusTab()
	b.wantStatus(b.open(path), 200)
	want := func(name, condition string) {
		t.Helper()
		if !run(b, chromedp.Evaluate[bool](`(() => { const at = (selector) => document.querySelector(selector).getBoundingClientRect(); return `+condition+`; })()`)) {
			t.Errorf("%s: not %s", name, condition)
		}
	}
	want("the page", `document.documentElement.dir === "rtl" && getComputedStyle(document.querySelector("progress")).direction === "rtl"`)
	want("the title", `at("h1").left < at(".primary").right && Math.abs(at(".lead").right - at(".primary").right) < 2`)
	b.pressKey(kb.Enter)
	want("an option", `at("[name=one]").left > at(".choice > span").left + at(".choice > span").width - 1 && at(".choice > .key").right < at(".choice > span").left + 1`)
	want("the letters", `Array.from(document.querySelectorAll(".choice > .key"), (k) => k.textContent).join("") === "ABC"`)
	want("the bar in the selected option", `getComputedStyle(document.querySelector(".choice")).direction === "rtl"`)
	b.wantReadable("a question in Arabic", allAxeRules)
	b.pressKey("b") // chooses and continues
	want("the scale", `at("[name=likely][value='0']").left > at("[name=likely][value='10']").left && at(".count").right > innerWidth / 2`)
	b.do(chromedp.Focus("[name=likely][value='0']"), chromedp.KeyEvent(" "), chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.ArrowRight))
	b.wait(`document.querySelector("[name=likely]:checked").value === "1"`)
	b.pressKey(kb.Enter)
	want("the bar", `document.querySelector("progress").value === 2`)
	want("Back", `at(".way button").left > innerWidth / 2 && at(".way svg").left > at(".way span").left`)
	b.wantStatus(b.press(".way button"), 200)
	b.wait(`document.querySelector("[name=likely]:checked").value === "1"`)
	b.do(chromedp.EmulateViewport(360, 740))
	if width := run(b, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`)); width > 360 {
		t.Errorf("%d pixels wide on a screen of 360: %s", width, run(b, chromedp.Evaluate[string](overflowing)))
	}
}

// TestNationalNumbers: the script makes the same international numbers as the server, when a
// country is chosen first and when it is chosen last.
func TestNationalNumbers(t *testing.T) {
	t.Parallel()
	s := start(t)
	text, err := os.ReadFile("../internal/locale/testdata/numbers.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct{ Country, Typed, Want string }
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	path := publishForm(t, s, form.Header{Title: "Call"}, `{"fields": [{"key": "tel", "kind": "phone", "label": "Phone"}]}`)
	b := openTab(t, s.URL)
	b.wantStatus(b.open(path), 200)
	for _, c := range cases {
		if got := run(b, chromedp.Evaluate[string](`import("/static/phone.js").then((phone) => phone.international(`+jsonOf(c.Country)+`, `+jsonOf(c.Typed)+`))`, chromedp.EvalAwaitPromise)); got != c.Want {
			t.Errorf("%s in %q is %s, want %s", c.Typed, c.Country, got, c.Want)
		}
	}
	const choose = `(() => { const list = document.querySelector(".phone select"); list.value = "DE"; list.dispatchEvent(new Event("change", { bubbles: true })); })()`
	b.do(chromedp.Focus("#tel"))
	b.wait(`document.querySelector(".phone.ready") !== null`)
	b.do(chromedp.Evaluate[chromedp.Void](choose), chromedp.KeyEvent("0171 1234567"))
	b.wantStatus(b.press(button("Submit")), 200)
	b.wantStatus(b.open(path), 200)
	b.do(chromedp.Focus("#tel"))
	b.wait(`document.querySelector(".phone.ready") !== null`)
	b.fill("#tel", "0171 7654321")
	b.do(chromedp.Evaluate[chromedp.Void](choose))
	b.wait(`document.getElementById("tel").value === "+49 171 7654321"`)
	b.wantStatus(b.press(button("Submit")), 200)
	openOwnerDB(t, s).wantStored(path, `{"tel": "+49 171 1234567"}`, `{"tel": "+49 171 7654321"}`)
}
