package chart

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Point is a value of something, such as a day or a rating.
type Point struct {
	Label string
	Value float64
}

// maxValue is more than anybody counts, and less than what sums of it could not hold.
const maxValue = 1e300

// clampFinite makes a value one that can be drawn: there are no negative counts.
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

// plain writes numbers for callers that have no way of their own.
func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// percent says a part of one; what is little is not nothing, and what is nearly
// all is not all.
func percent(share float64, number func(float64) string) string {
	p := 100 * min(clampFinite(share), 1)
	switch {
	case p > 0 && p < 1:
		return "<" + number(1) + "%"
	case p > 99 && p < 100:
		return number(99) + "%"
	}
	return number(math.Round(p)) + "%"
}

// ticks are three or four round values from 0 up to the highest; fewer where whole
// numbers have no more to offer.
func ticks(highest float64, whole bool) []float64 {
	if highest <= 0 {
		return []float64{0}
	}
	magnitude := math.Pow(10, math.Floor(math.Log10(highest)))
	step, least := 0.0, math.Inf(1)
	for _, factor := range []float64{.1, .5, .2, .4, 1, 5, 2, 4} {
		try := exact(factor * magnitude)
		n := math.Floor(highest/try + 1e-9)
		if rest := highest - n*try; n >= 2 && n <= 3 && rest < least-1e-9*highest && (!whole || try == math.Floor(try)) {
			step, least = try, rest
		}
	}
	if step == 0 { // the highest is a whole 1
		step = highest
	}
	list := []float64{0}
	for n := 1.0; n <= 3 && n*step <= highest*(1+1e-9); n++ {
		list = append(list, exact(n*step))
	}
	return list
}

// exact is a round number without what binary fractions leave behind.
func exact(v float64) float64 {
	round, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64)
	if err != nil {
		return v
	}
	return round
}

func wholeNumbers(points []Point) bool {
	return !slices.ContainsFunc(points, func(p Point) bool { return p.Value != math.Floor(p.Value) })
}

func highest(points []Point) float64 {
	top := 0.0
	for _, p := range points {
		top = max(top, p.Value)
	}
	return top
}

// joinList says the first values in words, for those who do not see the drawing.
func joinList(points []Point, number func(float64) string) string {
	const enough = 12
	var parts []string
	for i, p := range points {
		if i == enough {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, tidy(p.Label)+": "+number(p.Value))
	}
	return strings.Join(parts, "; ")
}

func labelsOf(title string, points []Point) []string {
	texts := []string{title}
	for _, p := range points {
		texts = append(texts, p.Label)
	}
	return texts
}
