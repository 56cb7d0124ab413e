package chart

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"formulary/internal/form"
)

// equals returns the condition that a field has a value.
func equals(field string, value any) *form.Condition {
	return &form.Condition{Field: field, Op: "equals", Value: value}
}

// partyForm returns a form with conditions, jumps and several endings.
func partyForm() *form.Definition {
	return &form.Definition{
		Fields: []*form.Field{
			{Key: "name", Kind: "short_text", Label: "Your name"},
			{Key: "come", Kind: "yes_no", Label: "Will you come?", Jumps: []*form.Jump{{If: equals("come", false), To: "sorry"}}},
			{Key: "food", Kind: "page_break", Label: "Food"},
			{Key: "meat", Kind: "yes_no", Label: "Meat?"},
			{Key: "meats", Kind: "page_break", Label: "Which meat, {{name}}?", ShowIf: equals("meat", true)},
			{Key: "which", Kind: "short_text", Label: "Which?", Jumps: []*form.Jump{{To: "rest"}, {If: equals("which", "x"), To: "sorry"}}},
			{Key: "hint", Kind: "statement", Text: "Soon there"},
			{Key: "between", Kind: "page_break"},
			{Key: "rest", Kind: "page_break", Label: "The rest"},
			{Key: "secret", Kind: "hidden"},
		},
		Endings: []*form.Ending{
			{Key: "meaty", Title: "Bring a knife", ShowIf: equals("meat", true)},
			{Key: "thanks", Title: "Thank you"},
			{Key: "sorry", Title: "What a pity"},
		},
	}
}

// TestFlow shows the boxes, arrows, jumps and texts of a form.
func TestFlow(t *testing.T) {
	d := partyForm()
	if err := d.Normalize(); err != nil {
		t.Fatal(err)
	}
	s := parseDrawing(t, Flow(d, nil))
	s.expectClasses(t, "boxes", map[string]int{"chart-node": 5, "chart-end": 3, "chart-conditional": 2})
	// The third jump comes after an unconditional one, so it is not drawn.
	s.expectClasses(t, "jumps", map[string]int{"chart-jump": 2, "chart-exit": 2})
	// Three pages have an arrow to the next page (one page always jumps), and the last page
	// has arrows to two endings.
	s.expectClasses(t, "arrows", map[string]int{"chart-edge": 5})
	for _, want := range []string{"Page 1", "2 questions", "If “Will you come?” is No", "Food", "1 question", "Which meat, …?",
		"If “Meat?” is Yes", "Always", "Page 4", "No questions", "The rest", "Bring a knife", "Thank you", "What a pity"} {
		if !slices.Contains(s.texts, want) {
			t.Errorf("no %q in %q", want, s.texts)
		}
	}
	if slices.Contains(s.texts, "End") {
		t.Error("the default ending is drawn although it is never shown")
	}
}

// TestFlowOfIncompleteForms shows that drafts with missing parts can be drawn.
func TestFlowOfIncompleteForms(t *testing.T) {
	for name, d := range map[string]*form.Definition{
		"nil": nil, "empty": {}, "nil members": {Fields: []*form.Field{nil, {Kind: "short_text", Jumps: []*form.Jump{nil, {To: "gone"}, {}}}}, Endings: []*form.Ending{nil}},
	} {
		s := parseDrawing(t, Flow(d, nil))
		s.expectClasses(t, name, map[string]int{"chart-node": 1, "chart-end": 1, "chart-edge": 1, "chart-jump": 0})
	}
	d := &form.Definition{Endings: []*form.Ending{{Key: "a", Title: "A", ShowIf: equals("x", "1")}}}
	if s := parseDrawing(t, Flow(d, nil)); s.classes["chart-end"] != 2 || !slices.Contains(s.texts, "Otherwise") {
		t.Errorf("only a conditional ending: %v", s)
	}
}

// longForm returns a form with the given number of pages, each with jumps to later ones.
func longForm(pages, jumps int) *form.Definition {
	d := &form.Definition{}
	for i := range pages {
		d.Fields = append(d.Fields, &form.Field{Key: fmt.Sprint("p", i), Kind: "page_break", Label: fmt.Sprint("Chapter ", i)})
		q := &form.Field{Key: fmt.Sprint("q", i), Kind: "number", Label: "How many?"}
		for n := range jumps {
			if to := i + 1 + (n+1)*(i%3+1); to < pages {
				q.Jumps = append(q.Jumps, &form.Jump{If: equals(q.Key, float64(n)), To: fmt.Sprint("p", to)})
			}
		}
		d.Fields = append(d.Fields, q)
	}
	return d
}

// TestFlowLayoutHasNoOverlap shows that neither lanes nor boxes overlap.
func TestFlowLayoutHasNoOverlap(t *testing.T) {
	for pages := 1; pages <= 40; pages++ {
		for jumps := range 5 {
			f := &flow{translate: identity}
			f.readDefinition(longForm(pages, jumps))
			f.layOut()
			for i, a := range f.lanes {
				for _, b := range f.lanes[:i] {
					if a.track == b.track && a.from < b.to && b.from < a.to {
						t.Fatalf("%d pages: the lanes to %d and %d overlap", pages, a.to, b.to)
					}
				}
				if x := f.trackX(a.track); x <= f.x+f.w || x >= width {
					t.Fatalf("%d pages: lane at %v, boxes end at %v", pages, x, f.x+f.w)
				}
			}
			if f.w < 200 {
				t.Fatalf("%d pages: boxes are %v wide", pages, f.w)
			}
			for i, n := range f.nodes[1:] {
				if before := f.nodes[i]; n.y < before.y+before.h+boxGap {
					t.Fatalf("%d pages: boxes overlap", pages)
				}
			}
			parseDrawing(t, f.draw())
		}
	}
}

// TestFlowManyJumps shows that at most maxEdges jumps of a page are drawn.
func TestFlowManyJumps(t *testing.T) {
	d := &form.Definition{Fields: []*form.Field{{Key: "q", Kind: "number"}, {Key: "last", Kind: "page_break"}}}
	for n := range 30 {
		d.Fields[0].Jumps = append(d.Fields[0].Jumps, &form.Jump{If: equals("q", float64(n)), To: "last"})
	}
	s := parseDrawing(t, Flow(d, nil))
	if s.classes["chart-jump"] != maxEdges || !slices.Contains(s.texts, "and 18 more") {
		t.Errorf("30 jumps: %d drawn, texts %q", s.classes["chart-jump"], s.texts)
	}
}

// TestDeterministic shows that the same input gives the same bytes.
func TestDeterministic(t *testing.T) {
	drawAll := func() string {
		return strings.Join([]string{
			Sparkline([]int64{1, 2, 3}, "a"), Columns(samplePoints(300), "b", formatPlain), Bars([]Row{{"x", 1, .1, "n"}}, "c", formatPlain),
			Histogram(samplePoints(11), "d", formatPlain), NPS(Score{3, 4, 5, 6}, "e", formatPlain, identity), Flow(longForm(20, 3), identity), Flow(partyForm(), identity),
		}, "\n")
	}
	first := drawAll()
	for range 20 {
		if drawAll() != first {
			t.Fatal("the same input gave different bytes")
		}
	}
}

// FuzzDrawing draws all charts from arbitrary texts and values.
func FuzzDrawing(f *testing.F) {
	f.Add("Responses", "Monday", hostileText, 3.0, 0.5, int64(4), uint16(3))
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
		translate := func(text string) string { return text + other }
		parseDrawing(t, Sparkline(values, title))
		parseDrawing(t, Columns(points, title, formatPlain))
		parseDrawing(t, Histogram(points, title, func(float64) string { return label }))
		parseDrawing(t, Bars(rows, title, formatPlain))
		parseDrawing(t, NPS(Score{value, count, -count, int64(n)}, title, formatPlain, translate))
		d := longForm(int(n%31), int(n%4))
		for i, q := range d.Fields {
			switch i % 3 {
			case 0:
				q.Label, q.ShowIf = label, equals(other, label)
			case 1:
				q.Label = other
			}
		}
		d.Endings = []*form.Ending{{Key: "e", Title: title, Redirect: label, ShowIf: equals("q0", value)}, {Title: other}}
		parseDrawing(t, Flow(d, translate))
	})
}
