package chart

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"formulary/internal/form"
)

func is(field string, value any) *form.Condition {
	return &form.Condition{Field: field, Op: "equals", Value: value}
}

// party is a form with everything that leads somewhere.
func party() *form.Definition {
	return &form.Definition{
		Fields: []*form.Field{
			{Key: "name", Kind: "short_text", Label: "Your name"},
			{Key: "come", Kind: "yes_no", Label: "Will you come?", Jumps: []*form.Jump{{If: is("come", false), To: "sorry"}}},
			{Key: "food", Kind: "page_break", Label: "Food"},
			{Key: "meat", Kind: "yes_no", Label: "Meat?"},
			{Key: "meats", Kind: "page_break", Label: "Which meat, {{name}}?", ShowIf: is("meat", true)},
			{Key: "which", Kind: "short_text", Label: "Which?", Jumps: []*form.Jump{{To: "rest"}, {If: is("which", "x"), To: "sorry"}}},
			{Key: "hint", Kind: "statement", Text: "Soon there"},
			{Key: "between", Kind: "page_break"},
			{Key: "rest", Kind: "page_break", Label: "The rest"},
			{Key: "secret", Kind: "hidden"},
		},
		Endings: []*form.Ending{
			{Key: "meaty", Title: "Bring a knife", ShowIf: is("meat", true)},
			{Key: "thanks", Title: "Thank you"},
			{Key: "sorry", Title: "What a pity"},
		},
	}
}

func TestFlow(t *testing.T) {
	d := party()
	if err := d.Normalize(); err != nil {
		t.Fatal(err)
	}
	s := look(t, Flow(d, nil))
	if s.classes["chart-node"] != 5 || s.classes["chart-end"] != 3 || s.classes["chart-maybe"] != 2 {
		t.Errorf("boxes: %v", s.classes)
	}
	// What comes after a jump that is always taken never happens.
	if s.classes["chart-jump"] != 2 || s.classes["chart-exit"] != 2 {
		t.Errorf("jumps: %v", s.classes)
	}
	// Three pages lead to the next (one always jumps), the last to two endings.
	if s.classes["chart-edge"] != 5 {
		t.Errorf("%d ways on", s.classes["chart-edge"])
	}
	for _, want := range []string{"Page 1", "2 questions", "If “Will you come?” is No", "Food", "1 question", "Which meat, …?",
		"If “Meat?” is Yes", "Always", "Page 4", "No questions", "The rest", "Bring a knife", "Thank you", "What a pity"} {
		if !slices.Contains(s.texts, want) {
			t.Errorf("no %q in %q", want, s.texts)
		}
	}
	if slices.Contains(s.texts, "End") {
		t.Error("an end that nobody sees")
	}
}

func TestFlowOfLittle(t *testing.T) {
	for name, d := range map[string]*form.Definition{
		"nil": nil, "empty": {}, "holes": {Fields: []*form.Field{nil, {Kind: "short_text", Jumps: []*form.Jump{nil, {To: "gone"}, {}}}}, Endings: []*form.Ending{nil}},
	} {
		s := look(t, Flow(d, nil))
		if s.classes["chart-node"] != 1 || s.classes["chart-end"] != 1 || s.classes["chart-edge"] != 1 || s.classes["chart-jump"] != 0 {
			t.Errorf("%s: %v", name, s.classes)
		}
	}
	d := &form.Definition{Endings: []*form.Ending{{Key: "a", Title: "A", ShowIf: is("x", "1")}}}
	if s := look(t, Flow(d, nil)); s.classes["chart-end"] != 2 || !slices.Contains(s.texts, "Otherwise") {
		t.Errorf("an ending on a condition: %v", s)
	}
}

// long is a form of many pages, each with jumps to later ones.
func long(pages, jumps int) *form.Definition {
	d := &form.Definition{}
	for i := range pages {
		d.Fields = append(d.Fields, &form.Field{Key: fmt.Sprint("p", i), Kind: "page_break", Label: fmt.Sprint("Chapter ", i)})
		q := &form.Field{Key: fmt.Sprint("q", i), Kind: "number", Label: "How many?"}
		for n := range jumps {
			if to := i + 1 + (n+1)*(i%3+1); to < pages {
				q.Jumps = append(q.Jumps, &form.Jump{If: is(q.Key, float64(n)), To: fmt.Sprint("p", to)})
			}
		}
		d.Fields = append(d.Fields, q)
	}
	return d
}

func TestFlowWaysStayApart(t *testing.T) {
	for pages := 1; pages <= 40; pages++ {
		for jumps := range 5 {
			f := &flow{word: same}
			f.read(long(pages, jumps))
			f.layOut()
			for i, a := range f.lanes {
				for _, b := range f.lanes[:i] {
					if a.track == b.track && a.from < b.to && b.from < a.to {
						t.Fatalf("%d pages: the ways to %d and %d run over each other", pages, a.to, b.to)
					}
				}
				if x := f.side(a.track); x <= f.x+f.w || x >= width {
					t.Fatalf("%d pages: a way at %v, boxes up to %v", pages, x, f.x+f.w)
				}
			}
			if f.w < 200 {
				t.Fatalf("%d pages: boxes of %v", pages, f.w)
			}
			for i, s := range f.stations[1:] {
				if before := f.stations[i]; s.y < before.y+before.h+between {
					t.Fatalf("%d pages: boxes touch", pages)
				}
			}
			look(t, f.draw())
		}
	}
}

func TestFlowManyJumps(t *testing.T) {
	d := &form.Definition{Fields: []*form.Field{{Key: "q", Kind: "number"}, {Key: "last", Kind: "page_break"}}}
	for n := range 30 {
		d.Fields[0].Jumps = append(d.Fields[0].Jumps, &form.Jump{If: is("q", float64(n)), To: "last"})
	}
	s := look(t, Flow(d, nil))
	if s.classes["chart-jump"] != maxExits || !slices.Contains(s.texts, "and 18 more") {
		t.Errorf("30 jumps: %d, %q", s.classes["chart-jump"], s.texts)
	}
}

func TestDeterministic(t *testing.T) {
	drawn := func() string {
		return strings.Join([]string{
			Sparkline([]int64{1, 2, 3}, "a"), Columns(days(300), "b", plain), Bars([]Row{{"x", 1, .1, "n"}}, "c", plain),
			Histogram(days(11), "d", plain), NPS(3, 4, 5, 6, "e", plain, same), Flow(long(20, 3), same), Flow(party(), same),
		}, "\n")
	}
	first := drawn()
	for range 20 {
		if drawn() != first {
			t.Fatal("the same input was drawn in another way")
		}
	}
}

// FuzzDrawing draws everything from any text and values.
func FuzzDrawing(f *testing.F) {
	f.Add("Responses", "Monday", hostile, 3.0, 0.5, int64(4), uint16(3))
	f.Add("ردود", "\u200d\u0301", "漢字 👩‍🚒", 1e308, -1.0, int64(-1), uint16(400))
	f.Add("", "", "{{q0}}", 0.0, 0.0, int64(0), uint16(1000))
	f.Fuzz(func(t *testing.T, title, label, other string, value, share float64, count int64, n uint16) {
		points := make([]Point, n%1001)
		values := make([]int64, len(points))
		rows := make([]Row, len(points))
		for i := range points {
			points[i] = Point{label, value}
			if i%3 == 0 {
				points[i] = Point{other, share}
			}
			values[i] = count * int64(i)
			rows[i] = Row{points[i].Label, points[i].Value, share, other}
		}
		word := func(text string) string { return text + other }
		look(t, Sparkline(values, title))
		look(t, Columns(points, title, plain))
		look(t, Histogram(points, title, func(float64) string { return label }))
		look(t, Bars(rows, title, plain))
		look(t, NPS(value, count, -count, int64(n), title, plain, word))
		d := long(int(n%31), int(n%4))
		for i, q := range d.Fields {
			switch i % 3 {
			case 0:
				q.Label, q.ShowIf = label, is(other, label)
			case 1:
				q.Label = other
			}
		}
		d.Endings = []*form.Ending{{Key: "e", Title: title, Redirect: label, ShowIf: is("q0", value)}, {Title: other}}
		look(t, Flow(d, word))
	})
}
