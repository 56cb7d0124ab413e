package chart

import "math"

// Score is a Net Promoter Score with the number of answers in each group.
type Score struct {
	Value                           float64 // from -100 to 100
	Promoters, Passives, Detractors int64
}

// NPS draws a Net Promoter Score above a bar of detractors, passives and promoters.
func NPS(s Score, title string, formatNumber func(float64) string, translate func(string) string) string {
	const barTop, barHeight, height = 58.0, 12.0, 108.0
	if formatNumber == nil {
		formatNumber = formatPlain
	}
	if translate == nil {
		translate = identity
	}
	parts := []struct {
		class, name string
		count       float64
		x           float64
		anchor      string
	}{
		{"chart-bad", translate("Detractors"), clampFinite(float64(s.Detractors)), 0, start},
		{"chart-middle", translate("Passives"), clampFinite(float64(s.Passives)), width / 2, middle},
		{"chart-good", translate("Promoters"), clampFinite(float64(s.Promoters)), width, end},
	}
	total := parts[0].count + parts[1].count + parts[2].count
	var points []Point
	for _, part := range parts {
		points = append(points, Point{part.name, part.count})
	}
	scoreText := formatScore(s.Value, formatNumber)
	if total == 0 {
		scoreText = "–"
	}
	d := newDrawing(drawingOptions{
		class:  "chart-nps",
		width:  width,
		height: height,
		size:   fullWidth,
		title:  title,
		desc:   scoreText + "; " + describePoints(points, formatNumber),
		rtl:    isRTL(title, parts[0].name),
	})
	d.text(textLine{class: "chart-figure", x: 0, y: 41, size: figureSize, anchor: start, text: scoreText})
	d.rect("chart-track", box{x: 0, y: barTop, w: width, h: barHeight, radius: 2})
	const gap = 2.0
	x, visibleParts := 0.0, 0.0
	for _, part := range parts {
		if part.count > 0 {
			visibleParts++
		}
	}
	for _, part := range parts {
		share := 0.0
		if total > 0 {
			share = part.count / total
		}
		d.group("chart-mark", part.name+": "+formatNumber(part.count)+" ("+formatPercent(share, formatNumber)+")", func() {
			if part.count > 0 {
				w := (width - gap*(visibleParts-1)) * share
				d.rect(part.class, box{x: x, y: barTop, w: max(w, 1), h: barHeight, radius: 2})
				x += w + gap
			}
			if total > 0 {
				d.text(textLine{class: "chart-strong", x: part.x, y: barTop + barHeight + 7, size: textSize, anchor: part.anchor, dy: dyBelow, text: formatPercent(share, formatNumber)})
			}
			d.text(textLine{class: "chart-text", x: part.x, y: barTop + barHeight + 34, size: smallSize, anchor: part.anchor, text: truncate(part.name, smallSize, width/3)})
		})
	}
	return d.end()
}

// formatScore formats a score with a plus or minus sign. formatNumber gets only positive
// numbers.
func formatScore(score float64, formatNumber func(float64) string) string {
	if math.IsNaN(score) {
		score = 0
	}
	score = max(-100, min(100, score))
	switch {
	case score > 0:
		return "+" + formatNumber(score)
	case score < 0:
		return "−" + formatNumber(-score)
	}
	return formatNumber(0)
}

// identity is the translation for callers that pass none.
func identity(text string) string { return text }
