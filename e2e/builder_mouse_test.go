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

// Every kind of question is in the palette, and can be added and saved as it comes
// from there.
func TestBuilderPalette(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openBuilder(t, s, "All kinds", "")
	var want []string
	for _, kind := range form.Kinds() {
		want = append(want, kind.Name())
	}
	type offer struct{ Name, Title string }
	offered := ask(b.tab, chromedp.Evaluate[[]offer](`JSON.parse(document.getElementById("data").textContent).kinds.map((k) => ({ Name: k.name, Title: k.title }))`))
	names, titles := []string{}, []string{}
	for _, o := range offered {
		names, titles = append(names, o.Name), append(titles, o.Title)
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Fatalf("kinds of the page (-want +got):\n%s", diff)
	}
	shown := ask(b.tab, chromedp.Evaluate[[]string](`Array.from(document.querySelectorAll(".first .kind"), (e) => e.querySelector("span").firstChild.data)`))
	slices.Sort(shown)
	if diff := cmp.Diff(slices.Sorted(slices.Values(titles)), shown); diff != "" {
		t.Errorf("the empty form offers (-want +got):\n%s", diff)
	}
	for i, o := range offered {
		b.add(o.Title, "")
		if got := b.count(".fields > li"); got != i+1 {
			t.Fatalf("%d questions after adding %s", got, o.Name)
		}
		if got := b.text(".panel h2"); got != o.Title {
			t.Errorf("the panel is about %q, want %q", got, o.Title)
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
	b.do(chromedp.Click(".more .primary"), chromedp.WaitVisible("dialog.palette"))
	b.typeIn("rank")
	b.wait(`document.querySelectorAll("dialog .kind").length === 1`)
	b.wantWords("Ranking")
	b.typeIn(kb.Enter)
	b.waitStored("the ranking", func(d *form.Definition) bool {
		return len(d.Fields) == len(want)+1 && d.Fields[len(want)].Kind == "ranking"
	})
}

const fruit = `{"fields": [
	{"key": "first", "kind": "short_text", "label": "First"},
	{"key": "second", "kind": "single_choice", "label": "Second", "options": [{"value": "apple", "label": "Apple"}, {"value": "pear", "label": "Pear"}]},
	{"key": "third", "kind": "short_text", "label": "Third"},
	{"key": "fourth", "kind": "yes_no", "label": "Fourth"}]}`

// What a question says is written where it stands, and is there after a reload.
func TestBuilderEdit(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openBuilder(t, s, "Fruit", fruit)
	b.fill(".title", "Fruit of the year")
	b.fill(".lead", "For the market")
	b.fill(words(2), "Which fruit?")
	b.fill("#p-help", "The one that you like best")
	b.do(chromedp.Click(`//section[@class="panel"]//label[contains(., "An answer is needed")]`))
	b.fill(question(2, "li:nth-child(2) [data-option]"), "Plum")
	b.typeIn(kb.Enter)
	b.wait(`document.activeElement.matches("[data-option^=here]") && document.activeElement.value === ""`)
	b.typeIn("Quince")
	b.wait(`document.querySelector(".help.write")?.value === "The one that you like best"`)
	b.fill(".help.write", "The best one")
	b.do(chromedp.Click(words(1)))
	want := `{"fields": [
		{"key": "first", "kind": "short_text", "label": "First"},
		{"key": "second", "kind": "single_choice", "label": "Which fruit?", "help": "The best one", "required": true,
		 "options": [{"value": "apple", "label": "Apple"}, {"value": "pear", "label": "Plum"}, {"value": "quince", "label": "Quince"}]},
		{"key": "third", "kind": "short_text", "label": "Third"},
		{"key": "fourth", "kind": "yes_no", "label": "Fourth"}]}`
	b.waitStored("the question", func(d *form.Definition) bool { return sameQuestions(d, asking(t, want)) })

	b.wantStatus(b.open("/forms/"+b.id+"/build"), 200)
	b.wait(`document.querySelectorAll(".fields > li").length === 4`)
	b.wantShown("First", "Which fruit?", "Third", "Fourth")
	b.wantWords("Fruit of the year")
	type page struct {
		Title, Description, Help string
		Required                 int
		Options                  []string
	}
	got := ask(b.tab, chromedp.Evaluate[page](`({ Title: document.querySelector(".title").value, Description: document.querySelector(".lead").value,
		Help: document.querySelector(".help.write").value, Required: document.querySelectorAll(".needed").length,
		Options: Array.from(document.querySelectorAll("[data-option^=here]"), (e) => e.value) })`))
	if diff := cmp.Diff(page{"Fruit of the year", "For the market", "The best one", 1, []string{"Apple", "Plum", "Quince"}}, got); diff != "" {
		t.Errorf("after a reload (-want +got):\n%s", diff)
	}
}

// sameQuestions says whether two drafts ask the same; ids do not count.
func sameQuestions(a, b *form.Definition) bool {
	strip := func(d *form.Definition) (list []form.Field) {
		for _, f := range d.Fields {
			one := *f
			one.ID = ""
			list = append(list, one)
		}
		return list
	}
	return cmp.Equal(strip(a), strip(b))
}

// Questions are moved, copied and deleted, and everything can be taken back.
func TestBuilderMove(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := openBuilder(t, s, "Fruit", fruit)
	b.do(chromedp.EmulateViewport(1280, 1600)) // all of it at once
	b.tool(3, "Move up")
	b.waitLabels("First", "Third", "Second", "Fourth")
	b.tool(1, "Move down")
	b.waitLabels("Third", "First", "Second", "Fourth")
	b.wantShown("Third", "First", "Second", "Fourth")

	b.drag(question(4, ".handles .grip"), question(1, "article"), 4)
	b.waitLabels("Fourth", "Third", "First", "Second")
	b.drag(`.outline [data-sort="fields"] > li:nth-child(1) .grip`, `.outline [data-sort="fields"] > li:nth-child(3)`, -3)
	b.waitLabels("Third", "First", "Fourth", "Second")
	b.wantShown("Third", "First", "Fourth", "Second")

	b.tool(4, "Duplicate")
	b.waitLabels("Third", "First", "Fourth", "Second", "Second")
	d := b.stored()
	if a, c := d.Fields[3], d.Fields[4]; a.Key == c.Key || a.ID == c.ID || len(c.Options) != 2 {
		t.Errorf("the copy is %+v", c)
	}
	b.tool(2, "Delete")
	b.waitLabels("Third", "Fourth", "Second", "Second")

	back := []([]string){
		{"Third", "First", "Fourth", "Second", "Second"}, {"Third", "First", "Fourth", "Second"}, {"Fourth", "Third", "First", "Second"},
		{"Third", "First", "Second", "Fourth"}, {"First", "Third", "Second", "Fourth"}, {"First", "Second", "Third", "Fourth"},
	}
	for _, want := range back {
		b.do(chromedp.Click(`.tools [aria-label="Undo"]`))
		b.wantShown(want...)
	}
	if b.count(`.tools [aria-label="Undo"][aria-disabled="true"]`) != 1 {
		t.Error("there is still something to undo")
	}
	b.waitLabels("First", "Second", "Third", "Fourth")
	for range back {
		b.do(chromedp.Click(`.tools [aria-label="Redo"]`))
	}
	b.waitLabels("Third", "Fourth", "Second", "Second")
	b.wantStatus(b.open("/forms/"+b.id+"/build"), 200)
	b.wait(`document.querySelectorAll(".fields > li").length === 4`)
	b.wantShown("Third", "Fourth", "Second", "Second")
}

// drag takes hold of something and lets it go so many pixels below the top of
// something else, or above its bottom if that is negative.
func (b builder) drag(grip, onto string, below int) {
	b.t.Helper()
	type spot struct{ FromX, FromY, ToX, ToY float64 }
	b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector(%q).closest("li").querySelector("textarea, button").focus()`, grip)))
	b.do(chromedp.Evaluate[chromedp.Void](`scrollTo(0, 0)`))
	at := ask(b.tab, chromedp.Evaluate[spot](fmt.Sprintf(`(() => {
		const from = document.querySelector(%q).getBoundingClientRect(), to = document.querySelector(%q).getBoundingClientRect();
		return { FromX: from.x + from.width / 2, FromY: from.y + from.height / 2, ToX: to.x + 20, ToY: %[3]d < 0 ? to.bottom + %[3]d : to.y + %[3]d };
	})()`, grip, onto, below)))
	mouse := func(kind input.DispatchMouseEventType, x, y float64, held int64) {
		b.t.Helper()
		call(b.tab, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: x, Y: y, Button: input.MouseButtonLeft, Buttons: held, ClickCount: 1})
	}
	mouse(chromedp.MouseMoved, at.FromX, at.FromY, 0)
	mouse(chromedp.MousePressed, at.FromX, at.FromY, 1)
	b.wait(`document.querySelector(".lifted") !== null`)
	mouse(chromedp.MouseMoved, at.FromX, (at.FromY+at.ToY)/2, 1)
	mouse(chromedp.MouseMoved, at.ToX, at.ToY, 1)
	b.wait(`document.querySelector("[data-drop]") !== null`)
	mouse(chromedp.MouseReleased, at.ToX, at.ToY, 0)
	b.wait(`document.querySelector(".lifted, [data-drop]") === null`)
}
