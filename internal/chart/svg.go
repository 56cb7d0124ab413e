package chart

import (
	"encoding/xml"
	"math"
	"strconv"
	"strings"
)

// width is the width of every drawing except sparklines, in viewBox units.
const width = 320

// Font sizes in viewBox units.
const (
	textSize   = 13
	smallSize  = 12
	figureSize = 44
)

// defaultAttributes are the presentation attributes of each class. They apply where no
// style sheet overrides them. Other shapes and texts have the color of the drawing.
var defaultAttributes = map[string]string{
	"chart-hit":    ` fill="none" pointer-events="all"`,
	"chart-track":  ` fill-opacity=".1"`,
	"chart-line":   ` fill="none" stroke="currentColor" stroke-width="1.5" stroke-linejoin="round" stroke-linecap="round"`,
	"chart-before": ` fill="none" stroke="currentColor" stroke-opacity=".6" stroke-dasharray="3 4" stroke-linejoin="round" stroke-linecap="round"`,
	"chart-area":   ` fill-opacity=".1"`,
	"chart-axis":   ` fill="none" stroke="currentColor" stroke-opacity=".4"`,
	"chart-grid":   ` fill="none" stroke="currentColor" stroke-opacity=".12"`,
	"chart-text":   ` fill-opacity=".75"`,
	"chart-middle": ` fill-opacity=".2"`,
	"chart-bad":    ` fill-opacity=".6"`,
	"chart-node":   ` fill="none" stroke="currentColor"`,
	"chart-end":    ` fill-opacity=".06" stroke="currentColor"`,
	"chart-edge":   ` fill="none" stroke="currentColor"`,
	"chart-jump":   ` fill="none" stroke="currentColor"`,
}

// Values of text-anchor. They follow the direction of the drawing.
const (
	start  = "start"
	middle = "middle"
	end    = "end"
)

// drawing builds an SVG. Coordinates are given for left-to-right; if rtl is set, they are
// mirrored when they are written.
type drawing struct {
	b         strings.Builder
	rtl       bool
	viewWidth float64
}

type drawingOptions struct {
	class         string
	width, height float64
	size          string // width and height attributes of the SVG element
	title, desc   string
	rtl           bool
}

func newDrawing(o drawingOptions) *drawing {
	d := &drawing{rtl: o.rtl, viewWidth: o.width}
	direction := "ltr"
	if o.rtl {
		direction = "rtl"
	}
	d.b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" class="chart ` + o.class + `" role="img" viewBox="0 0 ` + formatCoordinate(o.width) + " " + formatCoordinate(o.height) +
		`" ` + o.size + ` preserveAspectRatio="xMidYMid meet" fill="currentColor" direction="` + direction + `">`)
	d.textElement("title", o.title)
	d.textElement("desc", o.desc)
	return d
}

// fullWidth makes a drawing as wide as its container.
const fullWidth = `width="100%"`

func (d *drawing) end() string {
	d.b.WriteString("</svg>")
	return d.b.String()
}

func (d *drawing) textElement(element, text string) {
	d.b.WriteString("<" + element + ">" + escape(cleanLine(text)) + "</" + element + ">")
}

// group writes a group with a tooltip. The content function draws what is inside.
func (d *drawing) group(class, tip string, content func()) {
	d.b.WriteString(`<g class="` + class + `">`)
	d.textElement("title", tip)
	content()
	d.b.WriteString("</g>")
}

// openElement starts an element with the default attributes of its first class.
func (d *drawing) openElement(element, class string) {
	first, _, _ := strings.Cut(class, " ")
	d.b.WriteString("<" + element + ` class="` + class + `"` + defaultAttributes[first])
}

func (d *drawing) setAttribute(name string, value float64) {
	d.b.WriteString(" " + name + `="` + formatCoordinate(value) + `"`)
}

// box is the position and size of a rectangle with rounded corners.
type box struct{ x, y, w, h, radius float64 }

func (d *drawing) rect(class string, b box) {
	if d.rtl {
		b.x = d.viewWidth - b.x - b.w
	}
	d.openElement("rect", class)
	d.setAttribute("x", b.x)
	d.setAttribute("y", b.y)
	d.setAttribute("width", max(b.w, 0))
	d.setAttribute("height", max(b.h, 0))
	if b.radius > 0 {
		d.setAttribute("rx", b.radius)
	}
	d.b.WriteString("/>")
}

func (d *drawing) circle(class string, x, y, radius float64) {
	d.openElement("circle", class)
	d.setAttribute("cx", d.x(x))
	d.setAttribute("cy", y)
	d.setAttribute("r", radius)
	d.b.WriteString("/>")
}

// Values of textLine.dy. They are relative to the font size, so that a text keeps its
// place if a style sheet sets it smaller.
const (
	dyCenter = ".35em"
	dyBelow  = ".8em"
)

// textLine is one line of text.
type textLine struct {
	class      string
	x, y, size float64
	anchor     string
	dy         string // empty: the baseline is at y
	text       string
}

// text writes one line. It isolates text that runs in another direction than the drawing.
func (d *drawing) text(l textLine) {
	text := cleanLine(l.text)
	if text == "" {
		return
	}
	switch direction := textDirection(text); {
	case direction == 0 && d.rtl:
		text = "\u2066" + text + "\u2069" // left-to-right, or +42% would become %42+
	case direction != 0 && (direction < 0) != d.rtl:
		text = "\u2068" + text + "\u2069"
	}
	d.openElement("text", l.class)
	d.setAttribute("x", d.x(l.x))
	d.setAttribute("y", l.y)
	d.setAttribute("font-size", l.size)
	if l.dy != "" {
		d.b.WriteString(` dy="` + l.dy + `"`)
	}
	if l.anchor != start { // the default
		d.b.WriteString(` text-anchor="` + l.anchor + `"`)
	}
	d.b.WriteString(">" + escape(text) + "</text>")
}

// path writes a path from steps such as "M", x, y. A step is a command letter or a
// coordinate; x and y alternate.
func (d *drawing) path(class string, steps ...any) {
	d.openElement("path", class)
	d.b.WriteString(` d="`)
	first, isX := true, true
	for _, step := range steps {
		switch v := step.(type) {
		case string:
			d.b.WriteString(v)
			first = true
		case float64:
			if !first {
				d.b.WriteByte(' ')
			}
			if isX {
				v = d.x(v)
			}
			d.b.WriteString(formatCoordinate(v))
			first, isX = false, !isX
		}
	}
	d.b.WriteString(`"/>`)
}

// column draws a rectangle that stands on base and has round upper corners.
func (d *drawing) column(class string, x, base, w, h float64) {
	r := min(2, w/3, h)
	top := base - h
	d.path(class, "M", x, base, "L", x, top+r, "Q", x, top, x+r, top, "L", x+w-r, top, "Q", x+w, top, x+w, top+r, "L", x+w, base, "Z")
}

// x mirrors an x coordinate if the drawing is right-to-left.
func (d *drawing) x(v float64) float64 {
	if d.rtl {
		return d.viewWidth - v
	}
	return v
}

// formatCoordinate formats a coordinate with two decimals, finer than any screen.
func formatCoordinate(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "0"
	}
	v = math.Round(v*100) / 100
	if v == 0 {
		return "0" // not -0
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // writing to a Builder cannot fail
	return b.String()
}
