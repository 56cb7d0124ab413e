package chart

import (
	"cmp"
	"slices"
)

// lane is the way of all jumps to one station, at the side of the boxes.
type lane struct {
	from, to int // stations: the first that it leaves, and where it arrives
	track    int // 0 is next to the boxes
}

// Measures of a box.
const (
	inset    = 12.0
	between  = 26.0 // from box to box
	titleGap = 17.0
	smallGap = 15.0
	margin   = 1.0 // for the stroke
)

// layOut finds a place for everything: lanes first, for they decide how wide the
// boxes are, and with that how many lines there are.
func (f *flow) layOut() {
	f.lanes = lanesOf(f.stations)
	tracks := 0
	for _, l := range f.lanes {
		tracks = max(tracks, l.track+1)
	}
	f.x = margin
	if len(f.following(f.pages-1)) > 1 {
		f.x = 16
	}
	f.w = width - margin - f.x
	if tracks > 0 {
		f.w -= f.pitch(tracks)*float64(tracks) + 10
	}
	y := margin
	for _, s := range f.stations {
		s.y = y
		f.layOutNode(s)
		y += s.h + between
	}
	f.height = y - between + margin
}

func (f *flow) pitch(tracks int) float64 { return min(9, 72/float64(tracks)) }

// side is where a track runs.
func (f *flow) side(track int) float64 {
	tracks := 0
	for _, l := range f.lanes {
		tracks = max(tracks, l.track+1)
	}
	return f.x + f.w + 10 + f.pitch(tracks)*(float64(track)+.5)
}

func (f *flow) layOutNode(s *node) {
	room := f.w - 2*inset
	s.lines.title = wrap(s.title, textSize*1.15, room, 2) // it is set in bold
	s.lines.note = wrap(s.note, smallSize, room, 1)
	s.lines.when = wrap(s.when, smallSize, room, 3)
	y := s.y + 4 + titleGap*float64(len(s.lines.title)) + smallGap*float64(len(s.lines.note)+len(s.lines.when))
	s.entry = s.y + (y-s.y+8)/2
	for i := range s.exits {
		e := &s.exits[i]
		e.lines = wrap(e.text, smallSize, room, 2)
		y += 8
		e.y = y + smallGap*float64(len(e.lines))/2 + 3.5
		y += smallGap * float64(len(e.lines))
	}
	if s.hidden > 0 {
		y += 8 + smallGap
	}
	s.h = y + 9 - s.y
}

// lanesOf finds a track for the jumps to each station, such that no two run over
// each other. The shortest are next to the boxes.
func lanesOf(stations []*node) []lane {
	var lanes []lane
	for i, s := range stations {
		for _, e := range s.exits {
			if !slices.ContainsFunc(lanes, func(l lane) bool { return l.to == e.to }) {
				lanes = append(lanes, lane{from: i, to: e.to})
			}
		}
	}
	slices.SortStableFunc(lanes, func(a, b lane) int {
		return cmp.Or(cmp.Compare(a.to-a.from, b.to-b.from), cmp.Compare(a.to, b.to))
	})
	for i := range lanes {
		l := &lanes[i]
		// Jumps arrive above where others leave, so a track that ends at a station
		// is free again for the one that begins there.
		for slices.ContainsFunc(lanes[:i], func(o lane) bool { return o.track == l.track && o.from < l.to && l.from < o.to }) {
			l.track++
		}
	}
	return lanes
}

func (f *flow) draw() string {
	d := draw("chart-flow", width, f.height, wide, f.word("Form flow"), f.describe(), isRTL(f.texts()...))
	for i, s := range f.stations {
		f.drawContinue(d, i)
		for _, e := range s.exits {
			f.drawJump(d, e)
		}
	}
	for _, s := range f.stations {
		f.drawNode(d, s)
	}
	return d.end()
}

// drawContinue draws the arrow to what follows; to further endings it runs along the
// other side.
func (f *flow) drawContinue(d *drawing, i int) {
	s, center := f.stations[i], f.x+f.w/2
	for n, to := range f.following(i) {
		t := f.stations[to]
		if n == 0 {
			d.path("chart-edge", "M", center, s.y+s.h, "L", center, t.y-5)
			d.path("chart-head", "M", center-4.5, t.y-7, "L", center+4.5, t.y-7, center, t.y, "Z")
			continue
		}
		const bus, r = 5.0, 6.0
		y, ty := s.y+s.h-14, t.y+t.h/2
		d.path("chart-edge", "M", f.x, y, "L", bus+r, y, "Q", bus, y, bus, y+r, "L", bus, ty-r, "Q", bus, ty, bus+r, ty, "L", f.x-5, ty)
		d.path("chart-head", "M", f.x-7, ty-4.5, "L", f.x-7, ty+4.5, f.x, ty, "Z")
	}
}

func (f *flow) drawJump(d *drawing, e edge) {
	const r = 7.0
	i := slices.IndexFunc(f.lanes, func(l lane) bool { return l.to == e.to })
	edge, x, ty := f.x+f.w, f.side(f.lanes[i].track), f.stations[e.to].entry
	d.path("chart-jump", "M", edge, e.y, "L", x-r, e.y, "Q", x, e.y, x, e.y+r, "L", x, ty-r, "Q", x, ty, x-r, ty, "L", edge+5, ty)
	d.path("chart-dot", "M", edge+7, ty-4.5, "L", edge+7, ty+4.5, edge, ty, "Z")
}

func (f *flow) drawNode(d *drawing, s *node) {
	class, radius := "chart-node", 6.0
	if s.ending {
		class, radius = "chart-end", min(s.h/2, 22)
	}
	if s.when != "" {
		class += " chart-maybe"
	}
	tip := s.title
	if s.note != "" {
		tip += " – " + s.note
	}
	if s.when != "" {
		tip += " – " + s.when
	}
	d.group("chart-station", tip, func() {
		d.rect(class, f.x, s.y, f.w, s.h, radius)
		y := s.y + 4
		x, anchor := f.x+inset, start
		if s.ending {
			x, anchor = f.x+f.w/2, middle
		}
		for _, line := range s.lines.title {
			y += titleGap
			d.text("chart-strong", x, y-1, textSize, anchor, line)
		}
		for _, line := range slices.Concat(s.lines.note, s.lines.when) {
			y += smallGap
			d.text("chart-text", x, y, smallSize, anchor, line)
		}
		for _, e := range s.exits {
			y += 8
			d.path("chart-grid", "M", f.x+inset, y+1, "L", f.x+f.w-inset, y+1)
			d.group("chart-exit", e.text+" → "+f.stations[e.to].title, func() {
				for _, line := range e.lines {
					y += smallGap
					d.text("chart-text", f.x+inset, y, smallSize, start, line)
				}
			})
			d.circle("chart-dot", f.x+f.w, e.y, 3)
		}
		if s.hidden > 0 {
			d.text("chart-text", f.x+inset, y+8+smallGap-2, smallSize, start, f.count("and %d more", s.hidden))
		}
	})
}
