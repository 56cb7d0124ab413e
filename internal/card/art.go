package card

import (
	"math"

	"formulary/internal/theme"
)

const (
	margin   = 72
	artStart = 700 // where the drawing begins, beside the title
)

// painter draws one card.
type painter struct {
	*canvas
	colors theme.Colors
	start  float32 // of the drawing; 0: the card has no text
}

// drawArt draws what belongs to a mood, as its pages do.
func (p *painter) drawArt(mood theme.Mood) {
	if mood != theme.Bold && p.colors.Ground == p.colors.Fill { // the other drawings are in this color
		p.drawForm(look{stroke: 2, radius: 14, edge: p.colors.Sheet})
		return
	}
	switch mood {
	case theme.Paper:
		p.panel(p.tint())
		p.drawHills()
	case theme.Night:
		p.drawWaves()
	case theme.Playful:
		p.panel(p.colors.Fill)
		p.drawToys()
	case theme.Elegant:
		p.panel(p.tint())
		p.drawSprigs()
	case theme.Bold:
		p.drawForm(look{stroke: 6, shadow: 18, edge: p.colors.HeadInk})
	case theme.Clinical:
		p.rect(0, 0, Width, 16, 0)
		p.paint(p.colors.Fill, 1)
		p.drawForm(look{stroke: 2, radius: 6, edge: p.colors.Line})
	case theme.Typed:
		p.drawDots()
		p.drawForm(look{stroke: 2, edge: p.colors.Edge})
	default:
		p.rect(0, 0, Width, 16, 0)
		p.paint(p.colors.Fill, 1)
		p.drawForm(look{stroke: 2, radius: 14, edge: p.colors.Line})
	}
}

// middle is the center of the drawing.
func (p *painter) middle() float32 { return (p.start + Width) / 2 }

func (p *painter) panel(color theme.Color) {
	p.rect(p.start, 0, Width-p.start, Height, 0)
	p.paint(color, 1)
}

// tint is a light shade of the brand color.
func (p *painter) tint() theme.Color { return mix(p.colors.Fill, p.colors.Ground, .16) }

func mix(a, b theme.Color, part float64) theme.Color {
	for i := range a {
		a[i] = uint8(math.Round(float64(a[i])*part + float64(b[i])*(1-part)))
	}
	return a
}

// look is the shape of a small form.
type look struct {
	radius, stroke, shadow float32
	edge                   theme.Color
}

// box draws a rectangle with a border.
func (p *painter) box(at, size point, l look, inside theme.Color) {
	p.rect(at.x, at.y, size.x, size.y, l.radius)
	p.paint(l.edge, 1)
	p.rect(at.x+l.stroke, at.y+l.stroke, size.x-2*l.stroke, size.y-2*l.stroke, max(0, l.radius-l.stroke))
	p.paint(inside, 1)
}

// drawForm draws a form with a title, three options and a button.
func (p *painter) drawForm(l look) {
	c, size := p.colors, point{380, 430}
	at := point{p.middle() - size.x/2 - l.shadow/2, (Height - size.y) / 2}
	if l.shadow > 0 {
		p.rect(at.x+l.shadow, at.y+l.shadow, size.x, size.y, l.radius)
		p.paint(l.edge, 1)
	}
	p.box(at, size, l, c.Sheet)
	left, top := at.x+44, at.y+48
	p.rect(left, top, 190, 22, l.radius/2)
	p.paint(c.Ink, 1)
	option := l
	option.shadow, option.stroke, option.edge = 0, max(3, l.stroke), c.Edge
	for i := range 3 {
		inside, edge := c.Field, c.Edge
		if i == 1 {
			inside, edge = c.Wash, c.Chosen
		}
		y := top + 56 + float32(i)*76
		option.edge = edge
		p.box(point{left, y}, point{size.x - 88, 60}, option, inside)
		p.circle(left+34, y+30, 13)
		p.paint(edge, 1)
		if i != 1 {
			p.circle(left+34, y+30, 10)
			p.paint(inside, 1)
		}
	}
	p.rect(left, top+294, 150, 56, l.radius)
	p.paint(c.FillEdge, 1)
	p.rect(left+2, top+296, 146, 52, max(0, l.radius-2))
	p.paint(c.Fill, 1)
}

// drawHills draws the landscape of Paper.
func (p *painter) drawHills() {
	c, width := p.colors, Width-p.start
	p.circle(p.start+width*.62, 250, 104)
	p.paint(c.Fill, .9)
	for i, hill := range []struct{ left, bend, right, opacity float32 }{{430, 220, 380, .25}, {500, 330, 470, .4}, {570, 450, 540, .7}} {
		p.shapes.MoveTo(p.start, hill.left)
		p.shapes.CubeTo(point{p.start + width*.3, hill.bend}, point{p.start + width*.6, hill.left + float32(40*i)}, point{Width, hill.right})
		p.shapes.LineTo(Width, Height)
		p.shapes.LineTo(p.start, Height)
		p.shapes.ClosePath()
		p.paint(c.Fill, hill.opacity)
	}
}

// drawWaves draws the glow and the sound of Night.
func (p *painter) drawWaves() {
	c := p.colors
	for radius := float32(560); radius > 0; radius -= 28 {
		p.circle(p.middle(), 120, radius)
		p.paint(c.Fill, .03)
	}
	for x := float32(28); x < Width; x += 30 {
		swing := math.Abs(math.Sin(float64(x)*.021)*math.Cos(float64(x)*.057)) + .12
		near := math.Exp(-math.Pow(float64(x-p.middle())/430, 2))
		height := float32(14 + 190*swing*near)
		p.line(point{x, 190 - height/2}, point{x, 190 + height/2}, 7)
		p.paint(c.Accent, float32(.15+.8*near))
	}
}

// drawToys draws the shapes of Playful.
func (p *painter) drawToys() {
	c, x := p.colors, p.middle()
	p.circle(x-90, 590, 140)
	p.circle(x+40, 30, 130)
	p.paint(c.Sheet, .35)
	p.circle(x+150, 300, 92)
	p.paint(c.Sheet, .9)
	p.circle(x+150, 300, 40)
	p.paint(c.Fill, 1)
	wave := func(from point, length float32) {
		last := from
		for step := float32(6); step <= length; step += 6 {
			next := point{from.x + step, from.y + 20*float32(math.Sin(float64(step)/14))}
			p.line(last, next, 13)
			last = next
		}
	}
	wave(point{x - 190, 190}, 176)
	wave(point{x + 60, 540}, 132)
	for _, l := range [][4]float32{{-90, 330, -20, 330}, {-55, 295, -55, 365}, {-170, 400, -130, 470}, {-130, 470, -90, 400}, {-90, 400, -170, 400}} {
		p.line(point{x + l[0], l[1]}, point{x + l[2], l[3]}, 13)
	}
	p.paint(c.OnFill, 1)
}

// drawSprigs draws the leaves of Elegant, as a wreath that is open at the top.
func (p *painter) drawSprigs() {
	const radius, from, to = 150, .16, 2.45
	for _, side := range []float64{-1, 1} {
		var last point
		for i := range 9 {
			turn := from + (to-from)*float64(i)/8
			at := point{p.middle() + float32(side*radius*math.Sin(turn)), Height/2 + float32(radius*math.Cos(turn))}
			if i > 0 {
				p.line(last, at, 3)
			}
			ahead := side * (math.Pi/2 - turn)
			p.leaf(at, ahead-.6)
			p.leaf(at, ahead+.6)
			last = at
		}
	}
	p.paint(p.colors.Accent, 1)
}

// leaf adds a leaf that points up, turned by an angle.
func (p *painter) leaf(at point, angle float64) {
	sin, cos := float32(math.Sin(angle)), float32(math.Cos(angle))
	turn := func(x, y float32) (float32, float32) { return at.x + x*cos - y*sin, at.y + x*sin + y*cos }
	bend := func(x1, y1, x, y float32) {
		cx, cy := turn(x1, y1)
		tx, ty := turn(x, y)
		p.shapes.QuadTo(cx, cy, tx, ty)
	}
	p.shapes.MoveTo(turn(0, 0))
	bend(20, -24, 0, -54)
	bend(-20, -24, 0, 0)
	p.shapes.ClosePath()
}

// drawDots draws the grid of Typed.
func (p *painter) drawDots() {
	for y := float32(30); y < Height; y += 30 {
		for x := float32(30); x < Width; x += 30 {
			p.rect(x, y, 3, 3, 0)
		}
	}
	p.paint(p.colors.Line, 1)
}
