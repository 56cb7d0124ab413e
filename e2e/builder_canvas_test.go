package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"formulary/internal/form"
)

const workshopForm = `{"design": {"brand": "#b4532a", "mood": "paper"}, "fields": [
	{"key": "name", "kind": "short_text", "label": "Your name"},
	{"key": "workshop", "kind": "single_choice", "label": "Which workshop?", "options": [{"value": "wheel", "label": "Wheel"}, {"value": "hand", "label": "Hand"}]},
	{"key": "story", "kind": "long_text", "label": "Why?"},
	{"key": "more", "kind": "page_break", "label": "More"},
	{"key": "rank", "kind": "ranking", "label": "What matters?", "options": [{"value": "a", "label": "A"}, {"value": "b", "label": "B"}]},
	{"key": "when", "kind": "date", "label": "When?"}]}`

// lookOf is a JavaScript expression for how a question looks in a document.
const lookOf = `((root, ask, choice) => [root, ask, choice].map((e) => getComputedStyle(e)).map((s) => [s.backgroundColor, s.color, s.fontFamily, s.fontSize, s.fontWeight, s.lineHeight].join(" ")).join("\n"))`

// TestBuilderCanvas: the canvas looks like the public page, and questions are added and
// changed on it with few keys.
func TestBuilderCanvas(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openBuilder(t, s, "Ceramics", workshopForm)
	b.do(chromedp.EmulateViewport(1280, 900))
	onCanvas := run(b.tab, chromedp.Evaluate[string](lookOf+`(document.querySelector(".canvas"), document.querySelector(".canvas .ask"), document.querySelector(".canvas .choice"))`))
	b.wait(`document.querySelector(".canvas .cover svg") !== null`)

	// The panel is closed and opened, and starts at its top.
	b.do(chromedp.Click(".close-panel"))
	b.wait(`!document.querySelector(".panel")`)
	b.do(chromedp.Click(labelInput(5)))
	b.do(chromedp.Click(inQuestion(5, `.kit [aria-label="Settings"]`)))
	b.wait(`document.activeElement.matches(".panel") && document.querySelector(".panel h2").textContent === "Ranking"`)
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector(".panel").scrollTo(0, 5000)`))
	b.do(chromedp.Click(`.outline [data-sortable="fields"] > li:nth-child(2) .outline-entry`))
	b.wait(`document.querySelector(".panel h2").textContent === "Single choice" && document.querySelector(".panel").scrollTop === 0`)

	// A click in the outline scrolls the question to the top, below the toolbar.
	b.do(chromedp.EmulateViewport(1280, 500))
	b.do(chromedp.Click(`.outline [data-sortable="fields"] > li:nth-child(3) .outline-entry`))
	b.wait(`(top => top > 0 && top < 200)(document.querySelector(".fields > li:nth-child(3)").getBoundingClientRect().top)`)
	b.do(chromedp.EmulateViewport(1280, 900))
	if got := b.text(".question-count"); got != "5 questions" {
		t.Errorf("the outline has %q, want 5 questions: the page break is none", got)
	}
	b.do(chromedp.Click(inQuestion(3, ".kit .toggle")))
	b.pick(inQuestion(3, ".kit select"), "email")
	b.waitStored("a required email", func(d *form.Definition) bool { return d.Fields[2].Required && d.Fields[2].Kind == "email" })

	// A slash finds question types by other words, and shows why.
	b.typeKeys(kb.Escape)
	b.wait(`document.activeElement.matches("[data-card]")`)
	for _, found := range []struct{ search, kind, reason string }{
		{"radio", "Single choice", "radio"}, {"checkbox", "Consent", "checkbox"}, {"NPS", "Opinion scale", "NPS"}, {"select", "Single choice", "select"}, {"upload", "File", "upload"}, {"email", "Email", "Email"},
	} {
		b.typeKeys("/")
		b.wait(`document.activeElement.matches("dialog input")`)
		b.typeKeys(found.search)
		b.wait(fmt.Sprintf(`(first => first?.querySelector("span").firstChild.textContent === %q && first.querySelector("mark").textContent === %q)(document.querySelector("dialog .kind"))`, found.kind, found.reason))
		b.typeKeys(kb.Escape)
		b.wait(`!document.querySelector("dialog")`)
	}
	b.typeKeys("?")
	b.do(chromedp.WaitVisible("dialog .shortcuts"))
	b.typeKeys(kb.Enter)
	b.wait(`!document.querySelector("dialog")`)

	// Enter adds the next question; a slash in its empty text changes its type.
	b.do(chromedp.Click(labelInput(1)))
	b.typeKeys(kb.Enter)
	b.wait(`document.activeElement === document.querySelector(".fields > li:nth-child(2) .label-row textarea")`)
	b.typeKeys("/")
	b.wait(`document.activeElement.matches("dialog input")`)
	b.typeKeys("stars" + kb.Enter)
	b.waitForLabelInput()
	b.typeKeys("How was it?")
	b.waitStored("a rating", func(d *form.Definition) bool {
		return d.Fields[1].Kind == "rating" && d.Fields[1].Label == "How was it?"
	})

	// A pasted list becomes questions, with options below them.
	b.typeKeys(kb.Enter)
	b.wait(`document.activeElement === document.querySelector(".fields > li:nth-child(3) .label-row textarea")`)
	b.paste("1. Your town?\n2. Which day?\n  - Saturday\n  - Sunday\n3. Anything else?")
	want := []string{"Your name", "How was it?", "Your town?", "Which day?", "Anything else?", "Which workshop?"}
	b.waitStored("pasted questions", func(d *form.Definition) bool { return slices.Equal(labels(d)[:6], want) })
	day := b.readStored().Fields[3]
	if day.Kind != "single_choice" || len(day.Options) != 2 || day.Options[1].Value != "sunday" || day.Key != "which_day" {
		t.Errorf("the question with options is %+v", day)
	}
	b.typeKeys("z", chromedp.ModifierCtrl)
	b.waitStored("one step undone", func(d *form.Definition) bool { return len(d.Fields) == 8 && d.Fields[2].Label == "" })

	b.wantStatus(b.open("/forms/"+b.id+"/preview"), 200)
	onPage := run(b.tab, chromedp.Evaluate[string](lookOf+`(document.body, document.querySelector(".ask"), document.querySelector(".choice"))`))
	if onCanvas != onPage {
		t.Errorf("the canvas looks like\n%s\nthe page looks like\n%s", onCanvas, onPage)
	}
	if !strings.Contains(onPage, "Noto Serif") {
		t.Errorf("the page does not have its mood:\n%s", onPage)
	}
}

const greetingForm = `{"fields": [
	{"key": "name", "kind": "short_text", "label": "Your name"},
	{"key": "day", "kind": "single_choice", "label": "Which day, {{name|friend}}?", "options": [{"value": "a", "label": "A"}]},
	{"key": "about", "kind": "statement", "label": "About", "text": "Read **this** first"},
	{"key": "town", "kind": "short_text", "label": "Town"}]}`

// TestBuilderChips: inserted answers are chips with a text for missing answers, and a toolbar
// writes Markdown.
func TestBuilderChips(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openBuilder(t, s, "Greeting", greetingForm)
	b.wait(`document.querySelector(".fields > li:nth-child(2) .label-row .answer")?.textContent === "Your name or friend"`)
	b.wait(`document.querySelector('.outline [data-sortable="fields"] > li:nth-child(2) .entry-label').textContent === "Which day, Your name?"`)
	b.do(chromedp.Click(inQuestion(2, ".label-row .answer")))
	b.wait(`document.activeElement.matches("dialog input")`)
	b.do(chromedp.Evaluate[chromedp.Void](`document.activeElement.select()`))
	b.typeKeys("guest" + kb.Enter)
	b.waitStored("another fallback", func(d *form.Definition) bool { return d.Fields[1].Label == "Which day, {{name|guest}}?" })

	// The text gets its first chip while it is edited, and loses it.
	b.do(chromedp.Click(labelInput(4)))
	b.typeKeys(kb.End + " of ")
	b.wait(`document.querySelector(".fields > li:nth-child(4) .insert-answer") !== null`)
	b.pick(inQuestion(4, ".insert-answer"), "name")
	b.wait(`document.activeElement.matches("rich-text") && document.activeElement.querySelector(".answer") !== null`)
	b.typeKeys("?")
	b.waitStored("an inserted answer", func(d *form.Definition) bool { return d.Fields[3].Label == "Town of {{name}}?" })
	b.typeKeys(kb.Backspace + kb.Backspace)
	b.wait(`document.activeElement.matches("textarea") && document.activeElement.value === "Town of "`)
	b.typeKeys("birth")
	b.waitStored("a text without it", func(d *form.Definition) bool { return d.Fields[3].Label == "Town of birth" })

	b.wait(`document.querySelector(".fields > li:nth-child(3) .rendered strong")?.textContent === "this"`)
	b.do(chromedp.Click(inQuestion(3, ".rendered")))
	b.wait(`document.activeElement.matches("textarea.prose")`)
	b.do(chromedp.Evaluate[chromedp.Void](`document.activeElement.setSelectionRange(0, 4)`))
	b.do(chromedp.Click(inQuestion(3, `.text-tools [aria-label="Italic"]`)))
	b.waitStored("Markdown", func(d *form.Definition) bool { return d.Fields[2].Text == "_Read_ **this** first" })
	b.do(chromedp.Click(".close-panel"))
	b.wait(`!document.querySelector(".panel")`)
	for _, v := range b.axeViolations() {
		t.Error(v)
	}
}
