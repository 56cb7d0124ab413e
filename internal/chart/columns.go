package chart

import "slices"

const maxColumns = 60

// span is what one column stands for: a point, or several neighbours together.
type span struct{ first, last string }

func (s span) String() string {
	if s.first == s.last || s.last == "" {
		return s.first
	}
	return s.first + " – " + s.last
}

// mergeColumns adds up neighbours until there are at most so many. All groups are of a
// size but the first, so that the newest days never look poor for being few.
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
		spans = append(spans, span{tidy(group[0].Label), tidy(group[len(group)-1].Label)})
	}
	return sums, spans
}

// Columns are values over time, from the first to the last. Of more than sixty,
// neighbours are added up and share a column.
func Columns(points []Point, title string, number func(float64) string) string {
	const top = 9.0
	if number == nil {
		number = plain
	}
	sums, spans := mergeColumns(clampPoints(points), maxColumns)
	peak := highest(sums)
	base := 113.0
	if peak == 0 {
		base = 33 // nothing needs no room
	}
	marks := ticks(peak, wholeNumbers(sums))
	gutter := 0.0
	for _, mark := range marks {
		gutter = max(gutter, measure(number(mark), smallSize))
	}
	gutter = min(gutter, 110) + 7
	room := width - gutter

	d := draw("chart-columns", width, base+20, wide, title, joinList(labeled(sums, spans), number), isRTL(labelsOf(title, points)...))
	y := func(v float64) float64 {
		if peak == 0 {
			return base
		}
		return base - (base-top)*(v/peak)
	}
	for _, mark := range marks {
		if mark > 0 {
			d.path("chart-grid", "M", 0.0, y(mark), "L", room, y(mark))
		}
		d.line("chart-text", room+7, y(mark), smallSize, start, amid, cut(number(mark), smallSize, gutter))
	}
	slot := room / float64(max(len(sums), 1))
	bar := min(slot*.78, 34)
	for i, sum := range sums {
		x := slot * float64(i)
		d.group("chart-mark", spans[i].String()+": "+number(sum.Value), func() {
			d.rect("chart-hit", x, top, slot, base-top, 0)
			d.column("chart-bar", x+(slot-bar)/2, base, bar, tall(base-y(sum.Value), sum.Value))
		})
	}
	d.path("chart-axis", "M", 0.0, base, "L", room, base)
	for _, l := range axisLabels(spans, slot, room) {
		d.line("chart-text", l.x, base+7, smallSize, l.anchor, under, l.text)
	}
	return d.end()
}

// tall is the height of a column; what is not nothing can be seen.
func tall(h, value float64) float64 {
	if value > 0 {
		return max(h, 1)
	}
	return 0
}

func labeled(sums []Point, spans []span) []Point {
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

// axisLabels are as many as stand beside each other, up to five: the first and the
// last, and some evenly between them.
func axisLabels(spans []span, slot, room float64) []axisLabel {
	const gap = 12
	if len(spans) == 1 {
		return []axisLabel{{slot / 2, middle, cut(spans[0].String(), smallSize, room)}}
	}
	for n := min(5, len(spans)); n >= 2; n-- {
		labels := make([]axisLabel, n)
		edge, fits := -float64(gap), true
		for i := range n {
			at := i * (len(spans) - 1) / (n - 1)
			l := axisLabel{slot * (float64(at) + .5), middle, spans[at].first}
			wide := measure(l.text, smallSize)
			left := l.x - wide/2
			if i == n-1 {
				l.text = spans[at].last
				wide = measure(l.text, smallSize)
				left = l.x - wide/2
			}
			switch {
			case left < 0:
				l.x, l.anchor, left = 0, start, 0
			case left+wide > room:
				l.x, l.anchor, left = room, end, room-wide
			}
			fits = fits && left >= edge+gap
			edge = left + wide
			labels[i] = l
		}
		if fits {
			return labels
		}
		if n == 2 {
			labels[0].x, labels[0].anchor, labels[1].x, labels[1].anchor = 0, start, room, end
			for i := range labels {
				labels[i].text = cut(labels[i].text, smallSize, (room-gap)/2)
			}
			return labels
		}
	}
	return nil
}

// Histogram is how often each value of a scale was chosen: the values below, how
// often above. There are no ticks, for every column says what it is.
func Histogram(points []Point, title string, number func(float64) string) string {
	const top, base, height = 22.0, 113.0, 134.0
	if number == nil {
		number = plain
	}
	sums, spans := mergeColumns(clampPoints(points), maxColumns)
	peak := highest(sums)
	d := draw("chart-histogram", width, height, wide, title, joinList(labeled(sums, spans), number), isRTL(labelsOf(title, points)...))
	slot := float64(width) / float64(max(len(sums), 1))
	slot = min(slot, 64)
	from := (width - slot*float64(len(sums))) / 2
	bar := min(slot*.72, 40)
	values, labels := true, 1
	for i, sum := range sums {
		values = values && measure(number(sum.Value), smallSize) <= slot
		// A label that is wider than its column takes the room of its neighbours.
		for labels < len(sums) && measure(spans[i].first, textSize) > slot*float64(labels)-3 && slot*float64(labels) < 40 {
			labels++
		}
	}
	for i, sum := range sums {
		x := from + slot*float64(i)
		h := 0.0
		if peak > 0 {
			h = tall((base-top)*(sum.Value/peak), sum.Value)
		}
		d.group("chart-mark", spans[i].String()+": "+number(sum.Value), func() {
			d.rect("chart-hit", x, 0, slot, height, 0)
			d.column("chart-bar", x+(slot-bar)/2, base, bar, h)
			if values && sum.Value > 0 {
				d.text("chart-text", x+slot/2, base-h-5, smallSize, middle, number(sum.Value))
			}
			if i%labels == 0 {
				d.line("chart-strong", x+slot/2, base+6, textSize, middle, under, cut(spans[i].first, textSize, slot*float64(labels)-3))
			}
		})
	}
	d.path("chart-axis", "M", from, base, "L", width-from, base)
	return d.end()
}
