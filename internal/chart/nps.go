package chart

import "math"

// NPS is a net promoter score in large figures over a bar of who made it, from
// those who would not recommend to those who would.
func NPS(score float64, promoters, passives, detractors int64, title string, number func(float64) string, word func(string) string) string {
	const bar, thick, height = 58.0, 12.0, 108.0
	if number == nil {
		number = plain
	}
	if word == nil {
		word = same
	}
	parts := []struct {
		class, name string
		count       float64
		x           float64
		anchor      string
	}{
		{"chart-bad", word("Detractors"), clampFinite(float64(detractors)), 0, start},
		{"chart-middle", word("Passives"), clampFinite(float64(passives)), width / 2, middle},
		{"chart-good", word("Promoters"), clampFinite(float64(promoters)), width, end},
	}
	all := parts[0].count + parts[1].count + parts[2].count
	var points []Point
	for _, part := range parts {
		points = append(points, Point{part.name, part.count})
	}
	figure := scored(score, number)
	if all == 0 {
		figure = "–"
	}
	d := draw("chart-nps", width, height, wide, title, figure+"; "+joinList(points, number), isRTL(title, parts[0].name))
	d.text("chart-figure", 0, 41, figureSize, start, figure)
	d.rect("chart-track", 0, bar, width, thick, 2)
	const gap = 2.0
	x, shown := 0.0, 0.0
	for _, part := range parts {
		if part.count > 0 {
			shown++
		}
	}
	for _, part := range parts {
		share := 0.0
		if all > 0 {
			share = part.count / all
		}
		d.group("chart-mark", part.name+": "+number(part.count)+" ("+percent(share, number)+")", func() {
			if part.count > 0 {
				w := (width - gap*(shown-1)) * share
				d.rect(part.class, x, bar, max(w, 1), thick, 2)
				x += w + gap
			}
			if all > 0 {
				d.line("chart-strong", part.x, bar+thick+7, textSize, part.anchor, under, percent(share, number))
			}
			d.text("chart-text", part.x, bar+thick+34, smallSize, part.anchor, cut(part.name, smallSize, width/3))
		})
	}
	return d.end()
}

// scored writes a score with its sign, which number may not know how to.
func scored(score float64, number func(float64) string) string {
	if math.IsNaN(score) {
		score = 0
	}
	score = max(-100, min(100, score))
	switch {
	case score > 0:
		return "+" + number(score)
	case score < 0:
		return "−" + number(-score)
	}
	return number(0)
}

func same(text string) string { return text }
