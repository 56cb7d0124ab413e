package chart

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Point is a labeled value, such as the responses of a day or the count of a rating.
type Point struct {
	Label string
	Value float64
}

// maxValue bounds values so that their sums stay finite.
const maxValue = 1e300

// clampFinite limits a value to the range from 0 to maxValue. NaN becomes 0.
func clampFinite(v float64) float64 {
	if math.IsNaN(v) || v < 0 {
		return 0
	}
	return min(v, maxValue)
}

func clampPoints(points []Point) []Point {
	list := slices.Clone(points)
	for i := range list {
		list[i].Value = clampFinite(list[i].Value)
	}
	return list
}

// formatPlain is the number format for callers that pass none.
func formatPlain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// formatPercent formats a share between 0 and 1 as a percentage. A share below 1% is never
// shown as 0%, and a share below 100% never as 100%.
func formatPercent(share float64, formatNumber func(float64) string) string {
	p := 100 * min(clampFinite(share), 1)
	switch {
	case p > 0 && p < 1:
		return "<" + formatNumber(1) + "%"
	case p > 99 && p < 100:
		return formatNumber(99) + "%"
	}
	return formatNumber(math.Round(p)) + "%"
}

// roundTicks returns three or four round values from 0 up to highest. If whole is set, the
// values are integers, and small ranges have fewer.
func roundTicks(highest float64, whole bool) []float64 {
	if highest <= 0 {
		return []float64{0}
	}
	magnitude := math.Pow(10, math.Floor(math.Log10(highest)))
	step, smallestRest := 0.0, math.Inf(1)
	for _, factor := range []float64{.1, .5, .2, .4, 1, 5, 2, 4} {
		candidate := roundDecimal(factor * magnitude)
		n := math.Floor(highest/candidate + 1e-9)
		if rest := highest - n*candidate; n >= 2 && n <= 3 && rest < smallestRest-1e-9*highest && (!whole || candidate == math.Floor(candidate)) {
			step, smallestRest = candidate, rest
		}
	}
	if step == 0 { // only for highest = 1 with whole numbers
		step = highest
	}
	list := []float64{0}
	for n := 1.0; n <= 3 && n*step <= highest*(1+1e-9); n++ {
		list = append(list, roundDecimal(n*step))
	}
	return list
}

// roundDecimal rounds to 12 significant digits, which removes binary rounding errors such
// as 0.30000000000000004.
func roundDecimal(v float64) float64 {
	round, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64)
	if err != nil {
		return v
	}
	return round
}

func areIntegers(points []Point) bool {
	return !slices.ContainsFunc(points, func(p Point) bool { return p.Value != math.Floor(p.Value) })
}

func maxPointValue(points []Point) float64 {
	top := 0.0
	for _, p := range points {
		top = max(top, p.Value)
	}
	return top
}

// describePoints lists the first values as text, for screen readers.
func describePoints(points []Point, formatNumber func(float64) string) string {
	const maxPoints = 12
	var parts []string
	for i, p := range points {
		if i == maxPoints {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, cleanLine(p.Label)+": "+formatNumber(p.Value))
	}
	return strings.Join(parts, "; ")
}

// titleAndLabels returns the texts that decide the direction of a drawing, the title first.
func titleAndLabels(title string, points []Point) []string {
	texts := []string{title}
	for _, p := range points {
		texts = append(texts, p.Label)
	}
	return texts
}
