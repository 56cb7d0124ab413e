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

// What the server would not take stands beside what it is about.
func TestBuilderProblems(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openBuilder(t, s, "Fruit", "")
	b.add("Short text", "First")
	b.add("Single choice", "Which fruit?")
	b.waitLabels("First", "Which fruit?")
	b.do(chromedp.Click(`.panel .list li:nth-child(1) [aria-label="Remove"]`))
	b.do(chromedp.Click(`.panel .list li:nth-child(1) [aria-label="Remove"]`))
	b.wait(`document.querySelector(".state.problem")?.innerText.includes("Not saved: 1 problem")`)
	b.wait(`document.querySelector(".fields > li:nth-child(2) .card.bad .wrong") !== null`)
	said := b.text(question(2, ".wrong"))
	if !strings.Contains(said, "option") && !strings.Contains(said, "answer") {
		t.Errorf("the question says %q, want something about its options", said)
	}
	if got := b.text(".panel .wrong"); got != said {
		t.Errorf("the panel says %q, the question %q", got, said)
	}
	if b.count(".outline .sign.bad") != 1 {
		t.Error("the outline does not show where the problem is")
	}
	b.wantRefused("/draft", 422)

	// It cannot be published like that.
	b.do(chromedp.Click(button("Publish")), chromedp.WaitVisible("dialog form"))
	b.wantWords("Not yet", "Publishing takes what is saved.")
	b.do(chromedp.Click(button("Back to the form")))
	b.wait(`!document.querySelector("dialog")`)
	b.wantRefused("/draft", 422)

	b.do(chromedp.Click(words(2)))
	b.do(chromedp.Click(question(2, ".options .small")))
	b.wait(`document.activeElement.matches("[data-option^=here]")`)
	b.typeIn("Apple")
	b.waitStored("the option", func(d *form.Definition) bool {
		return len(d.Fields[1].Options) == 1 && d.Fields[1].Options[0].Label == "Apple"
	})
	if b.count(".wrong, .bad") != 0 {
		t.Error("the problem is still shown")
	}
	b.watch.mu.Lock()
	// A save may have fallen between the empty option and its words.
	b.watch.errors = slices.DeleteFunc(b.watch.errors, func(m chromedp.ConsoleMessage) bool {
		return strings.HasSuffix(m.URL, "/draft") && strings.Contains(m.Text, "422")
	})
	b.watch.mu.Unlock()
}

// meanwhile changes the draft as another window or a program would.
func (b builder) meanwhile(title string) {
	b.t.Helper()
	_, err := b.desk.db.UpdateForm(context.Background(), b.desk.owner, store.FormRevision{ID: b.id}, func(p *form.FormInput) error {
		p.Title = title
		p.Definition.Fields = append(p.Definition.Fields, &form.Field{Kind: "email", Label: "From " + title})
		return p.Normalize()
	}, time.Now())
	if err != nil {
		b.t.Fatal(err)
	}
}

// When two have changed a form, the person chooses which stays.
func TestBuilderConflict(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, test := range []struct {
		choice string
		title  string
		labels []string
	}{
		{"Keep mine", "Fruit", []string{"Mine", "Second", "Third", "Fourth"}},
		{"Take theirs", "Theirs", []string{"First", "Second", "Third", "Fourth", "From Theirs"}},
	} {
		t.Run(test.choice, func(t *testing.T) {
			b := openBuilder(t, s, "Fruit", fruit)
			b.meanwhile("Theirs")
			b.fill(words(1), "Mine")
			b.do(chromedp.WaitVisible("dialog form"))
			b.wantWords("Somebody else has changed this form", "“Theirs”, 5 questions", "“Fruit”, 4 questions")
			b.wantRefused("/draft", 409)
			b.do(chromedp.Click(button(test.choice)))
			b.wait(`!document.querySelector("dialog")`)
			b.waitLabels(test.labels...)
			b.wantShown(test.labels...)
			f, err := b.desk.db.Form(context.Background(), b.desk.owner, b.id)
			if err != nil || f.Title != test.title {
				t.Errorf("the form is called %q, want %q (%v)", f.Title, test.title, err)
			}

			// Either way, the next change is saved without a question.
			b.fill(words(2), "Next")
			want := slices.Clone(test.labels)
			want[1] = "Next"
			b.waitLabels(want...)
			if b.count("dialog") != 0 {
				t.Errorf("it asks again:\n%s", b.describe())
			}
		})
	}
}

// Publishing says what is new, and until then nobody sees it.
func TestBuilderPublish(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openBuilder(t, s, "Fruit", fruit)
	publish := func() {
		t.Helper()
		b.do(chromedp.Click(".tools .primary"), chromedp.WaitVisible("dialog form"))
	}
	publish()
	b.wantWords("This is the first version.")
	b.do(chromedp.Click(button("Not now")))
	b.wait(`!document.querySelector("dialog")`)
	publish()
	b.wantStatus(b.press(`dialog .primary`), 200)
	b.wantPath("/forms/" + b.id + "/share")
	b.wantWords(s.URL + "/f/" + b.id)

	b.wantStatus(b.press(link("Build")), 200)
	b.do(chromedp.WaitVisible(words(1)))
	publish()
	b.wantWords("Nothing has changed since version 1.")
	if b.count("dialog .primary:disabled") != 1 {
		t.Error("nothing can be published")
	}
	b.do(chromedp.Click(button("Not now")))
	b.wait(`!document.querySelector("dialog")`)

	b.fill(words(1), "What is your favourite?")
	b.tool(3, "Delete")
	b.add("E-mail", "Your address")
	reader := openTab(t, s.URL)
	b.waitStored("all this", func(d *form.Definition) bool {
		return slices.Contains(labels(d), "Your address") && !slices.Contains(labels(d), "Third")
	})
	reader.wantStatus(reader.open("/f/"+b.id), 200)
	reader.wantWords("First", "Third")
	reader.wantNoWords("favourite", "Your address")
	b.wantWords("Saved. Live is still version 1")
	publish()
	changes := b.text("dialog .changes")
	for _, want := range []string{"New", "Gone", "Changed", "“What is your favourite?”: Question", "Your address", "“Third”"} {
		if !strings.Contains(changes, want) {
			t.Errorf("the changes do not say %q:\n%s", want, changes)
		}
	}
	b.wantStatus(b.press(`dialog .primary`), 200)
	reader.wantStatus(reader.open("/f/"+b.id), 200)
	reader.wantWords("What is your favourite?", "Your address")
	reader.wantNoWords("Third")
}

// What could not be saved, for one mistake in it, is still there when one comes back.
func TestBuilderShelf(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openBuilder(t, s, "Sale", `{"fields": [
		{"key": "n", "kind": "number", "label": "How many?"}, {"key": "total", "kind": "calculated", "label": "Price", "expression": "n * 2"}]}`)
	b.do(chromedp.Click(words(2)))
	b.fill("#p-expression", "n *")
	const refused = `document.querySelector(".state")?.innerText.trim() === "Not saved: 1 problem"`
	b.wait(refused)
	b.fill(words(1), "How many of them?")
	b.wait(refused)
	b.wantStatus(b.open("/forms/"+b.id+"/share"), 200)
	b.watch.mu.Lock()
	if len(b.watch.dialogs) != 1 {
		t.Errorf("asked before leaving: %v", b.watch.dialogs)
	}
	b.watch.dialogs = nil // the watch has said yes
	b.watch.mu.Unlock()
	b.wantStatus(b.open("/forms/"+b.id+"/build"), 200)
	b.wait(refused)
	b.do(chromedp.Click(words(2)))
	b.fill("#p-expression", "n * 3")
	b.waitStored("all of it", func(d *form.Definition) bool {
		return d.Fields[0].Label == "How many of them?" && d.Fields[1].Expression == "n * 3"
	})
	b.wantRefused("/draft", 422)
}
