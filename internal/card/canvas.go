package card

import (
	"image"
	"image/color"
	"image/draw"
	"math"

	"golang.org/x/image/vector"

	"formulary/internal/theme"
)

type point struct{ x, y float32 }

// canvas draws shapes into a picture.
type canvas struct {
	image  *image.RGBA
	shapes shapes
	raster vector.Rasterizer
}

func newCanvas() *canvas { return &canvas{image: image.NewRGBA(image.Rect(0, 0, Width, Height))} }

func (c *canvas) fill(color theme.Color) {
	draw.Draw(c.image, c.image.Rect, image.NewUniform(opaque(color)), image.Point{}, draw.Src)
}

func opaque(c theme.Color) color.NRGBA { return color.NRGBA{c[0], c[1], c[2], 255} }

// paint fills what was added to the shapes. opacity is from 0 to 1.
func (c *canvas) paint(with theme.Color, opacity float32) {
	source := opaque(with)
	source.A = uint8(opacity*255 + .5)
	// Only the part of the picture that the shapes cover: a whole picture takes milliseconds.
	box := c.shapes.bounds().Intersect(c.image.Rect)
	if !box.Empty() {
		c.raster.Reset(box.Dx(), box.Dy())
		c.shapes.addTo(&c.raster, box.Min)
		c.raster.Draw(c.image, box, image.NewUniform(source), image.Point{})
	}
	c.shapes.steps = c.shapes.steps[:0]
}

// rect adds a rectangle with round corners.
func (c *canvas) rect(x, y, width, height, radius float32) {
	const k = .5523 // of a circle by Bézier curves
	s, o := &c.shapes, radius*(1-k)
	r, b := x+width, y+height
	s.MoveTo(x+radius, y)
	s.LineTo(r-radius, y)
	s.CubeTo(point{r - o, y}, point{r, y + o}, point{r, y + radius})
	s.LineTo(r, b-radius)
	s.CubeTo(point{r, b - o}, point{r - o, b}, point{r - radius, b})
	s.LineTo(x+radius, b)
	s.CubeTo(point{x + o, b}, point{x, b - o}, point{x, b - radius})
	s.LineTo(x, y+radius)
	s.CubeTo(point{x, y + o}, point{x + o, y}, point{x + radius, y})
	s.ClosePath()
}

func (c *canvas) circle(x, y, radius float32) { c.rect(x-radius, y-radius, 2*radius, 2*radius, radius) }

// line adds a straight stroke with round ends.
func (c *canvas) line(from, to point, width float32) {
	dx, dy := to.x-from.x, to.y-from.y
	length := float32(math.Hypot(float64(dx), float64(dy)))
	if length > 0 {
		ox, oy := -dy/length*width/2, dx/length*width/2
		c.shapes.MoveTo(from.x+ox, from.y+oy)
		c.shapes.LineTo(from.x-ox, from.y-oy)
		c.shapes.LineTo(to.x-ox, to.y-oy)
		c.shapes.LineTo(to.x+ox, to.y+oy)
		c.shapes.ClosePath()
	}
	c.circle(from.x, from.y, width/2)
	c.circle(to.x, to.y, width/2)
}

// text draws one line that starts at a point of its baseline.
func (c *canvas) text(f *font, text string, at point, size float32, color theme.Color) {
	scale := size / f.unitsPerEm
	for _, r := range text {
		glyph := f.glyph(r)
		for _, contour := range f.outline(glyph) {
			c.contour(contour, at, scale)
		}
		at.x += f.advance(glyph) * scale
	}
	c.paint(color, 1)
}

// contour adds one line around a part of a glyph. Two points off the curve have one on the
// curve in their middle.
func (c *canvas) contour(points []glyphPoint, at point, scale float32) {
	if len(points) < 2 {
		return
	}
	middle := func(a, b glyphPoint) glyphPoint { return glyphPoint{(a.x + b.x) / 2, (a.y + b.y) / 2, true} }
	place := func(p glyphPoint) (float32, float32) { return at.x + p.x*scale, at.y - p.y*scale }
	start := points[0]
	if !start.on {
		if start = points[len(points)-1]; !start.on {
			start = middle(points[0], start)
		}
	}
	c.shapes.MoveTo(place(start))
	for i, p := range points {
		if p.on {
			c.shapes.LineTo(place(p))
			continue
		}
		next := points[(i+1)%len(points)]
		if i == len(points)-1 {
			next = start
		} else if !next.on {
			next = middle(p, next)
		}
		x, y := place(p)
		toX, toY := place(next)
		c.shapes.QuadTo(x, y, toX, toY)
	}
	c.shapes.ClosePath()
}
