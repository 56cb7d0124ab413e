package e2e

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"formulary/internal/form"
	"formulary/internal/store"
)

// TestBuilderProblems: validation errors are shown next to the question.
func TestBuilderProblems(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openBuilder(t, s, "Fruit", "")
	b.add("Short text", "First")
	b.add("Single choice", "Which fruit?")
	b.waitLabels("First", "Which fruit?")
	b.do(chromedp.Click(`.panel .option-list li:nth-child(1) [aria-label="Remove"]`))
	b.do(chromedp.Click(`.panel .option-list li:nth-child(1) [aria-label="Remove"]`))
	b.wait(`document.querySelector(".save-status.problem")?.innerText.includes("Saved. 1 problem to fix")`)
	b.wait(`document.querySelector(".fields > li:nth-child(2).invalid .problem-text") !== null`)
	problem := b.text(inQuestion(2, ".problem-text"))
	if !strings.Contains(problem, "option") && !strings.Contains(problem, "answer") {
		t.Errorf("the question says %q, want something about its options", problem)
	}
	if got := b.text(".panel .problem-text"); got != problem {
		t.Errorf("the panel says %q, the question %q", got, problem)
	}
	if b.count(".outline .entry-flag.invalid") != 1 {
		t.Error("the outline does not show where the problem is")
	}
	// A draft with problems cannot be published; the check leads to each of them.
	b.do(chromedp.Click(button("Publish")), chromedp.WaitVisible("dialog form"))
	b.wantText("Not ready to publish", "Fix before you publish", "Add at least one option.")
	b.do(chromedp.Click(`dialog [value="show 0"]`))
	b.wait(`!document.querySelector("dialog") && document.querySelector(".check-bar")?.innerText.includes("Which fruit?")`)
	b.wait(`document.activeElement.closest(".fields > li:nth-child(2), .panel") !== null`)

	b.do(chromedp.Click(labelInput(2)))
	b.do(chromedp.Click(inQuestion(2, ".add-option button")))
	b.wait(`document.activeElement.matches("[data-option^=canvas]")`)
	b.typeKeys("Apple")
	b.waitStored("the option", func(d *form.Definition) bool {
		return len(d.Fields[1].Options) == 1 && d.Fields[1].Options[0].Label == "Apple"
	})
	if b.count(".problem-text, .invalid") != 0 {
		t.Error("the problem is still shown")
	}
	b.do(chromedp.Click(`//section[contains(@class, "check-bar")]//button[text()="Check again"]`), chromedp.WaitVisible("dialog form"))
	b.wantText("Publish form", "Anyone with the link will be able to respond.")
	b.wantNoText("Fix before you publish", "Worth a look")
}

// changeElsewhere changes the draft as another window or an API client would.
func (b builder) changeElsewhere(title string) {
	b.t.Helper()
	_, err := b.ownerDB.db.UpdateForm(context.Background(), b.ownerDB.owner, store.FormRevision{ID: b.id}, func(p *form.FormInput) error {
		p.Title = title
		p.Definition.Fields = append(p.Definition.Fields, &form.Field{Kind: "email", Label: "From " + title})
		return p.Normalize()
	}, time.Now())
	if err != nil {
		b.t.Fatal(err)
	}
}

// TestBuilderConflict: if the draft was changed elsewhere, the user chooses which one
// to keep.
func TestBuilderConflict(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, test := range []struct {
		choice string
		title  string
		labels []string
	}{
		{"Keep my version", "Fruit", []string{"Mine", "Second", "Third", "Fourth"}},
		{"Use their version", "Theirs", []string{"First", "Second", "Third", "Fourth", "From Theirs"}},
	} {
		t.Run(test.choice, func(t *testing.T) {
			b := openBuilder(t, s, "Fruit", fruitForm)
			b.changeElsewhere("Theirs")
			b.fill(labelInput(1), "Mine")
			b.do(chromedp.WaitVisible("dialog form"))
			b.wantText("This form was changed elsewhere", "“Theirs”, 5 questions", "“Fruit”, 4 questions")
			b.wantRefused("/draft", 409)
			b.do(chromedp.Click(button(test.choice)))
			b.wait(`!document.querySelector("dialog")`)
			b.waitLabels(test.labels...)
			b.wantShown(test.labels...)
			f, err := b.ownerDB.db.Form(context.Background(), b.ownerDB.owner, b.id)
			if err != nil || f.Title != test.title {
				t.Errorf("the form is called %q, want %q (%v)", f.Title, test.title, err)
			}

			// After the choice, changes are saved without another dialog.
			b.fill(labelInput(2), "Next")
			want := slices.Clone(test.labels)
			want[1] = "Next"
			b.waitLabels(want...)
			if b.count("dialog") != 0 {
				t.Errorf("the dialog appears again:\n%s", b.describe())
			}
		})
	}
}

// TestBuilderPublish: publishing lists the changes, which are not public before.
func TestBuilderPublish(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openBuilder(t, s, "Fruit", fruitForm)
	publish := func() {
		t.Helper()
		b.do(chromedp.Click(".toolbar .primary"), chromedp.WaitVisible("dialog form"))
	}
	publish()
	b.wantText("Anyone with the link will be able to respond.")
	b.do(chromedp.Click(button("Cancel")))
	b.wait(`!document.querySelector("dialog")`)
	publish()
	b.wantStatus(b.press(`dialog .primary`), 200)
	b.wantPath("/forms/" + b.id + "/share")
	b.wantText(s.URL + "/f/" + b.id)

	b.wantStatus(b.press(link("Build")), 200)
	b.do(chromedp.WaitVisible(labelInput(1)))
	publish()
	b.wantText("No changes since version 1.")
	if b.count("dialog .primary:disabled") != 1 {
		t.Error("nothing can be published")
	}
	b.do(chromedp.Click(button("Cancel")))
	b.wait(`!document.querySelector("dialog")`)

	b.fill(labelInput(1), "What is your favourite?")
	b.clickTool(3, "Delete")
	b.add("Email", "Your address")
	reader := openTab(t, s.URL)
	b.waitStored("all this", func(d *form.Definition) bool {
		return slices.Contains(labels(d), "Your address") && !slices.Contains(labels(d), "Third")
	})
	reader.wantStatus(reader.open("/f/"+b.id), 200)
	reader.wantText("First", "Third")
	reader.wantNoText("favourite", "Your address")
	b.wantText("Draft saved. Version 1 is live.")
	publish()
	changes := b.text("dialog .changes")
	for _, want := range []string{"Added", "Removed", "Edited", "“What is your favourite?”: Question", "Your address", "“Third”"} {
		if !strings.Contains(changes, want) {
			t.Errorf("the changes do not say %q:\n%s", want, changes)
		}
	}
	b.wantStatus(b.press(`dialog .primary`), 200)
	reader.wantStatus(reader.open("/f/"+b.id), 200)
	reader.wantText("What is your favourite?", "Your address")
	reader.wantNoText("Third")
}

// TestBuilderVisitsAnotherTab: a mistake in one question does not keep the rest from being
// saved, and after visiting another page the mistake is still there and edits can be undone.
func TestBuilderVisitsAnotherTab(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openBuilder(t, s, "Sale", `{"fields": [
		{"key": "n", "kind": "number", "label": "How many?"}, {"key": "total", "kind": "calculated", "label": "Price", "expression": "n * 2"}]}`)
	b.do(chromedp.Click(labelInput(2)))
	b.fill("#p-expression", "n *")
	const hasProblem = `document.querySelector(".save-status")?.innerText.trim() === "Saved. 1 problem to fix"`
	b.wait(hasProblem)
	b.fill(labelInput(1), "How many of them?")
	b.wait(hasProblem)
	if d, err := b.ownerDB.db.Draft(context.Background(), b.ownerDB.owner, b.id); err != nil || d.Fields[0].Label != "How many of them?" || d.Fields[1].Expression != "n * 2" {
		t.Errorf("the valid part of the draft: %v %v", d, err)
	}
	b.wantStatus(b.open("/forms/"+b.id+"/share"), 200)
	b.wantStatus(b.open("/forms/"+b.id+"/build"), 200)
	b.wait(hasProblem)
	b.wait(`document.querySelector("[aria-label=Undo]:not([aria-disabled])") !== null`)
	b.do(chromedp.Click(`[aria-label="Undo"]`))
	b.wantShown("How many?", "Price")
	b.do(chromedp.Click(`[aria-label="Undo"]`))
	b.waitStored("what it was at first", func(d *form.Definition) bool {
		return d.Fields[0].Label == "How many?" && d.Fields[1].Expression == "n * 2"
	})
}
