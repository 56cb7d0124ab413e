package chart

import (
	"strconv"
	"strings"
	"testing"
)

// Lines draws both periods, also if one is shorter, empty or very long.
func TestLines(t *testing.T) {
	days := func(n int) (list []Point) {
		for i := range n {
			list = append(list, Point{"Day " + strconv.Itoa(i+1), float64(i % 7)})
		}
		return list
	}
	for _, test := range []struct{ now, before, marks int }{{28, 28, 28}, {28, 3, 28}, {1, 1, 2}, {3000, 3000, 60}, {5, 0, 5}, {0, 0, 0}, {2, 9, 2}} {
		svg := Lines(days(test.now), days(test.before), "Responses", nil)
		s := parseDrawing(t, svg)
		if s.classes["chart-mark"] != test.marks {
			t.Errorf("%d and %d days have %d marks, want %d", test.now, test.before, s.classes["chart-mark"], test.marks)
		}
		if want := min(test.now, 1); s.classes["chart-before"] != want || s.classes["chart-line"] != want {
			t.Errorf("%d days: %v", test.now, s.classes)
		}
		if strings.Contains(svg, "NaN") {
			t.Errorf("%d days: %s", test.now, svg)
		}
	}
	s := parseDrawing(t, Lines(days(3), days(3), "Responses", nil))
	if tip := s.titles[len(s.titles)-1]; tip != "Day 3: 2 · Day 3: 2" {
		t.Errorf("the last tooltip is %q", tip)
	}
}
