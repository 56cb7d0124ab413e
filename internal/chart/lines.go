package chart

import "slices"

// Lines draws values over time as a line above an area, and those of an earlier period of
// the same length as a dashed line. Periods of more than 60 points are merged into fewer.
func Lines(now, before []Point, title string, formatNumber func(float64) string) string {
	const base = timeBase
	if formatNumber == nil {
		formatNumber = formatPlain
	}
	// The same number of points, so that points one above the other belong together.
	for len(before) < len(now) {
		before = append(before, Point{})
	}
	sums, spans := mergeColumns(clampPoints(now), maxColumns)
	earlier, earlierSpans := mergeColumns(clampPoints(before[:len(now)]), maxColumns)
	if len(sums) == 1 {
		sums, spans = append(sums, sums[0]), append(spans, spans[0])
		earlier, earlierSpans = append(earlier, earlier[0]), append(earlierSpans, earlierSpans[0])
	}
	axis := newAxis(max(maxPointValue(sums), maxPointValue(earlier)), base, areIntegers(sums) && areIntegers(earlier), formatNumber)
	d := newDrawing(drawingOptions{
		class:  "chart-columns chart-lines",
		width:  width,
		height: base + 20,
		size:   fullWidth,
		title:  title,
		desc:   describePoints(withSpans(sums, spans), formatNumber) + "; " + describePoints(withSpans(earlier, earlierSpans), formatNumber),
		rtl:    isRTL(titleAndLabels(title, now)...),
	})
	axis.draw(d)
	step := axis.width / float64(max(len(sums)-1, 1))
	line := func(points []Point) []any {
		list := []any{"M"}
		for i, p := range points {
			list = append(list, step*float64(i), axis.y(p.Value)) // further pairs after "M" are line segments
		}
		return list
	}
	if len(sums) > 0 {
		d.path("chart-before", line(earlier)...)
		d.path("chart-area", slices.Concat(line(sums), []any{"L", axis.width, base, 0.0, base, "Z"})...)
		d.path("chart-line", line(sums)...)
	}
	for i, sum := range sums {
		tip := spans[i].String() + ": " + formatNumber(sum.Value) + " · " + earlierSpans[i].String() + ": " + formatNumber(earlier[i].Value)
		d.group("chart-mark", tip, func() {
			d.rect("chart-hit", box{x: max(0, step*(float64(i)-.5)), y: plotTop, w: step, h: base - plotTop})
		})
	}
	axis.drawLabels(d, spans, axis.width/float64(max(len(sums), 1)))
	return d.end()
}
