package chart

import "slices"

const maxColumns = 60

// span holds the labels of the first and last point of a column.
type span struct{ first, last string }

func (s span) String() string {
	if s.first == s.last || s.last == "" {
		return s.first
	}
	return s.first + " – " + s.last
}

// mergeColumns adds up neighboring points until there are at most limit columns. All
// columns have the same number of points except the first, which can have fewer: a last
// column with fewer days would look like a drop.
func mergeColumns(points []Point, limit int) ([]Point, []span) {
	size := max(1, (len(points)+limit-1)/limit)
	var sums []Point
	var spans []span
	for len(points) > 0 {
		n := (len(points)-1)%size + 1
		group := points[:n]
		points = points[n:]
		sum := Point{Label: group[0].Label}
		for _, p := range group {
			sum.Value += p.Value
		}
		sums = append(sums, sum)
		spans = append(spans, span{cleanLine(group[0].Label), cleanLine(group[len(group)-1].Label)})
	}
	return sums, spans
}

// Columns draws values over time, from the first to the last. More than 60 points are
// merged into fewer columns.
func Columns(points []Point, title string, formatNumber func(float64) string) string {
	if formatNumber == nil {
		formatNumber = formatPlain
	}
	sums, spans := mergeColumns(clampPoints(points), maxColumns)
	peak := maxPointValue(sums)
	base := timeBase
	if peak == 0 {
		base = 33 // without columns, no height is needed
	}
	axis := newAxis(peak, base, areIntegers(sums), formatNumber)

	d := newDrawing(drawingOptions{
		class:  "chart-columns",
		width:  width,
		height: base + 20,
		size:   fullWidth,
		title:  title,
		desc:   describePoints(withSpans(sums, spans), formatNumber),
		rtl:    isRTL(titleAndLabels(title, points)...),
	})
	axis.draw(d)
	slotWidth := axis.width / float64(max(len(sums), 1))
	barWidth := min(slotWidth*.78, 34)
	for i, sum := range sums {
		x := slotWidth * float64(i)
		d.group("chart-mark", spans[i].String()+": "+formatNumber(sum.Value), func() {
			d.rect("chart-hit", box{x: x, y: plotTop, w: slotWidth, h: base - plotTop})
			if sum.Value > 0 {
				d.column("chart-bar", x+(slotWidth-barWidth)/2, base, barWidth, columnHeight(base-axis.y(sum.Value), sum.Value))
			}
		})
	}
	axis.drawLabels(d, spans, slotWidth)
	return d.end()
}

// columnHeight returns at least 1 for values above 0, so that small columns are visible.
func columnHeight(h, value float64) float64 {
	if value > 0 {
		return max(h, 1)
	}
	return 0
}

// withSpans returns the points with their spans as labels.
func withSpans(sums []Point, spans []span) []Point {
	list := slices.Clone(sums)
	for i := range list {
		list[i].Label = spans[i].String()
	}
	return list
}

type axisLabel struct {
	x      float64
	anchor string
	text   string
}

// axisLabels returns up to five labels that do not overlap: the first, the last, and some
// evenly spaced between them.
func axisLabels(spans []span, slotWidth, plotWidth float64) []axisLabel {
	const gap = 12
	if len(spans) == 1 {
		return []axisLabel{{slotWidth / 2, middle, truncate(spans[0].String(), smallSize, plotWidth)}}
	}
	for n := min(5, len(spans)); n >= 2; n-- {
		labels := make([]axisLabel, n)
		rightEdge, fits := -float64(gap), true
		for i := range n {
			index := i * (len(spans) - 1) / (n - 1)
			l := axisLabel{slotWidth * (float64(index) + .5), middle, spans[index].first}
			labelWidth := measure(l.text, smallSize)
			left := l.x - labelWidth/2
			if i == n-1 {
				l.text = spans[index].last
				labelWidth = measure(l.text, smallSize)
				left = l.x - labelWidth/2
			}
			switch {
			case left < 0:
				l.x, l.anchor, left = 0, start, 0
			case left+labelWidth > plotWidth:
				l.x, l.anchor, left = plotWidth, end, plotWidth-labelWidth
			}
			fits = fits && left >= rightEdge+gap
			rightEdge = left + labelWidth
			labels[i] = l
		}
		if fits {
			return labels
		}
		if n == 2 {
			labels[0].x, labels[0].anchor, labels[1].x, labels[1].anchor = 0, start, plotWidth, end
			for i := range labels {
				labels[i].text = truncate(labels[i].text, smallSize, (plotWidth-gap)/2)
			}
			return labels
		}
	}
	return nil
}

// Histogram draws how often each value of a scale was chosen. The values are below the
// columns and the counts above them, so there are no ticks.
func Histogram(points []Point, title string, formatNumber func(float64) string) string {
	const top, base, height = 22.0, 113.0, 134.0
	if formatNumber == nil {
		formatNumber = formatPlain
	}
	sums, spans := mergeColumns(clampPoints(points), maxColumns)
	peak := maxPointValue(sums)
	d := newDrawing(drawingOptions{
		class:  "chart-histogram",
		width:  width,
		height: height,
		size:   fullWidth,
		title:  title,
		desc:   describePoints(withSpans(sums, spans), formatNumber),
		rtl:    isRTL(titleAndLabels(title, points)...),
	})
	slotWidth := float64(width) / float64(max(len(sums), 1))
	slotWidth = min(slotWidth, 64)
	left := (width - slotWidth*float64(len(sums))) / 2
	barWidth := min(slotWidth*.72, 40)
	showValues, labelEvery := true, 1
	for i, sum := range sums {
		showValues = showValues && measure(formatNumber(sum.Value), smallSize) <= slotWidth
		// If labels are wider than their columns, only every second (third, …) is shown.
		for labelEvery < len(sums) && measure(spans[i].first, textSize) > slotWidth*float64(labelEvery)-3 && slotWidth*float64(labelEvery) < 40 {
			labelEvery++
		}
	}
	for i, sum := range sums {
		x := left + slotWidth*float64(i)
		h := 0.0
		if peak > 0 {
			h = columnHeight((base-top)*(sum.Value/peak), sum.Value)
		}
		d.group("chart-mark", spans[i].String()+": "+formatNumber(sum.Value), func() {
			d.rect("chart-hit", box{x: x, y: 0, w: slotWidth, h: height})
			d.column("chart-bar", x+(slotWidth-barWidth)/2, base, barWidth, h)
			if showValues && sum.Value > 0 {
				d.text(textLine{class: "chart-text", x: x + slotWidth/2, y: base - h - 5, size: smallSize, anchor: middle, text: formatNumber(sum.Value)})
			}
			if i%labelEvery == 0 {
				d.text(textLine{class: "chart-strong", x: x + slotWidth/2, y: base + 6, size: textSize, anchor: middle, dy: dyBelow, text: truncate(spans[i].first, textSize, slotWidth*float64(labelEvery)-3)})
			}
		})
	}
	d.path("chart-axis", "M", left, base, "L", width-left, base)
	return d.end()
}
