package chart

import "slices"

// Lines draws values over time as a line above an area, and those of an earlier period of
// the same length as a dashed line. Periods of more than 60 points are merged into fewer.
func Lines(now, before []Point, title string, formatNumber func(float64) string) string {
	const top, base = 9.0, 113.0
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
	peak := max(maxPointValue(sums), maxPointValue(earlier))
	tickValues := roundTicks(peak, areIntegers(sums) && areIntegers(earlier))
	gutter := 0.0
	for _, tick := range tickValues {
		gutter = max(gutter, measure(formatNumber(tick), smallSize))
	}
	gutter = min(gutter, 110) + 7
	plotWidth := width - gutter
	d := newDrawing(drawingOptions{
		class:  "chart-columns chart-lines",
		width:  width,
		height: base + 20,
		size:   fullWidth,
		title:  title,
		desc:   describePoints(withSpans(sums, spans), formatNumber) + "; " + describePoints(withSpans(earlier, earlierSpans), formatNumber),
		rtl:    isRTL(titleAndLabels(title, now)...),
	})
	y := func(v float64) float64 {
		if peak == 0 {
			return base
		}
		return base - (base-top)*(v/peak)
	}
	for _, tick := range tickValues {
		if tick > 0 {
			d.path("chart-grid", "M", 0.0, y(tick), "L", plotWidth, y(tick))
		}
		d.text(textLine{class: "chart-text", x: plotWidth + 7, y: y(tick), size: smallSize, anchor: start, dy: dyCenter, text: truncate(formatNumber(tick), smallSize, gutter)})
	}
	step := plotWidth / float64(max(len(sums)-1, 1))
	line := func(points []Point) []any {
		list := []any{"M"}
		for i, p := range points {
			list = append(list, step*float64(i), y(p.Value)) // further pairs after "M" are line segments
		}
		return list
	}
	if len(sums) > 0 {
		d.path("chart-before", line(earlier)...)
		d.path("chart-area", slices.Concat(line(sums), []any{"L", plotWidth, base, 0.0, base, "Z"})...)
		d.path("chart-line", line(sums)...)
	}
	for i, sum := range sums {
		tip := spans[i].String() + ": " + formatNumber(sum.Value) + " · " + earlierSpans[i].String() + ": " + formatNumber(earlier[i].Value)
		d.group("chart-mark", tip, func() {
			d.rect("chart-hit", box{x: max(0, step*(float64(i)-.5)), y: top, w: step, h: base - top})
		})
	}
	d.path("chart-axis", "M", 0.0, base, "L", plotWidth, base)
	for _, l := range axisLabels(spans, plotWidth/float64(max(len(sums), 1)), plotWidth) {
		d.text(textLine{class: "chart-text", x: l.x, y: base + 7, size: smallSize, anchor: l.anchor, dy: dyBelow, text: l.text})
	}
	return d.end()
}
