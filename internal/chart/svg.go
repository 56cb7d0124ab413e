package chart

import (
	"encoding/xml"
	"math"
	"strconv"
	"strings"
)

// width is that of every drawing but a spark, in units of its viewBox.
const width = 320

// Sizes of text, in the same units.
const (
	textSize   = 13
	smallSize  = 12
	figureSize = 44
)

// paint is how a class looks without a style sheet.
var paint = map[string]string{
	"chart-hit":    `fill="none" pointer-events="all"`,
	"chart-bar":    `fill="currentColor"`,
	"chart-track":  `fill="currentColor" fill-opacity=".1"`,
	"chart-line":   `fill="none" stroke="currentColor" stroke-width="1.5" stroke-linejoin="round" stroke-linecap="round"`,
	"chart-area":   `fill="currentColor" fill-opacity=".1"`,
	"chart-dot":    `fill="currentColor"`,
	"chart-axis":   `fill="none" stroke="currentColor" stroke-opacity=".4"`,
	"chart-grid":   `fill="none" stroke="currentColor" stroke-opacity=".12"`,
	"chart-text":   `fill="currentColor" fill-opacity=".75"`,
	"chart-strong": `fill="currentColor"`,
	"chart-figure": `fill="currentColor"`,
	"chart-good":   `fill="currentColor"`,
	"chart-middle": `fill="currentColor" fill-opacity=".2"`,
	"chart-bad":    `fill="currentColor" fill-opacity=".6"`,
	"chart-node":   `fill="none" stroke="currentColor"`,
	"chart-end":    `fill="currentColor" fill-opacity=".06" stroke="currentColor"`,
	"chart-edge":   `fill="none" stroke="currentColor"`,
	"chart-jump":   `fill="none" stroke="currentColor"`,
	"chart-head":   `fill="currentColor"`,
}

// Where a text stands from its place, in the direction of the drawing.
const (
	start  = "start"
	middle = "middle"
	end    = "end"
)

// drawing is an SVG in the making. It is drawn from left to right; one that reads
// from right to left is mirrored on the way out.
type drawing struct {
	b       strings.Builder
	rtl     bool
	breadth float64
}

func draw(class string, breadth, height float64, size, title, desc string, rtl bool) *drawing {
	d := &drawing{rtl: rtl, breadth: breadth}
	direction := "ltr"
	if rtl {
		direction = "rtl"
	}
	d.b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" class="chart ` + class + `" role="img" viewBox="0 0 ` + unit(breadth) + " " + unit(height) +
		`" ` + size + ` preserveAspectRatio="xMidYMid meet" direction="` + direction + `">`)
	d.textElement("title", title)
	d.textElement("desc", desc)
	return d
}

// wide is the size of a drawing that takes the room it gets.
const wide = `width="100%"`

func (d *drawing) end() string {
	d.b.WriteString("</svg>")
	return d.b.String()
}

func (d *drawing) textElement(element, text string) {
	d.b.WriteString("<" + element + ">" + escape(tidy(text)) + "</" + element + ">")
}

// group puts what is drawn together, with a tooltip.
func (d *drawing) group(class, tip string, inside func()) {
	d.b.WriteString(`<g class="` + class + `">`)
	d.textElement("title", tip)
	inside()
	d.b.WriteString("</g>")
}

// open begins an element of a class; a second class says more of the first.
func (d *drawing) open(element, class string) {
	first, _, _ := strings.Cut(class, " ")
	d.b.WriteString("<" + element + ` class="` + class + `" ` + paint[first])
}

func (d *drawing) set(name string, value float64) {
	d.b.WriteString(" " + name + `="` + unit(value) + `"`)
}

func (d *drawing) rect(class string, x, y, w, h, radius float64) {
	if d.rtl {
		x = d.breadth - x - w
	}
	d.open("rect", class)
	d.set("x", x)
	d.set("y", y)
	d.set("width", max(w, 0))
	d.set("height", max(h, 0))
	if radius > 0 {
		d.set("rx", radius)
	}
	d.b.WriteString("/>")
}

func (d *drawing) circle(class string, x, y, radius float64) {
	d.open("circle", class)
	d.set("cx", d.x(x))
	d.set("cy", y)
	d.set("r", radius)
	d.b.WriteString("/>")
}

// Where a line stands from its height, in its own size, so that it stays there when
// a style sheet sets it smaller.
const (
	on    = "0"
	amid  = ".35em"
	under = ".8em"
)

// text writes one line that stands on its height.
func (d *drawing) text(class string, x, y, size float64, anchor, text string) {
	d.line(class, x, y, size, anchor, on, text)
}

// line writes one line. What reads in another direction than the drawing is kept
// apart from it.
func (d *drawing) line(class string, x, y, size float64, anchor, from, text string) {
	if text = tidy(text); text == "" {
		return
	}
	switch way := textDirection(text); {
	case way == 0 && d.rtl:
		text = "\u2066" + text + "\u2069" // +42% is not %42+
	case way != 0 && (way < 0) != d.rtl:
		text = "\u2068" + text + "\u2069"
	}
	d.open("text", class)
	d.set("x", d.x(x))
	d.set("y", y)
	d.set("font-size", size)
	if from != on {
		d.b.WriteString(` dy="` + from + `"`)
	}
	d.b.WriteString(` text-anchor="` + anchor + `">` + escape(text) + "</text>")
}

// path draws along steps such as "M", x, y; letters are followed by pairs.
func (d *drawing) path(class string, steps ...any) {
	d.open("path", class)
	d.b.WriteString(` d="`)
	first, across := true, true
	for _, step := range steps {
		switch v := step.(type) {
		case string:
			d.b.WriteString(v)
			first = true
		case float64:
			if !first {
				d.b.WriteByte(' ')
			}
			if across {
				v = d.x(v)
			}
			d.b.WriteString(unit(v))
			first, across = false, !across
		}
	}
	d.b.WriteString(`"/>`)
}

// column is a rectangle that stands on its base, its shoulders round.
func (d *drawing) column(class string, x, base, w, h float64) {
	r := min(2, w/3, h)
	top := base - h
	d.path(class, "M", x, base, "L", x, top+r, "Q", x, top, x+r, top, "L", x+w-r, top, "Q", x+w, top, x+w, top+r, "L", x+w, base, "Z")
}

func (d *drawing) x(v float64) float64 {
	if d.rtl {
		return d.breadth - v
	}
	return v
}

// unit writes a coordinate; a hundredth is finer than any screen.
func unit(v float64) string {
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
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes everything
	return b.String()
}
