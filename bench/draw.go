package main

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// Charts are SVG files that pages embed as images, so they contain their own styles for
// dark mode.
const (
	drawStyle = `<style>text{font:12px system-ui,sans-serif;fill:#333}.quiet{fill:#667}.grid{stroke:#8886;fill:none}.mark{stroke:#333;stroke-width:1.5}` +
		`@media(prefers-color-scheme:dark){text{fill:#ddd}.quiet{fill:#99a}.mark{stroke:#ddd}}</style>`
	drawWidth = 860.0
)

// Medium tones, which are visible on white and black.
var drawColors = []string{"#8a8f98", "#3b82c4", "#7a6fd0", "#d0703c", "#3f9b62", "#c2557f", "#a08a2d", "#4aa3b5"}

// drawing builds an SVG image.
type drawing struct{ strings.Builder }

func (d *drawing) text(x, y float64, class, anchor, text string) {
	fmt.Fprintf(d, `<text x="%.1f" y="%.1f" class="%s" text-anchor="%s">%s</text>`, x, y, class, anchor, html.EscapeString(text))
}

func (d *drawing) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(d, `<path class="%s" d="M%.1f %.1fL%.1f %.1f"/>`, class, x1, y1, x2, y2)
}

func (d *drawing) finish(title string, height float64) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img"><title>%s</title>%s%s</svg>`+"\n",
		drawWidth, height, drawWidth, height, html.EscapeString(title), drawStyle, d.String())
}

// drawShares draws a group of bars for each workload: the rate of each server as a
// share of the bare server's. A thin line shows the range of the rounds, a short
// vertical line the target on SQLite.
func drawShares(workloads []figures) string {
	const left, right, bar, gap, top = 230.0, 60.0, 14.0, 14.0, 54.0
	var servers []string
	maxShare := 1.0
	for _, f := range workloads {
		bare, _ := f.outcome(bareName)
		for _, o := range f.outcomes {
			if o.name != bareName && !slices.Contains(servers, o.name) {
				servers = append(servers, o.name)
			}
			maxShare = max(maxShare, o.of(bare).max)
		}
	}
	color := func(name string) string { return drawColors[(slices.Index(servers, name)+1)%len(drawColors)] }
	xOf := func(share float64) float64 { return left + share/maxShare*(drawWidth-left-right) }
	d := &drawing{}
	d.text(4, 14, "", "start", "Requests a second, as a share of a bare net/http server that sends the same bytes")
	x := 4.0
	for _, name := range servers {
		fmt.Fprintf(d, `<rect x="%.1f" y="26" width="10" height="10" fill="%s"/>`, x, color(name))
		d.text(x+15, 35, "quiet", "start", name)
		x += 40 + 7*float64(len(name))
	}
	y := top
	for _, f := range workloads {
		bare, _ := f.outcome(bareName)
		d.text(left-8, y+11, "", "end", f.workload.title)
		for _, o := range f.outcomes {
			if o.name == bareName {
				continue
			}
			share := o.of(bare)
			fmt.Fprintf(d, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`, left, y, xOf(share.median)-left, bar-2, color(o.name))
			d.line("mark", xOf(share.min), y+bar/2-1, xOf(share.max), y+bar/2-1)
			if o.name == formularyOn("SQLite") && f.workload.target.sqlite > 0 {
				d.line("mark", xOf(f.workload.target.sqlite), y-2, xOf(f.workload.target.sqlite), y+bar)
			}
			d.text(xOf(share.max)+6, y+10, "quiet", "start", ratio(share.median))
			y += bar
		}
		y += gap
	}
	d.line("grid", left, top-6, left, y-gap+6)
	d.line("grid", xOf(1), top-6, xOf(1), y-gap+6)
	d.text(xOf(1), y+4, "quiet", "middle", "bare")
	return d.finish("Share of the bare server's rate", y+14)
}

// drawGrowth draws a line for each kind of request over the size of the database, on
// logarithmic scales. Flat lines mean constant cost.
func drawGrowth(engine string, g *growthFigures) string {
	const left, right, top, height = 70.0, 240.0, 40.0, 320.0
	lowest, highest := math.Inf(1), 0.0
	for _, l := range g.lines {
		for _, c := range l.costs {
			lowest, highest = min(lowest, c.rounds.min*1e6), max(highest, c.rounds.max*1e6)
		}
	}
	low, high := math.Floor(math.Log10(lowest)*3)/3, math.Ceil(math.Log10(highest)*3)/3
	x := func(i int) float64 {
		return left + float64(i)*(drawWidth-left-right)/max(1, float64(len(g.sizes)-1))
	}
	y := func(micros float64) float64 {
		return top + height - (math.Log10(micros)-low)/max(high-low, 0.1)*height
	}
	d := &drawing{}
	d.text(4, 14, "", "start", "CPU µs of a request on "+engine+", by how many forms and responses there are")
	for decade := math.Floor(low); decade <= high; decade++ {
		for _, step := range []float64{1, 2, 5} {
			value := step * math.Pow(10, decade)
			if l := math.Log10(value); l < low-1e-9 || l > high+1e-9 {
				continue
			}
			d.line("grid", left, y(value), x(len(g.sizes)-1), y(value))
			d.text(left-8, y(value)+4, "quiet", "end", formatInt(value))
		}
	}
	for i, n := range g.sizes {
		d.text(x(i), top+height+20, "quiet", "middle", formatInt(float64(n)))
	}
	// Names are placed next to the ends of their lines, at least 16 pixels apart.
	names := slices.SortedFunc(slices.Values(g.lines), func(a, b growthLine) int {
		return -int(math.Copysign(1, a.costs[len(a.costs)-1].cpu-b.costs[len(b.costs)-1].cpu))
	})
	labelY := math.Inf(-1)
	for _, l := range names {
		i := slices.IndexFunc(g.lines, func(other growthLine) bool { return other.title == l.title })
		color := drawColors[(i+1)%len(drawColors)]
		var path strings.Builder
		for j, c := range l.costs {
			fmt.Fprintf(&path, "%c%.1f %.1f", "ML"[min(j, 1)], x(j), y(c.cpu*1e6))
			fmt.Fprintf(d, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`, x(j), y(c.cpu*1e6), color)
			fmt.Fprintf(d, `<path stroke="%s" d="M%.1f %.1fV%.1f"/>`, color, x(j), y(c.rounds.min*1e6), y(c.rounds.max*1e6))
		}
		fmt.Fprintf(d, `<path fill="none" stroke="%s" stroke-width="2" d="%s"/>`, color, path.String())
		labelY = max(labelY+16, y(l.costs[len(l.costs)-1].cpu*1e6))
		fmt.Fprintf(d, `<rect x="%.1f" y="%.1f" width="10" height="10" fill="%s"/>`, drawWidth-right+12, labelY-5, color)
		d.text(drawWidth-right+28, labelY+4, "", "start", fmt.Sprintf("%s, ×%s", l.title, ratio(l.ratio())))
	}
	return d.finish("Scaling on "+engine, max(top+height+30, labelY+16))
}
