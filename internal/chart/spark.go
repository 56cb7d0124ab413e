package chart

import (
	"slices"
	"strconv"
	"strings"
)

// Sparkline draws a small line chart of the latest days, to be placed in a line of text.
// If all values are 0, it draws the base line.
func Sparkline(values []int64, title string) string {
	const viewWidth, height, top, base, side = 120.0, 28.0, 4.0, 25.0, 3.0
	points := make([]Point, len(values))
	numbers := make([]string, len(values))
	for i, v := range values {
		points[i].Value = clampFinite(float64(v))
		numbers[i] = strconv.FormatInt(max(v, 0), 10)
	}
	d := newDrawing(drawingOptions{
		class:  "chart-sparkline",
		width:  viewWidth,
		height: height,
		size:   `width="120" height="28"`,
		title:  title,
		desc:   strings.Join(numbers, " "),
		rtl:    isRTL(title),
	})
	peak := maxPointValue(points)
	if peak == 0 {
		d.path("chart-axis", "M", side, base, "L", viewWidth-side, base)
		return d.end()
	}
	points, _ = mergeColumns(points, int(viewWidth)/2)
	peak = maxPointValue(points)
	if len(points) == 1 {
		points = append(points, points[0])
	}
	position := func(i int) (x, y float64) {
		return side + (viewWidth-2*side)*float64(i)/float64(len(points)-1), base - (base-top)*points[i].Value/peak
	}
	line := []any{"M"}
	for i := range points {
		x, y := position(i)
		line = append(line, x, y) // further pairs after "M" are line segments
	}
	d.path("chart-area", slices.Concat(line, []any{"L", viewWidth - side, base, side, base, "Z"})...)
	d.path("chart-line", line...)
	x, y := position(len(points) - 1)
	d.circle("chart-dot", x, y, 2.25)
	return d.end()
}
