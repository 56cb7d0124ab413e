package e2e

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"formulary/internal/form"
)

const party = `{"fields": [
	{"key": "coming", "kind": "yes_no", "label": "Are you coming?"},
	{"key": "guests", "kind": "number", "label": "How many of you?"},
	{"key": "food", "kind": "single_choice", "label": "What do you eat?", "options": [{"value": "all", "label": "Everything"}, {"value": "vegan", "label": "Vegan"}]}]}`

// Logic is made of sentences with something to choose in each place.
func TestBuilderLogic(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openBuilder(t, s, "Party", party)
	b.do(chromedp.Click(words(2)))
	b.do(chromedp.Click(button("Add condition")))
	b.pick(`.panel [aria-label="Value"]`, "false")
	b.pick(`.panel [aria-label="Operator"]`, "not_equals")
	b.waitStored("a condition", func(d *form.Definition) bool {
		return reflect.DeepEqual(d.Fields[1].ShowIf, &form.Condition{Field: "coming", Op: "not_equals", Value: false})
	})
	b.pick(`.panel [aria-label="Operator"]`, "equals")
	b.pick(`.panel [aria-label="Value"]`, "true")
	b.waitStored("the other condition", func(d *form.Definition) bool {
		return reflect.DeepEqual(d.Fields[1].ShowIf, &form.Condition{Field: "coming", Op: "equals", Value: true})
	})
	if got := b.text(question(2, ".logic-line")); got != "Shown if “Are you coming?” is Yes" {
		t.Errorf("the question says %q", got)
	}

	// Two conditions, then one of them again.
	b.do(chromedp.Click(words(3)))
	b.do(chromedp.Click(button("Add condition")))
	b.pick(`.panel .sentence li:nth-child(1) [aria-label="Question"]`, "guests")
	b.pick(`.panel .sentence li:nth-child(1) [aria-label="Operator"]`, "at_least")
	b.fill(`.panel .sentence li:nth-child(1) [aria-label="Value"]`, "2")
	b.do(chromedp.Click(button("Add condition")))
	b.pick(`.panel .sentence li:nth-child(2) [aria-label="Question"]`, "coming")
	b.pick(`.panel [aria-label="Match"]`, "any")
	b.waitStored("two conditions", func(d *form.Definition) bool {
		return reflect.DeepEqual(d.Fields[2].ShowIf, &form.Condition{Any: []*form.Condition{
			{Field: "guests", Op: "at_least", Value: 2.0}, {Field: "coming", Op: "equals", Value: true}}})
	})
	b.do(chromedp.Click(`.panel .sentence li:nth-child(2) [aria-label="Remove condition"]`))
	b.waitStored("one condition", func(d *form.Definition) bool {
		return reflect.DeepEqual(d.Fields[2].ShowIf, &form.Condition{Field: "guests", Op: "at_least", Value: 2.0})
	})

	// Those who do not come are led to an ending of their own.
	b.do(chromedp.Click(button("Add ending")))
	b.wait(`document.activeElement.matches(".endings .asks textarea")`)
	b.typeIn("What a pity")
	b.do(chromedp.Click(words(1)))
	b.do(chromedp.Click(button("Add jump")))
	b.pick(`.panel .jump [aria-label="Value"]`, "false")
	var to string
	b.waitStored("a jump", func(d *form.Definition) bool {
		if len(d.Endings) != 1 || d.Endings[0].Title != "What a pity" {
			return false
		}
		to = d.Endings[0].Key
		return reflect.DeepEqual(d.Fields[0].Jumps, []*form.Jump{{If: &form.Condition{Field: "coming", Op: "equals", Value: false}, To: to}})
	})
	if to == "" || to == "ending" {
		t.Errorf("the key of the ending is %q, want it made from its title", to)
	}
	b.wantWords("If “Are you coming?” is No, go to Ending: What a pity")

	// A renamed key is renamed wherever it is spoken of, values too.
	b.do(chromedp.Click(".panel details summary"))
	b.fill("#p-key", "attends")
	b.typeIn(kb.Tab)
	b.waitStored("the new key", func(d *form.Definition) bool {
		return d.Fields[0].Key == "attends" && d.Fields[1].ShowIf.Field == "attends" && d.Fields[0].Jumps[0].If.Field == "attends"
	})

	// Deleting what others speak of asks first.
	b.tool(1, "Delete")
	b.do(chromedp.WaitVisible("dialog form"))
	b.wantWords("This is used elsewhere in the form", "“How many of you?” has a condition that uses it")
	b.do(chromedp.Click(button("Cancel")))
	b.wait(`!document.querySelector("dialog")`)
	b.wantShown("Are you coming?", "How many of you?", "What do you eat?")
	b.tool(1, "Delete")
	b.do(chromedp.Click(button("Remove and continue")))
	b.waitStored("two questions", func(d *form.Definition) bool {
		return slices.Equal(labels(d), []string{"How many of you?", "What do you eat?"}) && d.Fields[0].ShowIf == nil && d.Fields[1].ShowIf != nil
	})
	b.do(chromedp.Click(`.tools [aria-label="Undo"]`))
	b.waitStored("all as it was", func(d *form.Definition) bool {
		return len(d.Fields) == 3 && len(d.Fields[0].Jumps) == 1 && d.Fields[1].ShowIf != nil && d.Fields[1].ShowIf.Field == "attends"
	})

	// The flow is drawn, and said in words.
	b.wantStatus(b.press(link("Flow")), 200)
	b.wantWords("Logic summary", "Show “How many of you?” if", "go to")
	if b.count(".flow svg") != 1 {
		t.Error("the flow is not drawn")
	}
}

// The preview is the page that respondents will see, as it is now.
func TestBuilderPreview(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openBuilder(t, s, "Party", party)
	b.do(chromedp.Click(".tools .show"))
	const inside = `document.querySelector(".preview iframe").contentDocument?.body`
	says := func(text string) {
		t.Helper()
		b.wait(fmt.Sprintf(`(%s?.innerText ?? "").includes(%q)`, inside, text))
	}
	says("Are you coming?")
	says("What do you eat?")
	b.fill("#p-title", "Garden party")
	b.waitStored("the title", func(*form.Definition) bool { return true })
	says("Garden party")
	b.do(chromedp.Click(`.outline li:nth-child(2) .entry`))
	b.wait(`document.activeElement.matches("[data-go], [data-card]")`)

	// Nothing that is sent here is stored.
	b.wait(inside + `.querySelector("button.primary") !== null`)
	b.do(chromedp.Evaluate[chromedp.Void](inside + `.querySelector("button.primary").click()`))
	says("Thank you")
	b.desk.wantStored("/f/" + b.id)
	b.do(chromedp.Click(`[aria-label="Phone"]`))
	b.wait(`document.querySelector(".preview iframe").clientWidth < 400`)
}

// Answers are put into calculations and texts from a list; nobody types their keys.
func TestBuilderInsert(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openBuilder(t, s, "Party", `{"fields": [
		{"key": "guests", "kind": "number", "label": "How many of you?"},
		{"key": "total", "kind": "calculated", "label": "Price", "expression": "0"}],
		"endings": [{"key": "bye", "title": "Thank you", "text": "Until then."}]}`)
	b.do(chromedp.Click(words(2)))
	b.pick(`.prop:has(#p-expression) .known`, "guests")
	b.waitStored("the key in place of nothing", func(d *form.Definition) bool { return d.Fields[1].Expression == "guests" })
	b.do(chromedp.Focus(`#p-expression`), chromedp.KeyEvent(kb.End), chromedp.KeyEvent(" * 25 + "))
	b.pick(`.prop:has(#p-expression) .known`, "guests")
	b.waitStored("it once more", func(d *form.Definition) bool { return d.Fields[1].Expression == "guests * 25 + guests" })
	b.pick(`.prop:has(#p-label) .known`, "guests")
	b.waitStored("an answer in a text", func(d *form.Definition) bool { return d.Fields[1].Label == "Price{{guests}}" })
	b.do(chromedp.Click(words(1)))
	b.wait(`!document.querySelector(".known")`) // the first question cannot speak of later ones
}
