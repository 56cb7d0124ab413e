package chart

// Row is one bar: an answer and how often it was given.
type Row struct {
	Label string
	Value float64
	Share float64 // of all responses, between 0 and 1; 0 if there is no total
	Note  string  // shown below the bar
}

const maxRows = 50

// Bars draws horizontal bars below each other, each with its label above it. The length of
// a bar is its share. If no row has a share, it is relative to the largest value.
func Bars(rows []Row, title string, formatNumber func(float64) string) string {
	const labelHeight, barHeight, moreHeight, noteHeight, gap = 17.0, 7.0, 12.0, 17.0, 13.0
	if formatNumber == nil {
		formatNumber = formatPlain
	}
	omitted := max(0, len(rows)-maxRows)
	visible := make([]Row, 0, maxRows)
	var points []Point
	var valueWidth, shareWidth, largest float64
	hasShares := false
	height := 0.0
	for _, row := range rows[:len(rows)-omitted] {
		row.Value, row.Share = clampFinite(row.Value), min(clampFinite(row.Share), 1)
		visible = append(visible, row)
		points = append(points, Point{row.Label, row.Value})
		hasShares = hasShares || row.Share > 0
		largest = max(largest, row.Value)
		valueWidth = max(valueWidth, measure(formatNumber(row.Value), textSize))
		shareWidth = max(shareWidth, measure(formatPercent(row.Share, formatNumber), textSize))
		height += labelHeight + barHeight + gap
		if row.Note != "" {
			height += noteHeight
		}
	}
	valueWidth, shareWidth = min(valueWidth, 110), min(shareWidth, 60)
	if !hasShares {
		shareWidth = -10
	}
	if omitted > 0 {
		height += moreHeight + gap
	}
	d := newDrawing(drawingOptions{
		class:  "chart-bars",
		width:  width,
		height: max(height-gap, 1) + 1,
		size:   fullWidth,
		title:  title,
		desc:   describePoints(points, formatNumber),
		rtl:    isRTL(titleAndLabels(title, points)...),
	})
	y := 0.0
	for _, row := range visible {
		value, share := formatNumber(row.Value), formatPercent(row.Share, formatNumber)
		fraction := row.Share
		tip := row.Label + ": " + value
		switch {
		case hasShares:
			tip += " (" + share + ")"
		case largest > 0:
			fraction = row.Value / largest
		}
		if row.Note != "" {
			tip += " – " + row.Note
		}
		d.group("chart-mark", tip, func() {
			d.text(textLine{class: "chart-strong", x: 0, y: y + labelHeight - 6, size: textSize, anchor: start, text: truncate(row.Label, textSize, width-valueWidth-shareWidth-22)})
			d.text(textLine{class: "chart-strong", x: width - shareWidth - 10, y: y + labelHeight - 6, size: textSize, anchor: end, text: truncate(value, textSize, valueWidth)})
			if hasShares {
				d.text(textLine{class: "chart-text", x: width, y: y + labelHeight - 6, size: textSize, anchor: end, text: truncate(share, textSize, shareWidth)})
			}
			d.rect("chart-track", box{x: 0, y: y + labelHeight, w: width, h: barHeight, radius: barHeight / 2})
			if fraction > 0 {
				d.rect("chart-bar", box{x: 0, y: y + labelHeight, w: max(width*fraction, barHeight), h: barHeight, radius: barHeight / 2})
			}
			y += labelHeight + barHeight
			if row.Note != "" {
				d.text(textLine{class: "chart-text", x: 0, y: y + 5, size: smallSize, anchor: start, dy: dyBelow, text: truncate(row.Note, smallSize, width)})
				y += noteHeight
			}
		})
		y += gap
	}
	if omitted > 0 {
		d.text(textLine{class: "chart-text", x: 0, y: y + 11, size: smallSize, anchor: start, text: "and " + formatNumber(float64(omitted)) + " more"})
	}
	return d.end()
}
