package chart

// Row is an answer and how often it was given. Share is its part of one, 0 where
// there is nothing to be a part of.
type Row struct {
	Label string
	Value float64
	Share float64
	Note  string // a remark below
}

const maxRows = 50

// Bars are answers below each other, each with its label over a bar. A bar shows
// its share of the whole; where no row has one, it is compared with the longest.
func Bars(rows []Row, title string, number func(float64) string) string {
	const line, thick, below, remark, gap = 17.0, 7.0, 12.0, 17.0, 13.0
	if number == nil {
		number = plain
	}
	more := max(0, len(rows)-maxRows)
	shown := make([]Row, 0, maxRows)
	var points []Point
	var values, shares, whole float64 // the widest of them, and the most
	shared := false
	height := 0.0
	for _, row := range rows[:len(rows)-more] {
		row.Value, row.Share = clampFinite(row.Value), min(clampFinite(row.Share), 1)
		shown = append(shown, row)
		points = append(points, Point{row.Label, row.Value})
		shared = shared || row.Share > 0
		whole = max(whole, row.Value)
		values = max(values, measure(number(row.Value), textSize))
		shares = max(shares, measure(percent(row.Share, number), textSize))
		height += line + thick + gap
		if row.Note != "" {
			height += remark
		}
	}
	values, shares = min(values, 110), min(shares, 60)
	if !shared {
		shares = -10
	}
	if more > 0 {
		height += below + gap
	}
	d := draw("chart-bars", width, max(height-gap, 1)+1, wide, title, joinList(points, number), isRTL(labelsOf(title, points)...))
	y := 0.0
	for _, row := range shown {
		value, share := number(row.Value), percent(row.Share, number)
		part := row.Share
		tip := row.Label + ": " + value
		switch {
		case shared:
			tip += " (" + share + ")"
		case whole > 0:
			part = row.Value / whole
		}
		if row.Note != "" {
			tip += " – " + row.Note
		}
		d.group("chart-mark", tip, func() {
			d.text("chart-strong", 0, y+line-6, textSize, start, cut(row.Label, textSize, width-values-shares-22))
			d.text("chart-strong", width-shares-10, y+line-6, textSize, end, cut(value, textSize, values))
			if shared {
				d.text("chart-text", width, y+line-6, textSize, end, cut(share, textSize, shares))
			}
			d.rect("chart-track", 0, y+line, width, thick, thick/2)
			if part > 0 {
				d.rect("chart-bar", 0, y+line, max(width*part, thick), thick, thick/2)
			}
			y += line + thick
			if row.Note != "" {
				d.line("chart-text", 0, y+5, smallSize, start, under, cut(row.Note, smallSize, width))
				y += remark
			}
		})
		y += gap
	}
	if more > 0 {
		d.text("chart-text", 0, y+11, smallSize, start, "and "+number(float64(more))+" more")
	}
	return d.end()
}
