package chart

// timeBase is where 0 is in a chart over time.
const timeBase = 97.0

// plotTop is the distance between the upper edge and the highest value.
const plotTop = 9.0

// axis places values over time: their height, with labels beside them, and their time below.
type axis struct {
	peak, base float64 // the highest value, and where 0 is
	width      float64 // without the labels of values
	gutter     float64 // the width of these labels
	ticks      []float64
	format     func(float64) string
}

func newAxis(peak, base float64, integers bool, format func(float64) string) axis {
	a := axis{peak: peak, base: base, ticks: roundTicks(peak, integers), format: format}
	for _, tick := range a.ticks {
		a.gutter = max(a.gutter, measure(format(tick), smallSize))
	}
	a.gutter = min(a.gutter, 110) + 7
	a.width = width - a.gutter
	return a
}

// y is the height of a value.
func (a axis) y(v float64) float64 {
	if a.peak == 0 {
		return a.base
	}
	return a.base - (a.base-plotTop)*(v/a.peak)
}

// draw draws the grid and its values.
func (a axis) draw(d *drawing) {
	for _, tick := range a.ticks {
		if tick > 0 {
			d.path("chart-grid", "M", 0.0, a.y(tick), "L", a.width, a.y(tick))
		}
		d.text(textLine{class: "chart-text", x: a.width + 7, y: a.y(tick), size: smallSize, anchor: start, dy: dyCenter, text: truncate(a.format(tick), smallSize, a.gutter)})
	}
}

// drawLabels draws the line at 0 and the times below it.
func (a axis) drawLabels(d *drawing, spans []span, slotWidth float64) {
	d.path("chart-axis", "M", 0.0, a.base, "L", a.width, a.base)
	for _, l := range axisLabels(spans, slotWidth, a.width) {
		d.text(textLine{class: "chart-text", x: l.x, y: a.base + 7, size: smallSize, anchor: l.anchor, dy: dyBelow, text: l.text})
	}
}
