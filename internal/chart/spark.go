package chart

import (
	"slices"
	"strconv"
	"strings"
)

// Sparkline is a small line of the last days, to stand beside a word. Days without
// anything are a line on the ground.
func Sparkline(values []int64, title string) string {
	const breadth, height, top, base, side = 120.0, 28.0, 4.0, 25.0, 3.0
	points := make([]Point, len(values))
	said := make([]string, len(values))
	for i, v := range values {
		points[i].Value = clampFinite(float64(v))
		said[i] = strconv.FormatInt(max(v, 0), 10)
	}
	d := draw("chart-spark", breadth, height, `width="120" height="28"`, title, strings.Join(said, " "), isRTL(title))
	peak := highest(points)
	if peak == 0 {
		d.path("chart-axis", "M", side, base, "L", breadth-side, base)
		return d.end()
	}
	points, _ = mergeColumns(points, int(breadth)/2)
	peak = highest(points)
	if len(points) == 1 {
		points = append(points, points[0])
	}
	at := func(i int) (x, y float64) {
		return side + (breadth-2*side)*float64(i)/float64(len(points)-1), base - (base-top)*points[i].Value/peak
	}
	line := []any{"M"}
	for i := range points {
		x, y := at(i)
		line = append(line, x, y) // pairs after the first are lines
	}
	d.path("chart-area", slices.Concat(line, []any{"L", breadth - side, base, side, base, "Z"})...)
	d.path("chart-line", line...)
	x, y := at(len(points) - 1)
	d.circle("chart-dot", x, y, 2.25)
	return d.end()
}
