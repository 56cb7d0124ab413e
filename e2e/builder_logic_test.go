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

const partyForm = `{"fields": [
	{"key": "coming", "kind": "yes_no", "label": "Are you coming?"},
	{"key": "guests", "kind": "number", "label": "How many of you?"},
	{"key": "food", "kind": "single_choice", "label": "What do you eat?", "options": [{"value": "all", "label": "Everything"}, {"value": "vegan", "label": "Vegan"}]}]}`

// TestBuilderLogic: conditions and jumps are built from lists.
func TestBuilderLogic(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openBuilder(t, s, "Party", partyForm)
	b.do(chromedp.Click(labelInput(2)))
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
	if got := b.text(inQuestion(2, ".logic-note")); got != "Shown if “Are you coming?” is Yes" {
		t.Errorf("the question says %q", got)
	}

	// Two conditions, then one of them is removed.
	b.do(chromedp.Click(labelInput(3)))
	b.do(chromedp.Click(button("Add condition")))
	b.pick(`.panel .condition .comparison:nth-child(1) [aria-label="Question"]`, "guests")
	b.pick(`.panel .condition .comparison:nth-child(1) [aria-label="Operator"]`, "at_least")
	b.fill(`.panel .condition .comparison:nth-child(1) [aria-label="Value"]`, "2")
	b.do(chromedp.Click(button("Add condition")))
	b.pick(`.panel .condition .comparison:nth-child(2) [aria-label="Question"]`, "coming")
	b.pick(`.panel [aria-label="Match"]`, "any")
	b.waitStored("two conditions", func(d *form.Definition) bool {
		return reflect.DeepEqual(d.Fields[2].ShowIf, &form.Condition{Any: []*form.Condition{
			{Field: "guests", Op: "at_least", Value: 2.0}, {Field: "coming", Op: "equals", Value: true}}})
	})
	b.do(chromedp.Click(`.panel .condition .comparison:nth-child(2) [aria-label="Remove condition"]`))
	b.waitStored("one condition", func(d *form.Definition) bool {
		return reflect.DeepEqual(d.Fields[2].ShowIf, &form.Condition{Field: "guests", Op: "at_least", Value: 2.0})
	})

	// A jump to an ending for those who do not come.
	b.do(chromedp.Click(button("Add ending")))
	b.wait(`document.activeElement.matches(".endings .label-row textarea")`)
	b.typeKeys("What a pity")
	b.do(chromedp.Click(labelInput(1)))
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
	b.wantText("If “Are you coming?” is No, go to Ending: What a pity")

	// A changed key is changed in all conditions and jumps.
	b.do(chromedp.Click(".panel details summary"))
	b.fill("#p-key", "attends")
	b.typeKeys(kb.Tab)
	b.waitStored("the new key", func(d *form.Definition) bool {
		return d.Fields[0].Key == "attends" && d.Fields[1].ShowIf.Field == "attends" && d.Fields[0].Jumps[0].If.Field == "attends"
	})

	// Deleting a question that others depend on needs a confirmation.
	b.clickTool(1, "Delete")
	b.do(chromedp.WaitVisible("dialog form"))
	b.wantText("This is used elsewhere in the form", "“How many of you?” has a condition that uses it")
	b.do(chromedp.Click(button("Cancel")))
	b.wait(`!document.querySelector("dialog")`)
	b.wantShown("Are you coming?", "How many of you?", "What do you eat?")
	b.clickTool(1, "Delete")
	b.do(chromedp.Click(button("Remove and continue")))
	b.waitStored("two questions", func(d *form.Definition) bool {
		return slices.Equal(labels(d), []string{"How many of you?", "What do you eat?"}) && d.Fields[0].ShowIf == nil && d.Fields[1].ShowIf != nil
	})
	b.do(chromedp.Click(`.toolbar [aria-label="Undo"]`))
	b.waitStored("the original form", func(d *form.Definition) bool {
		if len(d.Fields) != 3 {
			return false
		}
		condition := d.Fields[1].ShowIf
		return len(d.Fields[0].Jumps) == 1 && condition != nil && condition.Field == "attends"
	})

	// The flow is drawn and described in text.
	b.wantStatus(b.press(link("Flow")), 200)
	b.wantText("Logic summary", "Show “How many of you?” if", "go to")
	if b.count(".flow svg") != 1 {
		t.Error("the flow is not drawn")
	}
}

// TestBuilderPreview: the preview is the public page of the current draft.
func TestBuilderPreview(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openBuilder(t, s, "Party", partyForm)
	b.do(chromedp.Click(".toolbar .preview-toggle"))
	const inside = `document.querySelector(".preview iframe").contentDocument?.body`
	wantInPreview := func(text string) {
		t.Helper()
		b.wait(fmt.Sprintf(`(%s?.innerText ?? "").includes(%q)`, inside, text))
	}
	wantInPreview("Are you coming?")
	wantInPreview("What do you eat?")
	b.fill("#p-title", "Garden party")
	b.waitStored("the title", func(*form.Definition) bool { return true })
	wantInPreview("Garden party")
	b.do(chromedp.Click(`.outline li:nth-child(2) .outline-entry`))
	b.wait(`document.activeElement.matches("[data-outline], [data-card]")`)

	// Responses in the preview are not stored.
	b.wait(inside + `.querySelector("button.primary") !== null`)
	b.do(chromedp.Evaluate[chromedp.Void](inside + `.querySelector("button.primary").click()`))
	wantInPreview("Thank you")
	b.ownerDB.wantStored("/f/" + b.id)
	b.do(chromedp.Click(`[aria-label="Phone"]`))
	b.wait(`document.querySelector(".preview iframe").clientWidth < 400`)
}

// TestBuilderEnding: an ending has a button, a list of answers and an event.
func TestBuilderEnding(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openBuilder(t, s, "Party", `{"fields": [{"key": "name", "kind": "short_text", "label": "Name"}], "endings": [{"key": "bye", "title": "Bye, {{name|friend}}"}]}`)
	b.do(chromedp.Click(`[data-sortable="endings"] .outline-entry`), chromedp.WaitVisible("#p-button_label"))
	b.fill("#p-button_label", "Find us")
	b.fill("#p-button_url", "https://example.com/")
	b.do(chromedp.Click(`//label[normalize-space()="Show the answers"]`), chromedp.Click(`//summary[.="Calendar event"]`), chromedp.WaitVisible("#p-event_start"))
	b.fill("#p-event_place", "Porto")
	b.do(chromedp.Evaluate[chromedp.Void](`(() => { const start = document.getElementById("p-event_start"); start.value = "2027-06-12T18:00"; start.dispatchEvent(new Event("input", { bubbles: true })); })()`))
	b.waitStored("the ending", func(d *form.Definition) bool {
		return reflect.DeepEqual(*d.Endings[0], form.Ending{Key: "bye", Title: "Bye, {{name|friend}}", Summary: true, ButtonLabel: "Find us", ButtonURL: "https://example.com/", EventStart: "2027-06-12T18:00", EventPlace: "Porto"})
	})
	// A new key changes in texts, too.
	b.do(chromedp.Click(labelInput(1)), chromedp.Click(`//summary[.="Advanced"]`), chromedp.WaitVisible("#p-key"))
	b.fill("#p-key", "who")
	b.do(chromedp.KeyEvent(kb.Tab))
	b.waitStored("the key", func(d *form.Definition) bool { return d.Endings[0].Title == "Bye, {{who|friend}}" })
}

// TestBuilderInsert: answers are inserted into formulas and texts from a list of
// questions.
func TestBuilderInsert(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openBuilder(t, s, "Party", `{"fields": [
		{"key": "guests", "kind": "number", "label": "How many of you?"},
		{"key": "total", "kind": "calculated", "label": "Price", "expression": "0"}],
		"endings": [{"key": "bye", "title": "Thank you", "text": "Until then."}]}`)
	b.do(chromedp.Click(labelInput(2)))
	b.pick(`.property:has(#p-expression) .insert-answer`, "guests")
	b.waitStored("the key instead of 0", func(d *form.Definition) bool { return d.Fields[1].Expression == "guests" })
	b.do(chromedp.Focus(`#p-expression`), chromedp.KeyEvent(kb.End), chromedp.KeyEvent(" * 25 + "))
	b.pick(`.property:has(#p-expression) .insert-answer`, "guests")
	b.waitStored("the key twice", func(d *form.Definition) bool { return d.Fields[1].Expression == "guests * 25 + guests" })
	b.pick(`.property:has(#p-label) .insert-answer`, "guests")
	b.waitStored("an answer in a text", func(d *form.Definition) bool { return d.Fields[1].Label == "Price{{guests}}" })
	b.do(chromedp.Click(labelInput(1)))
	b.wait(`!document.querySelector(".insert-answer")`) // the first question has no earlier answers to insert
}
