package e2e

import (
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"formulary/internal/form"
)

// TestBuilderPalette: every kind of question is in the palette and can be added and
// saved with its defaults.
func TestBuilderPalette(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openBuilder(t, s, "All kinds", "")
	var want []string
	for _, kind := range form.Kinds() {
		want = append(want, kind.Name())
	}
	type kindEntry struct{ Name, Title string }
	kinds := run(b.tab, chromedp.Evaluate[[]kindEntry](`JSON.parse(document.getElementById("data").textContent).kinds.map((k) => ({ Name: k.name, Title: k.title }))`))
	names, titles := []string{}, []string{}
	for _, kind := range kinds {
		names, titles = append(names, kind.Name), append(titles, kind.Title)
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Fatalf("kinds of the page (-want +got):\n%s", diff)
	}
	b.wait(`document.querySelector(".empty-form .kind") !== null`)
	shown := run(b.tab, chromedp.Evaluate[[]string](`Array.from(document.querySelectorAll(".empty-form .kind"), (e) => e.querySelector("span").firstChild.data)`))
	slices.Sort(shown)
	if diff := cmp.Diff(slices.Sorted(slices.Values(titles)), shown); diff != "" {
		t.Errorf("the empty form offers (-want +got):\n%s", diff)
	}
	for i, kind := range kinds {
		b.add(kind.Title, "")
		if got := b.count(".fields > li"); got != i+1 {
			t.Fatalf("%d questions after adding %s", got, kind.Name)
		}
		if got := b.text(".panel h2"); got != kind.Title {
			t.Errorf("the panel is about %q, want %q", got, kind.Title)
		}
	}
	b.waitStored("a question of each kind", func(d *form.Definition) bool {
		got := []string{}
		for _, f := range d.Fields {
			got = append(got, f.Kind)
		}
		return slices.Equal(got, want)
	})

	// The palette can be searched.
	b.do(chromedp.Click(".add-buttons .primary"), chromedp.WaitVisible("dialog.palette"))
	b.typeKeys("rank")
	b.wait(`document.querySelectorAll("dialog .kind").length === 1`)
	b.wantText("Ranking")
	b.typeKeys(kb.Enter)
	b.waitStored("the ranking", func(d *form.Definition) bool {
		return len(d.Fields) == len(want)+1 && d.Fields[len(want)].Kind == "ranking"
	})
}

const fruitForm = `{"fields": [
	{"key": "first", "kind": "short_text", "label": "First"},
	{"key": "second", "kind": "single_choice", "label": "Second", "options": [{"value": "apple", "label": "Apple"}, {"value": "pear", "label": "Pear"}]},
	{"key": "third", "kind": "short_text", "label": "Third"},
	{"key": "fourth", "kind": "yes_no", "label": "Fourth"}]}`

// TestBuilderEdit: texts are edited in place and are stored.
func TestBuilderEdit(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openBuilder(t, s, "Fruit", fruitForm)
	b.fill(".title-input", "Fruit of the year")
	b.fill(".description-input", "For the market")
	b.fill(labelInput(2), "Which fruit?")
	b.fill("#p-help", "The one that you like best")
	b.do(chromedp.Click(`//section[@class="panel"]//label[contains(., "Required")]`))
	b.fill(inQuestion(2, ".choice ~ .choice [data-option]"), "Plum")
	b.typeKeys(kb.Enter)
	b.wait(`document.activeElement.matches("[data-option^=canvas]") && document.activeElement.value === ""`)
	b.typeKeys("Quince")
	b.wait(`document.querySelector(".help.inline-input")?.value === "The one that you like best"`)
	b.fill(".help.inline-input", "The best one")
	b.do(chromedp.Click(labelInput(1)))
	want := `{"fields": [
		{"key": "first", "kind": "short_text", "label": "First"},
		{"key": "second", "kind": "single_choice", "label": "Which fruit?", "help": "The best one", "required": true,
		 "options": [{"value": "apple", "label": "Apple"}, {"value": "pear", "label": "Plum"}, {"value": "quince", "label": "Quince"}]},
		{"key": "third", "kind": "short_text", "label": "Third"},
		{"key": "fourth", "kind": "yes_no", "label": "Fourth"}]}`
	b.waitStored("the question", func(d *form.Definition) bool { return sameQuestions(d, parseDefinition(t, want)) })

	b.wantStatus(b.open("/forms/"+b.id+"/build"), 200)
	b.wait(`document.querySelectorAll(".fields > li").length === 4`)
	b.wantShown("First", "Which fruit?", "Third", "Fourth")
	b.wantText("Fruit of the year")
	type page struct {
		Title, Description, Help string
		Required                 int
		Options                  []string
	}
	got := run(b.tab, chromedp.Evaluate[page](`({ Title: document.querySelector(".title-input").value, Description: document.querySelector(".description-input").value,
		Help: document.querySelector(".help.inline-input").value, Required: document.querySelectorAll(".fields .ask:not(:has(.muted))").length,
		Options: Array.from(document.querySelectorAll("[data-option^=canvas]"), (e) => e.value) })`))
	if diff := cmp.Diff(page{"Fruit of the year", "For the market", "The best one", 1, []string{"Apple", "Plum", "Quince"}}, got); diff != "" {
		t.Errorf("after a reload (-want +got):\n%s", diff)
	}
}

// sameQuestions reports whether two drafts have the same fields, apart from their IDs.
func sameQuestions(a, b *form.Definition) bool {
	strip := func(d *form.Definition) (list []form.Field) {
		for _, f := range d.Fields {
			field := *f
			field.ID = ""
			list = append(list, field)
		}
		return list
	}
	return cmp.Equal(strip(a), strip(b))
}

// TestBuilderMove: questions are moved, duplicated and deleted, and every step can be
// undone.
func TestBuilderMove(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openBuilder(t, s, "Fruit", fruitForm)
	b.do(chromedp.EmulateViewport(1280, 1600)) // the whole form fits on the screen
	b.clickTool(3, "Move up")
	b.waitLabels("First", "Third", "Second", "Fourth")
	b.clickTool(1, "Move down")
	b.waitLabels("Third", "First", "Second", "Fourth")
	b.wantShown("Third", "First", "Second", "Fourth")

	b.do(chromedp.Click(labelInput(4)))
	b.drag(inQuestion(4, ".card-actions .drag-handle"), ".fields > li:nth-child(1)", 4)
	b.waitLabels("Fourth", "Third", "First", "Second")
	b.drag(`.outline [data-sortable="fields"] > li:nth-child(1) .drag-handle`, `.outline [data-sortable="fields"] > li:nth-child(3)`, -3)
	b.waitLabels("Third", "First", "Fourth", "Second")
	b.wantShown("Third", "First", "Fourth", "Second")

	b.clickTool(4, "Duplicate")
	b.waitLabels("Third", "First", "Fourth", "Second", "Second")
	d := b.readStored()
	if a, c := d.Fields[3], d.Fields[4]; a.Key == c.Key || a.ID == c.ID || len(c.Options) != 2 {
		t.Errorf("the copy is %+v", c)
	}
	b.clickTool(2, "Delete")
	b.waitLabels("Third", "Fourth", "Second", "Second")

	undoSteps := []([]string){
		{"Third", "First", "Fourth", "Second", "Second"}, {"Third", "First", "Fourth", "Second"}, {"Fourth", "Third", "First", "Second"},
		{"Third", "First", "Second", "Fourth"}, {"First", "Third", "Second", "Fourth"}, {"First", "Second", "Third", "Fourth"},
	}
	for _, want := range undoSteps {
		b.do(chromedp.Click(`.toolbar [aria-label="Undo"]`))
		b.wantShown(want...)
	}
	if b.count(`.toolbar [aria-label="Undo"][aria-disabled="true"]`) != 1 {
		t.Error("there is still something to undo")
	}
	b.waitLabels("First", "Second", "Third", "Fourth")
	for range undoSteps {
		b.do(chromedp.Click(`.toolbar [aria-label="Redo"]`))
	}
	b.waitLabels("Third", "Fourth", "Second", "Second")
	b.wantStatus(b.open("/forms/"+b.id+"/build"), 200)
	b.wait(`document.querySelectorAll(".fields > li").length === 4`)
	b.wantShown("Third", "Fourth", "Second", "Second")
}

// drag drags a handle and drops it the given number of pixels below the top of another
// element, or above its bottom if negative.
func (b builder) drag(handle, onto string, offset int) {
	b.t.Helper()
	type spot struct{ FromX, FromY, ToX, ToY float64 }
	b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector(%q).closest("li").querySelector("textarea, button").focus()`, handle)))
	b.do(chromedp.Evaluate[chromedp.Void](`scrollTo(0, 0)`))
	points := run(b.tab, chromedp.Evaluate[spot](fmt.Sprintf(`(() => {
		const from = document.querySelector(%q).getBoundingClientRect(), to = document.querySelector(%q).getBoundingClientRect();
		return { FromX: from.x + from.width / 2, FromY: from.y + from.height / 2, ToX: to.x + 20, ToY: %[3]d < 0 ? to.bottom + %[3]d : to.y + %[3]d };
	})()`, handle, onto, offset)))
	mouse := func(kind input.DispatchMouseEventType, x, y float64, held int64) {
		b.t.Helper()
		sendCommand(b.tab, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: x, Y: y, Button: input.MouseButtonLeft, Buttons: held, ClickCount: 1})
	}
	mouse(chromedp.MouseMoved, points.FromX, points.FromY, 0)
	b.wait(`document.getElementById("builder").dataset.draggable === "true"`)
	mouse(chromedp.MousePressed, points.FromX, points.FromY, 1)
	b.wait(`document.querySelector(".dragging") !== null`)
	mouse(chromedp.MouseMoved, points.FromX, (points.FromY+points.ToY)/2, 1)
	mouse(chromedp.MouseMoved, points.ToX, points.ToY, 1)
	b.wait(`document.querySelector("[data-drop]") !== null`)
	mouse(chromedp.MouseReleased, points.ToX, points.ToY, 0)
	b.wait(`document.querySelector(".dragging, [data-drop]") === null`)
}
