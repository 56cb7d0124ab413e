package card

// glyphPoint is a point of an outline. Between two points on the curve the line is
// straight; a point off the curve bends it.
type glyphPoint struct {
	x, y float32
	on   bool
}

// Flags of a component of a glyph, such as the accent of a letter.
const (
	wordArguments  = 1
	hasScale       = 8
	moreComponents = 32
	hasScales      = 64
	hasMatrix      = 128
)

// outline returns the contours of a glyph in units of the font.
func (f *font) outline(glyph int) [][]glyphPoint {
	data := f.data(glyph)
	if len(data) == 0 {
		return nil // a space
	}
	if contours := i16(data, 0); contours >= 0 {
		return simpleOutline(data, contours)
	}
	var all [][]glyphPoint
	for at := 10; ; {
		flags, part := u16(data, at), int(u16(data, at+2))
		var dx, dy float32
		if at += 4; flags&wordArguments != 0 {
			dx, dy = float32(i16(data, at)), float32(i16(data, at+2))
			at += 4
		} else {
			dx, dy = float32(int8(data[at])), float32(int8(data[at+1]))
			at += 2
		}
		for _, contour := range f.outline(part) {
			for i := range contour {
				contour[i].x += dx
				contour[i].y += dy
			}
			all = append(all, contour)
		}
		switch { // parts of the Go fonts are not scaled
		case flags&hasScale != 0:
			at += 2
		case flags&hasScales != 0:
			at += 4
		case flags&hasMatrix != 0:
			at += 8
		}
		if flags&moreComponents == 0 {
			return all
		}
	}
}

// data is the entry of a glyph in the table glyf.
func (f *font) data(glyph int) []byte {
	if f.isLong {
		return f.glyphs[u32(f.offsets, 4*glyph):u32(f.offsets, 4*glyph+4)]
	}
	return f.glyphs[2*int(u16(f.offsets, 2*glyph)) : 2*int(u16(f.offsets, 2*glyph+2))]
}

// Flags of a point.
const (
	onCurve = 1
	shortX  = 2
	shortY  = 4
	repeats = 8
	sameX   = 16 // or positive, if short
	sameY   = 32
)

func simpleOutline(data []byte, contours int) [][]glyphPoint {
	count := int(u16(data, 10+2*(contours-1))) + 1
	at := 10 + 2*contours
	at += 2 + int(u16(data, at)) // instructions
	flags := make([]byte, 0, count)
	for len(flags) < count {
		flag := data[at]
		at++
		flags = append(flags, flag)
		if flag&repeats != 0 {
			for range data[at] {
				flags = append(flags, flag)
			}
			at++
		}
	}
	points := make([]glyphPoint, count)
	read := func(short, same byte, set func(*glyphPoint, float32)) {
		value := 0
		for i, flag := range flags {
			switch {
			case flag&short != 0 && flag&same != 0:
				value += int(data[at])
				at++
			case flag&short != 0:
				value -= int(data[at])
				at++
			case flag&same == 0:
				value += i16(data, at)
				at += 2
			}
			set(&points[i], float32(value))
		}
	}
	read(shortX, sameX, func(p *glyphPoint, v float32) { p.x = v })
	read(shortY, sameY, func(p *glyphPoint, v float32) { p.y = v })
	for i, flag := range flags {
		points[i].on = flag&onCurve != 0
	}
	list, first := make([][]glyphPoint, contours), 0
	for i := range list {
		end := int(u16(data, 10+2*i)) + 1
		list[i] = points[first:end]
		first = end
	}
	return list
}
