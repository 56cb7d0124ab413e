package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"formulary/internal/form"
	"formulary/internal/theme"
)

// moodQuestions has the controls whose look differs most between moods.
const moodQuestions = `{"fields": [
	{"key": "name", "kind": "short_text", "label": "Your name", "required": true, "help": "As on your passport."},
	{"key": "mail", "kind": "email", "label": "Email", "required": true},
	{"key": "one", "kind": "single_choice", "label": "Which workshop?", "required": true, "options": [{"value": "a", "label": "Wheel throwing"}, {"value": "b", "label": "Hand building"}], "other": true},
	{"key": "some", "kind": "multiple_choice", "label": "What would you like to make?", "options": [{"value": "a", "label": "Bowls"}, {"value": "b", "label": "Mugs"}, {"value": "c", "label": "Tiles"}]},
	{"key": "likely", "kind": "scale", "label": "How likely?", "min": 0, "max": 10, "low": "Not at all", "high": "Certainly"},
	{"key": "stars", "kind": "rating", "label": "How was it?", "max": 10},
	{"key": "yes", "kind": "yes_no", "label": "First visit?"},
	{"key": "done", "kind": "matrix", "label": "How often?", "options": [{"value": "a", "label": "Never"}, {"value": "b", "label": "Often"}], "rows": [{"value": "r", "label": "Throwing"}, {"value": "s", "label": "Glazing"}]},
	{"key": "feel", "kind": "matrix", "label": "How do you feel?", "rows": [{"value": "r", "label": "Today"}], "options": [{"label": "Terrible"}, {"label": "Very bad"}, {"label": "Bad"},
		{"label": "Rather bad"}, {"label": "Neutral"}, {"label": "Rather good"}, {"label": "Good"}, {"label": "Very good"}, {"label": "Excellent"}, {"label": "Unknown"}]},
	{"key": "order", "kind": "ranking", "label": "What matters?", "options": [{"value": "a", "label": "Craft"}, {"value": "b", "label": "Friends"}]},
	{"key": "much", "kind": "slider", "label": "How many?", "min": 0, "max": 20},
	{"key": "text", "kind": "statement", "label": "About us", "text": "A *studio* by the river."},
	{"key": "rules", "kind": "consent", "label": "Rules", "text": "I accept them.", "required": true},
	{"key": "sum", "kind": "calculated", "label": "Total", "expression": "much * 12", "unit": "€"}],
	"design": {"brand": "%s", "mood": "%s"}}`

const moodAnswers = "?name=Ada&mail=nobody&one=_other&one.other=Raku&some=a&likely=7&stars=4&yes=true&done.r=b&feel.r=good&much=3&rules=true"

// smallTargets lists controls that are hard to hit: less than 44 pixels high, or less than
// 24 pixels wide.
const smallTargets = `Array.from(document.querySelectorAll(".choice, .radio-button, .matrix label, button, select, textarea, input:not([type=hidden], [type=radio], [type=checkbox], .offscreen *, .calendar *)"))
	.filter((e) => e.checkVisibility()).map((e) => [e.className || e.tagName, e.getBoundingClientRect()]).filter(([, r]) => r.height < 43.9 || r.width < 24)
	.map(([name, r]) => name + " " + r.width + "x" + r.height).join(", ")`

// rowsOf is the number of rows that the options of a scale take up.
const rowsOf = `new Set(Array.from(document.querySelectorAll("[name=%s]"), (e) => Math.round(e.closest("label").getBoundingClientRect().top))).size`

// TestMoods: every mood is accessible, also with errors, and fits on a small phone.
func TestMoods(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openTab(t, s.URL)
	brands := []string{"#ffd400", "#b4532a", "#7a59fc", "#39ff14", "#e02020", "#808080", "#fdfdfc", "#0a0a0b"}
	for i, mood := range theme.Moods() {
		path := publishForm(t, s, form.Header{Title: "Ceramics weekend", Description: "Two slow days at the wheel."}, fmt.Sprintf(moodQuestions, brands[i], mood))
		b.do(chromedp.EmulateViewport(1280, 900))
		b.wantStatus(b.open(path+moodAnswers), 200)
		b.wantStatus(b.submitUnchecked(), 422)
		for scheme, rules := range map[string]string{"light": allAxeRules, "dark": visualAxeRules} {
			b.setColorScheme(scheme)
			for _, violation := range b.axeViolationsFor(rules) {
				t.Errorf("%s with %s, %s: %s", mood, brands[i], scheme, violation)
			}
		}
		b.do(chromedp.EmulateViewport(360, 740))
		if width := run(b, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`)); width > 360 {
			t.Errorf("%s is %d pixels wide on a screen of 360: %s", mood, width, run(b, chromedp.Evaluate[string](overflowing)))
		}
		for _, key := range []string{"likely", "stars"} {
			if rows := run(b, chromedp.Evaluate[int](fmt.Sprintf(rowsOf, key))); rows != 1 {
				t.Errorf("%s: %s has %d rows", mood, key, rows)
			}
		}
		if small := run(b, chromedp.Evaluate[string](smallTargets)); small != "" {
			t.Errorf("%s: too small are %s", mood, small)
		}
		b.wantStatus(b.open(path+"/done"), 200)
		for _, violation := range b.axeViolations() {
			t.Errorf("the ending of %s: %s", mood, violation)
		}
	}
}

// TestDesignTab: the preview follows the choices before they are saved.
func TestDesignTab(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := publishForm(t, s, form.Header{Title: "Ceramics weekend"}, `{"fields": [{"key": "name", "kind": "short_text", "label": "Name"}]}`)
	page := "/forms/" + path[len("/f/"):]
	b := signedInTab(t, s, ada)
	b.wantStatus(b.open(page+"/design"), 200)
	const inPreview = `document.querySelector(".stage iframe").contentDocument`
	b.wait(`!!` + inPreview + `?.querySelector("link[href*='form-plain.css']")`)
	b.do(chromedp.Click(`.moods [value="paper"]`))
	b.wait(`!!` + inPreview + `?.querySelector("link[href*='form-paper.css']")`)
	b.fill("#brand-code", "#b4532a")
	b.wait(`!!` + inPreview + `?.querySelector("style")?.textContent.includes("--fill:#b4532a;")`)
	b.wait(`getComputedStyle(document.querySelector(".mini-bold u")).backgroundColor === "rgb(180, 83, 42)"`)
	b.fill("#brand-code", "#808080")
	b.wait(`document.getElementById("contrast").textContent.includes("look disabled")`)
	b.fill("#brand-code", "#b4532a")
	b.do(chromedp.Click(`[name="preview_scheme"][value="dark"]`))
	b.wait(`getComputedStyle(` + inPreview + `.body).backgroundColor === "rgb(28, 23, 18)"`)
	b.do(chromedp.Click(button("Save design"))) // the frame loads too, so there is more than one response
	b.wait(`document.querySelector(".notice")?.textContent.includes("Design saved.")`)
	b.wait(`document.querySelector("[name=brand]").value === "#b4532a" && document.querySelector(".moods [value=paper]").checked`)
	for _, width := range []int64{1280, 360} {
		b.do(chromedp.EmulateViewport(width, 800))
		for _, scheme := range []string{"light", "dark"} {
			b.setColorScheme(scheme)
			for _, violation := range b.axeViolations() {
				t.Errorf("%d, %s: %s", width, scheme, violation)
			}
		}
		if got := run(b, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`)); got > width {
			t.Errorf("%d pixels wide on a screen of %d: %s", got, width, run(b, chromedp.Evaluate[string](overflowing)))
		}
	}
}
