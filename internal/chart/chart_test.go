package chart

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// seen is what a drawing holds, read as XML.
type seen struct {
	classes map[string]int
	texts   []string // what is written
	titles  []string // the drawing's own first
	lines   []line
}

type line struct {
	class, anchor, text string
	x, y                float64
}

// look reads a drawing and fails on what no drawing may have.
func look(t testing.TB, svg string) seen {
	t.Helper()
	s := seen{classes: map[string]int{}}
	decoder := xml.NewDecoder(strings.NewReader(svg))
	var inside []xml.StartElement
	text := ""
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		switch v := token.(type) {
		case xml.StartElement:
			inside, text = append(inside, v), ""
			if !slices.Contains([]string{"svg", "title", "desc", "g", "rect", "path", "circle", "text"}, v.Name.Local) {
				t.Fatalf("<%s> in %s", v.Name.Local, svg)
			}
			for _, a := range v.Attr {
				checkAttribute(t, a)
				if a.Name.Local == "class" {
					for class := range strings.FieldsSeq(a.Value) {
						s.classes[class]++
					}
				}
			}
		case xml.CharData:
			text += string(v)
		case xml.EndElement:
			e := inside[len(inside)-1]
			inside = inside[:len(inside)-1]
			switch e.Name.Local {
			case "title":
				s.titles = append(s.titles, text)
			case "text":
				s.texts = append(s.texts, strings.Trim(text, "\u2066\u2068\u2069"))
				l := line{class: attribute(e, "class"), anchor: attribute(e, "text-anchor"), text: text}
				l.x, _ = strconv.ParseFloat(attribute(e, "x"), 64)
				l.y, _ = strconv.ParseFloat(attribute(e, "y"), 64)
				s.lines = append(s.lines, l)
			}
			text = ""
		}
	}
	for _, want := range []string{`<svg xmlns="http://www.w3.org/2000/svg" class="chart `, `role="img"`, `viewBox="0 0 `, "preserveAspectRatio", "<title>", "<desc>"} {
		if !strings.Contains(svg, want) {
			t.Fatalf("no %s in %s", want, svg)
		}
	}
	return s
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// checkAttribute wants finite numbers near the drawing, and no style or script.
func checkAttribute(t testing.TB, a xml.Attr) {
	t.Helper()
	var numbers []string
	switch name := a.Name.Local; name {
	case "x", "y", "cx", "cy", "r", "rx", "width", "height", "font-size":
		if a.Value != "100%" {
			numbers = []string{a.Value}
		}
	case "d":
		numbers = strings.FieldsFunc(a.Value, func(r rune) bool { return strings.ContainsRune("MLQZ ", r) })
	case "viewBox":
		numbers = strings.Fields(a.Value)
	case "style", "href", "id":
		t.Fatalf("an attribute %s", name)
	default:
		if strings.HasPrefix(name, "on") {
			t.Fatalf("an attribute %s", name)
		}
	}
	for _, n := range numbers {
		if v, err := strconv.ParseFloat(n, 64); err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < -1 || v > 1e6 {
			t.Fatalf("%s=%q", a.Name.Local, a.Value)
		}
	}
}

func days(n int) []Point {
	list := make([]Point, n)
	for i := range list {
		list[i] = Point{fmt.Sprintf("day %d", i+1), float64(i * 7 % 11)}
	}
	return list
}

const hostile = "</text><script>alert('1')</script>\x00\x07\ufffe\xff & \"so\" \u202eon"

func TestColumns(t *testing.T) {
	for n, columns := range map[int]int{0: 0, 1: 1, 2: 2, 60: 60, 61: 31, 400: 58, 1000: 59} {
		points := days(n)
		s := look(t, Columns(points, "Responses", plain))
		if s.classes["chart-bar"] != columns || s.classes["chart-mark"] != columns {
			t.Errorf("%d points: %d columns, not %d", n, s.classes["chart-bar"], columns)
		}
		if n == 0 {
			continue
		}
		if first := s.titles[1]; !strings.HasPrefix(first, "day 1") {
			t.Errorf("%d points: the first column is %q", n, first)
		}
		if last := s.titles[len(s.titles)-1]; !strings.Contains(last, fmt.Sprintf("day %d: ", n)) {
			t.Errorf("%d points: the last column is %q", n, last)
		}
	}
	if s := look(t, Columns(days(61), "", plain)); s.titles[2] != "day 2 – day 3: 10" {
		t.Errorf("two days together are %q", s.titles[2])
	}
}

func TestColumnsLabelsStandApart(t *testing.T) {
	for n := 1; n < 130; n++ {
		for _, label := range []string{"%d", "day %d", "Wednesday the %dth of September"} {
			points := days(n)
			for i := range points {
				points[i].Label = fmt.Sprintf(label, i)
			}
			edge := -1.0
			for _, l := range look(t, Columns(points, "", plain)).lines {
				if l.y < 114 { // a tick
					continue
				}
				wide := measure(l.text, smallSize)
				left := map[string]float64{start: l.x, middle: l.x - wide/2, end: l.x - wide}[l.anchor]
				if left < edge || left < -1 || left+wide > width {
					t.Fatalf("%d points: %q begins at %v, after %v", n, l.text, left, edge)
				}
				edge = left + wide
			}
		}
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		highest float64
		whole   bool
		want    string
	}{
		{0, true, "[0]"}, {1, true, "[0 1]"}, {2, true, "[0 1 2]"}, {3, true, "[0 1 2 3]"}, {7, true, "[0 2 4 6]"}, {10, true, "[0 5 10]"},
		{23, true, "[0 10 20]"}, {100, true, "[0 50 100]"}, {4999, true, "[0 2000 4000]"}, {.3, false, "[0 0.1 0.2 0.3]"}, {1, false, "[0 0.5 1]"},
	} {
		if got := fmt.Sprint(ticks(c.highest, c.whole)); got != c.want {
			t.Errorf("up to %v: %s, not %s", c.highest, got, c.want)
		}
	}
	for v := 2.0; v < 1e18; v = math.Ceil(v * 1.07) {
		if got := ticks(v, true); len(got) < 3 || len(got) > 4 || got[len(got)-1] > v*(1+1e-9) {
			t.Errorf("up to %v: %v", v, got)
		}
	}
}

func TestBars(t *testing.T) {
	rows := []Row{{"Yes", 30, .6, ""}, {"No", 20, .4, "fewer than last year"}, {"Perhaps", 0, 0, ""}}
	s := look(t, Bars(rows, "Well?", plain))
	if s.classes["chart-bar"] != 2 || s.classes["chart-track"] != 3 {
		t.Errorf("bars: %v", s.classes)
	}
	if want := []string{"Yes", "30", "60%", "No", "20", "40%", "fewer than last year", "Perhaps", "0", "0%"}; !slices.Equal(s.texts, want) {
		t.Errorf("it says %q", s.texts)
	}
	long := strings.Repeat("a very long answer ", 20)
	s = look(t, Bars([]Row{{Label: long, Value: 1}}, "", plain))
	if !strings.HasSuffix(s.texts[0], "…") || !strings.Contains(s.titles[1], strings.TrimSpace(long)) {
		t.Errorf("a long label: %q, whole %q", s.texts[0], s.titles[1])
	}
	if slices.Contains(s.texts, "0%") {
		t.Error("a share though there is none")
	}
	s = look(t, Bars(make([]Row, 62), "", plain))
	if s.classes["chart-track"] != 50 || s.texts[len(s.texts)-1] != "and 12 more" {
		t.Errorf("62 rows: %d and %q", s.classes["chart-track"], s.texts[len(s.texts)-1])
	}
	if s := look(t, Bars(nil, "Nothing", plain)); s.titles[0] != "Nothing" || s.classes["chart-track"] != 0 {
		t.Errorf("no rows: %v", s)
	}
}

func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{0: "0%", .001: "<1%", .3349: "33%", .996: "99%", 1: "100%", 7: "100%", -1: "0%"} {
		if got := percent(share, plain); got != want {
			t.Errorf("%v is %s, not %s", share, got, want)
		}
	}
}

func TestHistogram(t *testing.T) {
	var points []Point
	for i := range 11 {
		points = append(points, Point{strconv.Itoa(i), float64(i * 100)})
	}
	s := look(t, Histogram(points, "How likely?", plain))
	if s.classes["chart-bar"] != 11 {
		t.Errorf("%d columns", s.classes["chart-bar"])
	}
	for _, p := range points {
		if !slices.Contains(s.texts, p.Label) {
			t.Errorf("no label %s in %q", p.Label, s.texts)
		}
	}
	if !slices.Contains(s.texts, "1000") {
		t.Errorf("no value in %q", s.texts)
	}
	look(t, Histogram(nil, "", nil))
	look(t, Histogram(days(500), "", nil))
}

func TestNPS(t *testing.T) {
	s := look(t, NPS(25.4, 50, 25, 25, "Score", plain, nil))
	if s.classes["chart-good"] != 1 || s.classes["chart-middle"] != 1 || s.classes["chart-bad"] != 1 {
		t.Errorf("parts: %v", s.classes)
	}
	if want := []string{"+25.4", "25%", "Detractors", "25%", "Passives", "50%", "Promoters"}; !slices.Equal(s.texts, want) {
		t.Errorf("it says %q", s.texts)
	}
	if s := look(t, NPS(-100, 0, 0, 9, "", plain, nil)); s.texts[0] != "−100" || s.classes["chart-good"] != 0 {
		t.Errorf("the worst: %v", s)
	}
	if s := look(t, NPS(math.NaN(), 0, -3, 0, "", nil, nil)); s.texts[0] != "–" || s.classes["chart-bad"] != 0 {
		t.Errorf("nobody: %v", s)
	}
}

func TestSpark(t *testing.T) {
	for _, values := range [][]int64{nil, {0}, {0, 0, 0}, {-4, 0}} {
		if s := look(t, Sparkline(values, "")); s.classes["chart-axis"] != 1 || s.classes["chart-line"] != 0 {
			t.Errorf("%v: %v", values, s.classes)
		}
	}
	for _, values := range [][]int64{{1}, {0, 3, 1}, make1000(), {math.MaxInt64, math.MaxInt64, 1}} {
		if s := look(t, Sparkline(values, "Last days")); s.classes["chart-line"] != 1 || s.classes["chart-dot"] != 1 || s.titles[0] != "Last days" {
			t.Errorf("%d values: %v", len(values), s)
		}
	}
}

func make1000() []int64 {
	list := make([]int64, 1000)
	for i := range list {
		list[i] = int64(i)
	}
	return list
}

func TestHostile(t *testing.T) {
	for name, svg := range map[string]string{
		"columns":   Columns([]Point{{hostile, 1}, {hostile, 2}}, hostile, func(float64) string { return hostile }),
		"histogram": Histogram([]Point{{hostile, 1}}, hostile, func(float64) string { return hostile }),
		"bars":      Bars([]Row{{hostile, 1, .5, hostile}}, hostile, func(float64) string { return hostile }),
		"nps":       NPS(1, 1, 1, 1, hostile, func(float64) string { return hostile }, func(string) string { return hostile }),
		"spark":     Sparkline([]int64{1}, hostile),
	} {
		s := look(t, svg)
		if strings.Contains(svg, "<script") || strings.ContainsAny(svg, "\x00\x07\u202e") {
			t.Errorf("%s: %s", name, svg)
		}
		if !strings.HasPrefix(s.titles[0], "</text><script>alert('1')</script>") {
			t.Errorf("%s: the title is %q", name, s.titles[0])
		}
	}
}

func TestStrangeValues(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -5, math.MaxFloat64, math.SmallestNonzeroFloat64, 1e-9, 1e15} {
		look(t, Columns([]Point{{"a", v}, {"b", 1}, {"c", v}}, "", nil))
		look(t, Columns(slices.Repeat([]Point{{"a", v}}, 1000), "", nil))
		look(t, Histogram([]Point{{"a", v}, {"b", v}}, "", nil))
		look(t, Bars([]Row{{"a", v, v, ""}, {"b", 3, 0, ""}}, "", nil))
		look(t, NPS(v, math.MaxInt64, math.MaxInt64, math.MinInt64, "", nil, nil))
	}
}
