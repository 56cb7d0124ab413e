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

// parsedDrawing is the content of a drawing.
type parsedDrawing struct {
	classes map[string]int
	texts   []string // visible text, without isolation characters
	titles  []string // the title of the drawing, then the tooltips
	lines   []parsedLine
}

// parsedLine is a text element.
type parsedLine struct {
	class, anchor, text string
	x, y                float64
}

// parseDrawing parses a drawing. The test fails if the drawing contains an element or
// attribute that no drawing may have.
func parseDrawing(t testing.TB, svg string) parsedDrawing {
	t.Helper()
	s := parsedDrawing{classes: map[string]int{}}
	decoder := xml.NewDecoder(strings.NewReader(svg))
	var open []xml.StartElement
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
			open, text = append(open, v), ""
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
			e := open[len(open)-1]
			open = open[:len(open)-1]
			switch e.Name.Local {
			case "title":
				s.titles = append(s.titles, text)
			case "text":
				s.texts = append(s.texts, strings.Trim(text, "\u2066\u2068\u2069"))
				l := parsedLine{class: attribute(e, "class"), anchor: attribute(e, "text-anchor"), text: text}
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

// expectClasses compares how many elements have each class.
func (s parsedDrawing) expectClasses(t *testing.T, name string, want map[string]int) {
	t.Helper()
	for class, n := range want {
		if s.classes[class] != n {
			t.Errorf("%s: %d elements of class %s, want %d", name, s.classes[class], class, n)
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// checkAttribute fails the test unless numbers are finite and within the drawing, and if
// the attribute is a style, a link, an id or an event handler.
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
		v, err := strconv.ParseFloat(n, 64)
		if inRange := v >= -1 && v <= 1e6; err != nil || !inRange { // NaN and infinities are not in range
			t.Fatalf("%s=%q", a.Name.Local, a.Value)
		}
	}
}

// samplePoints returns n points with labels "day 1", "day 2", ….
func samplePoints(n int) []Point {
	list := make([]Point, n)
	for i := range list {
		list[i] = Point{fmt.Sprintf("day %d", i+1), float64(i * 7 % 11)}
	}
	return list
}

// hostileText contains markup, control characters and a direction override.
const hostileText = "</text><script>alert('1')</script>\x00\x07\ufffe\xff & \"so\" \u202eon"

// TestColumns shows that more than 60 points are merged, and that the first and last
// column keep their labels.
func TestColumns(t *testing.T) {
	for n, columns := range map[int]int{0: 0, 1: 1, 2: 2, 60: 60, 61: 31, 400: 58, 1000: 59} {
		points := samplePoints(n)
		s := parseDrawing(t, Columns(points, "Responses", formatPlain))
		if s.classes["chart-mark"] != columns || s.classes["chart-bar"] > columns {
			t.Errorf("%d points: %d columns, want %d", n, s.classes["chart-mark"], columns)
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
	if s := parseDrawing(t, Columns(samplePoints(61), "", formatPlain)); s.titles[2] != "day 2 – day 3: 10" {
		t.Errorf("tooltip of two merged days: %q", s.titles[2])
	}
}

// TestColumnLabelsDoNotOverlap shows that the labels of the axis fit beside each other for
// any number of points and any label length.
func TestColumnLabelsDoNotOverlap(t *testing.T) {
	for n := 1; n < 130; n++ {
		for _, label := range []string{"%d", "day %d", "Wednesday the %dth of September"} {
			points := samplePoints(n)
			for i := range points {
				points[i].Label = fmt.Sprintf(label, i)
			}
			rightEdge := -1.0
			for _, l := range parseDrawing(t, Columns(points, "", formatPlain)).lines {
				if l.y < 114 { // a tick
					continue
				}
				labelWidth := measure(l.text, smallSize)
				left := map[string]float64{start: l.x, middle: l.x - labelWidth/2, end: l.x - labelWidth}[l.anchor]
				if left < rightEdge || left < -1 || left+labelWidth > width {
					t.Fatalf("%d points: %q starts at %v, the label before ends at %v", n, l.text, left, rightEdge)
				}
				rightEdge = left + labelWidth
			}
		}
	}
}

// TestTicks shows that ticks are round, and three or four for integers above 1.
func TestTicks(t *testing.T) {
	for _, c := range []struct {
		highest float64
		whole   bool
		want    string
	}{
		{0, true, "[0]"}, {1, true, "[0 1]"}, {2, true, "[0 1 2]"}, {3, true, "[0 1 2 3]"}, {7, true, "[0 2 4 6]"}, {10, true, "[0 5 10]"},
		{23, true, "[0 10 20]"}, {100, true, "[0 50 100]"}, {4999, true, "[0 2000 4000]"}, {.3, false, "[0 0.1 0.2 0.3]"}, {1, false, "[0 0.5 1]"},
	} {
		if got := fmt.Sprint(roundTicks(c.highest, c.whole)); got != c.want {
			t.Errorf("up to %v: got %s, want %s", c.highest, got, c.want)
		}
	}
	for v := 2.0; v < 1e18; v = math.Ceil(v * 1.07) {
		if got := roundTicks(v, true); len(got) < 3 || len(got) > 4 || got[len(got)-1] > v*(1+1e-9) {
			t.Errorf("up to %v: %v", v, got)
		}
	}
}

// TestBars shows the texts and bars of rows, truncation, and the limit of 50 rows.
func TestBars(t *testing.T) {
	rows := []Row{{"Yes", 30, .6, ""}, {"No", 20, .4, "fewer than last year"}, {"Perhaps", 0, 0, ""}}
	s := parseDrawing(t, Bars(rows, "Well?", formatPlain))
	if s.classes["chart-bar"] != 2 || s.classes["chart-track"] != 3 {
		t.Errorf("bars: %v", s.classes)
	}
	if want := []string{"Yes", "30", "60%", "No", "20", "40%", "fewer than last year", "Perhaps", "0", "0%"}; !slices.Equal(s.texts, want) {
		t.Errorf("got texts %q, want %q", s.texts, want)
	}
	long := strings.Repeat("a very long answer ", 20)
	s = parseDrawing(t, Bars([]Row{{Label: long, Value: 1}}, "", formatPlain))
	if !strings.HasSuffix(s.texts[0], "…") || !strings.Contains(s.titles[1], strings.TrimSpace(long)) {
		t.Errorf("long label: %q, tooltip %q", s.texts[0], s.titles[1])
	}
	if slices.Contains(s.texts, "0%") {
		t.Error("a share is shown although no row has one")
	}
	s = parseDrawing(t, Bars(make([]Row, 62), "", formatPlain))
	if s.classes["chart-track"] != 50 || s.texts[len(s.texts)-1] != "and 12 more" {
		t.Errorf("62 rows: %d and %q", s.classes["chart-track"], s.texts[len(s.texts)-1])
	}
	if s := parseDrawing(t, Bars(nil, "Nothing", formatPlain)); s.titles[0] != "Nothing" || s.classes["chart-track"] != 0 {
		t.Errorf("no rows: %v", s)
	}
}

// TestPercent shows that small shares are not 0% and large ones not 100%.
func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{0: "0%", .001: "<1%", .3349: "33%", .996: "99%", 1: "100%", 7: "100%", -1: "0%"} {
		if got := formatPercent(share, formatPlain); got != want {
			t.Errorf("%v: got %s, want %s", share, got, want)
		}
	}
}

// TestHistogram shows a column, its label and its count for each value.
func TestHistogram(t *testing.T) {
	var points []Point
	for i := range 11 {
		points = append(points, Point{strconv.Itoa(i), float64(i * 100)})
	}
	s := parseDrawing(t, Histogram(points, "How likely?", formatPlain))
	if s.classes["chart-bar"] != 11 {
		t.Errorf("%d columns, want 11", s.classes["chart-bar"])
	}
	for _, p := range points {
		if !slices.Contains(s.texts, p.Label) {
			t.Errorf("no label %s in %q", p.Label, s.texts)
		}
	}
	if !slices.Contains(s.texts, "1000") {
		t.Errorf("no value in %q", s.texts)
	}
	parseDrawing(t, Histogram(nil, "", nil))
	parseDrawing(t, Histogram(samplePoints(500), "", nil))
}

// TestNPS shows the score, the three parts, and a dash without responses.
func TestNPS(t *testing.T) {
	s := parseDrawing(t, NPS(Score{25.4, 50, 25, 25}, "Score", formatPlain, nil))
	s.expectClasses(t, "parts", map[string]int{"chart-good": 1, "chart-middle": 1, "chart-bad": 1})
	if want := []string{"+25.4", "25%", "Detractors", "25%", "Passives", "50%", "Promoters"}; !slices.Equal(s.texts, want) {
		t.Errorf("got texts %q, want %q", s.texts, want)
	}
	if s := parseDrawing(t, NPS(Score{Value: -100, Detractors: 9}, "", formatPlain, nil)); s.texts[0] != "−100" || s.classes["chart-good"] != 0 {
		t.Errorf("lowest score: %v", s)
	}
	if s := parseDrawing(t, NPS(Score{Value: math.NaN(), Passives: -3}, "", nil, nil)); s.texts[0] != "–" || s.classes["chart-bad"] != 0 {
		t.Errorf("no responses: %v", s)
	}
}

// TestSparkline shows a line for values, and only the base line if all are 0.
func TestSparkline(t *testing.T) {
	for _, values := range [][]int64{nil, {0}, {0, 0, 0}, {-4, 0}} {
		if s := parseDrawing(t, Sparkline(values, "")); s.classes["chart-axis"] != 1 || s.classes["chart-line"] != 0 {
			t.Errorf("%v: %v", values, s.classes)
		}
	}
	for _, values := range [][]int64{{1}, {0, 3, 1}, increasingValues(1000), {math.MaxInt64, math.MaxInt64, 1}} {
		if s := parseDrawing(t, Sparkline(values, "Last days")); s.classes["chart-line"] != 1 || s.classes["chart-dot"] != 1 || s.titles[0] != "Last days" {
			t.Errorf("%d values: %v", len(values), s)
		}
	}
}

func increasingValues(n int) []int64 {
	list := make([]int64, n)
	for i := range list {
		list[i] = int64(i)
	}
	return list
}

// TestEscaping shows that markup in any text is escaped, and control characters removed.
func TestEscaping(t *testing.T) {
	for name, svg := range map[string]string{
		"columns":   Columns([]Point{{hostileText, 1}, {hostileText, 2}}, hostileText, func(float64) string { return hostileText }),
		"histogram": Histogram([]Point{{hostileText, 1}}, hostileText, func(float64) string { return hostileText }),
		"bars":      Bars([]Row{{hostileText, 1, .5, hostileText}}, hostileText, func(float64) string { return hostileText }),
		"nps":       NPS(Score{1, 1, 1, 1}, hostileText, func(float64) string { return hostileText }, func(string) string { return hostileText }),
		"spark":     Sparkline([]int64{1}, hostileText),
	} {
		s := parseDrawing(t, svg)
		if strings.Contains(svg, "<script") || strings.ContainsAny(svg, "\x00\x07\u202e") {
			t.Errorf("%s contains markup or control characters: %s", name, svg)
		}
		if !strings.HasPrefix(s.titles[0], "</text><script>alert('1')</script>") {
			t.Errorf("%s: the title is %q", name, s.titles[0])
		}
	}
}

// TestExtremeValues shows that NaN, infinite, negative and huge values give valid drawings.
func TestExtremeValues(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -5, math.MaxFloat64, math.SmallestNonzeroFloat64, 1e-9, 1e15} {
		parseDrawing(t, Columns([]Point{{"a", v}, {"b", 1}, {"c", v}}, "", nil))
		parseDrawing(t, Columns(slices.Repeat([]Point{{"a", v}}, 1000), "", nil))
		parseDrawing(t, Histogram([]Point{{"a", v}, {"b", v}}, "", nil))
		parseDrawing(t, Bars([]Row{{"a", v, v, ""}, {"b", 3, 0, ""}}, "", nil))
		parseDrawing(t, NPS(Score{v, math.MaxInt64, math.MaxInt64, math.MinInt64}, "", nil, nil))
	}
}
