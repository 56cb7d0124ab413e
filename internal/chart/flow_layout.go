package chart

import (
	"cmp"
	"slices"
	"sort"
)

// lane is the line at the side of the boxes that all jumps to one node share.
type lane struct {
	from, to int // indexes of the first node that jumps and of the target
	track    int // column in which the line runs; 0 is next to the boxes
}

// Sizes of the boxes, in viewBox units.
const (
	inset           = 12.0 // left and right of the text
	boxGap          = 26.0
	titleLineHeight = 17.0
	smallLineHeight = 15.0
	margin          = 1.0 // for the stroke
)

// layOut computes all positions. Lanes come first, because they decide how wide the boxes
// are, and so how many lines a text takes.
func (f *flow) layOut() {
	f.lanes = assignLanes(f.nodes)
	tracks := 0
	for _, l := range f.lanes {
		tracks = max(tracks, l.track+1)
	}
	f.x = margin
	if len(f.successors(f.pages-1)) > 1 {
		f.x = 16
	}
	f.w = width - margin - f.x
	if tracks > 0 {
		f.w -= f.trackPitch(tracks)*float64(tracks) + 10
	}
	y := margin
	for _, n := range f.nodes {
		n.y = y
		f.layOutNode(n)
		y += n.h + boxGap
	}
	f.height = y - boxGap + margin
}

// trackPitch returns the distance between two of the given number of tracks.
func (f *flow) trackPitch(tracks int) float64 { return min(9, 72/float64(tracks)) }

// trackX returns the x coordinate of a track.
func (f *flow) trackX(track int) float64 {
	tracks := 0
	for _, l := range f.lanes {
		tracks = max(tracks, l.track+1)
	}
	return f.x + f.w + 10 + f.trackPitch(tracks)*(float64(track)+.5)
}

func (f *flow) layOutNode(n *node) {
	maxWidth := f.w - 2*inset
	n.lines.title = wrap(n.title, textSize*1.15, maxWidth, 2) // bold text is wider
	n.lines.note = wrap(n.note, smallSize, maxWidth, 1)
	n.lines.condition = wrap(n.condition, smallSize, maxWidth, 3)
	y := n.y + 4 + titleLineHeight*float64(len(n.lines.title)) + smallLineHeight*float64(len(n.lines.note)+len(n.lines.condition))
	n.entryY = n.y + (y-n.y+8)/2
	for i := range n.edges {
		e := &n.edges[i]
		e.lines = wrap(e.text, smallSize, maxWidth, 2)
		y += 8
		e.y = y + smallLineHeight*float64(len(e.lines))/2 + 3.5
		y += smallLineHeight * float64(len(e.lines))
	}
	if n.hiddenEdges > 0 {
		y += 8 + smallLineHeight
	}
	n.h = y + 9 - n.y
}

// assignLanes returns a lane for each node that is the target of jumps. Lanes on the same
// track do not overlap. The shortest lanes get the tracks next to the boxes.
func assignLanes(nodes []*node) []lane {
	var lanes []lane
	for i, n := range nodes {
		for _, e := range n.edges {
			if !slices.ContainsFunc(lanes, func(l lane) bool { return l.to == e.to }) {
				lanes = append(lanes, lane{from: i, to: e.to})
			}
		}
	}
	sort.SliceStable(lanes, func(i, j int) bool {
		a, b := lanes[i], lanes[j]
		return cmp.Or(cmp.Compare(a.to-a.from, b.to-b.from), cmp.Compare(a.to, b.to)) < 0
	})
	for i := range lanes {
		l := &lanes[i]
		// In a box, jumps arrive above the point where others leave. So a lane may start at
		// the node at which another lane on the same track ends.
		for slices.ContainsFunc(lanes[:i], func(o lane) bool { return o.track == l.track && o.from < l.to && l.from < o.to }) {
			l.track++
		}
	}
	return lanes
}

func (f *flow) draw() string {
	d := newDrawing(drawingOptions{
		class:  "chart-flow",
		width:  width,
		height: f.height,
		size:   fullWidth,
		title:  f.translate("Form flow"),
		desc:   f.describe(),
		rtl:    isRTL(f.directionTexts()...),
	})
	for i, n := range f.nodes {
		f.drawContinue(d, i)
		for _, e := range n.edges {
			f.drawJump(d, e)
		}
	}
	for _, n := range f.nodes {
		f.drawNode(d, n)
	}
	return d.end()
}

// drawContinue draws the arrow to the next node. Arrows to further endings run along the
// left side.
func (f *flow) drawContinue(d *drawing, i int) {
	from, center := f.nodes[i], f.x+f.w/2
	for n, to := range f.successors(i) {
		target := f.nodes[to]
		if n == 0 {
			d.path("chart-edge", "M", center, from.y+from.h, "L", center, target.y-5)
			d.path("chart-head", "M", center-4.5, target.y-7, "L", center+4.5, target.y-7, center, target.y, "Z")
			continue
		}
		const busX, r = 5.0, 6.0
		y, targetY := from.y+from.h-14, target.y+target.h/2
		d.path("chart-edge", "M", f.x, y, "L", busX+r, y, "Q", busX, y, busX, y+r, "L", busX, targetY-r, "Q", busX, targetY, busX+r, targetY, "L", f.x-5, targetY)
		d.path("chart-head", "M", f.x-7, targetY-4.5, "L", f.x-7, targetY+4.5, f.x, targetY, "Z")
	}
}

func (f *flow) drawJump(d *drawing, e edge) {
	const r = 7.0
	i := slices.IndexFunc(f.lanes, func(l lane) bool { return l.to == e.to })
	right, x, targetY := f.x+f.w, f.trackX(f.lanes[i].track), f.nodes[e.to].entryY
	d.path("chart-jump", "M", right, e.y, "L", x-r, e.y, "Q", x, e.y, x, e.y+r, "L", x, targetY-r, "Q", x, targetY, x-r, targetY, "L", right+5, targetY)
	d.path("chart-dot", "M", right+7, targetY-4.5, "L", right+7, targetY+4.5, right, targetY, "Z")
}

func (f *flow) drawNode(d *drawing, n *node) {
	class, radius := "chart-node", 6.0
	if n.ending {
		class, radius = "chart-end", min(n.h/2, 22)
	}
	if n.condition != "" {
		class += " chart-conditional"
	}
	tip := n.title
	if n.note != "" {
		tip += " – " + n.note
	}
	if n.condition != "" {
		tip += " – " + n.condition
	}
	d.group("chart-group", tip, func() {
		d.rect(class, box{x: f.x, y: n.y, w: f.w, h: n.h, radius: radius})
		y := n.y + 4
		x, anchor := f.x+inset, start
		if n.ending {
			x, anchor = f.x+f.w/2, middle
		}
		for _, line := range n.lines.title {
			y += titleLineHeight
			d.text(textLine{class: "chart-strong", x: x, y: y - 1, size: textSize, anchor: anchor, text: line})
		}
		for _, line := range slices.Concat(n.lines.note, n.lines.condition) {
			y += smallLineHeight
			d.text(textLine{class: "chart-text", x: x, y: y, size: smallSize, anchor: anchor, text: line})
		}
		for _, e := range n.edges {
			y += 8
			d.path("chart-grid", "M", f.x+inset, y+1, "L", f.x+f.w-inset, y+1)
			d.group("chart-exit", e.text+" → "+f.nodes[e.to].title, func() {
				for _, line := range e.lines {
					y += smallLineHeight
					d.text(textLine{class: "chart-text", x: f.x + inset, y: y, size: smallSize, anchor: start, text: line})
				}
			})
			d.circle("chart-dot", f.x+f.w, e.y, 3)
		}
		if n.hiddenEdges > 0 {
			d.text(textLine{class: "chart-text", x: f.x + inset, y: y + 8 + smallLineHeight - 2, size: smallSize, anchor: start, text: f.formatCount("and %d more", n.hiddenEdges)})
		}
	})
}
