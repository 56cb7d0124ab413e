package media

import (
	"encoding/binary"
	"image"
)

// orientation says how to turn a picture, in the numbers of Exif. 0 and 1: it is upright.
type orientation int

const (
	tagOrientation = 0x0112
	typeShort      = 3
)

// exifOrientation reads the orientation from the first directory of a TIFF header. It
// returns 0 if there is none.
func exifOrientation(tiff []byte) orientation {
	if len(tiff) < 8 {
		return 0
	}
	var order binary.ByteOrder = binary.LittleEndian
	if tiff[0] == 'M' {
		order = binary.BigEndian
	}
	start := int64(order.Uint32(tiff[4:]))
	if start+2 > int64(len(tiff)) {
		return 0
	}
	count := int(order.Uint16(tiff[start:]))
	for entries := tiff[start+2:]; count > 0 && len(entries) >= 12; entries = entries[12:] {
		count--
		if order.Uint16(entries) == tagOrientation && order.Uint16(entries[2:]) == typeShort {
			if o := orientation(order.Uint16(entries[8:])); o <= 8 {
				return o
			}
			return 0
		}
	}
	return 0
}

// isTurned reports whether width and height are exchanged.
func (o orientation) isTurned() bool { return o >= 5 }

// box returns the bounds of the picture before it is turned.
func (o orientation) box(b Bounds) image.Point {
	if o.isTurned() {
		return image.Pt(b.Height, b.Width)
	}
	return image.Pt(b.Width, b.Height)
}

// upright turns and mirrors a picture.
func upright(m *image.RGBA, o orientation) *image.RGBA {
	if o <= 1 {
		return m
	}
	w, h := m.Rect.Dx(), m.Rect.Dy()
	size := image.Pt(w, h)
	if o.isTurned() {
		size = image.Pt(h, w)
	}
	out := image.NewRGBA(image.Rectangle{Max: size})
	for y := range size.Y {
		for x := range size.X {
			from := o.origin(image.Pt(x, y), w, h)
			copy(out.Pix[y*out.Stride+4*x:][:4], m.Pix[from.Y*m.Stride+4*from.X:])
		}
	}
	return out
}

// origin returns where a pixel of the upright picture is in the stored one, which is w
// wide and h high.
func (o orientation) origin(p image.Point, w, h int) image.Point {
	right, bottom := w-1, h-1
	switch o {
	case 2:
		return image.Pt(right-p.X, p.Y)
	case 3:
		return image.Pt(right-p.X, bottom-p.Y)
	case 4:
		return image.Pt(p.X, bottom-p.Y)
	case 5:
		return image.Pt(p.Y, p.X)
	case 6:
		return image.Pt(p.Y, bottom-p.X)
	case 7:
		return image.Pt(right-p.Y, bottom-p.X)
	case 8:
		return image.Pt(right-p.Y, p.X)
	}
	return p
}
