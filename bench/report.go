package main

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// The targets that are not a share of another server's rate; those of Formulary
// are on SQLite.
const (
	maxStart     = 60 * time.Millisecond
	maxIdle      = 30e6
	maxBinary    = 25e6
	maxPageRatio = 2.0
	maxGrowth    = 1.3  // from the smallest database to the largest
	maxElsewhere = 0.05 // beyond, the figures are of a busy machine
)

// report is what a run has found. What was not asked for is empty.
type report struct {
	bench   *bench
	works   []figures
	pages   []pageCosts
	rests   []rest
	engines []engineFigures
	size    int64
}

// style writes headings, tables and charts; the first row of a table is its head.
type style struct {
	heading func(text string) string
	table   func(rows [][]string) string
	image   func(alt, file string) string
}

var aligned = style{
	heading: func(text string) string { return "\n" + text + "\n\n" },
	table: func(rows [][]string) string {
		var b strings.Builder
		w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
		for _, row := range rows {
			fmt.Fprintln(w, strings.Join(row, "\t"))
		}
		w.Flush()
		return b.String()
	},
	image: func(string, string) string { return "" },
}

var marked = style{
	heading: func(text string) string { return "\n## " + text + "\n\n" },
	table: func(rows [][]string) string {
		var b strings.Builder
		for i, row := range rows {
			b.WriteString("| " + strings.Join(row, " | ") + " |\n")
			if i == 0 {
				b.WriteString("|" + strings.Repeat(" --- |", len(row)) + "\n")
			}
		}
		return b.String()
	},
	image: func(alt, file string) string { return fmt.Sprintf("![%s](%s/%s)\n\n", alt, imageFolder, file) },
}

// write is the whole report in one style.
func (r *report) write(s style) string {
	var b strings.Builder
	if len(r.works) > 0 {
		b.WriteString(s.heading("Side by side"))
		b.WriteString(s.image("The rate of each server under each work, as a share of the bare server's", ratesImage))
		b.WriteString(s.table(r.workRows()))
		for _, f := range r.works {
			for _, o := range f.outcomes {
				if o.errors > 0 {
					fmt.Fprintf(&b, "\n%s, %s: %d answers were no success. The first was: %s\n", f.work.title, o.name, o.errors, oneLine(o.said))
				}
			}
		}
	}
	if rows := r.restRows(); len(rows) > 1 {
		b.WriteString(s.heading("Start, memory and size"))
		b.WriteString(s.table(rows))
	}
	for _, e := range r.engines {
		if g := e.growth; g != nil {
			b.WriteString(s.heading("Growth on " + e.name))
			b.WriteString(s.image("CPU of a request in databases of several sizes on "+e.name, growthImage(e.name)))
			b.WriteString(s.table(growthRows(g)))
			b.WriteString(growthReasons(g))
		}
	}
	b.WriteString(s.heading("Targets and other figures"))
	b.WriteString(s.table(r.targetTable()))
	return b.String()
}

func (r *report) workRows() [][]string {
	rows := [][]string{{"work", "server", "req/s", "p50 ms", "p99 ms", "CPU µs/request", "of bare"}}
	for _, f := range r.works {
		bare, _ := f.outcome(bareName)
		title := f.work.title
		for _, o := range f.outcomes {
			share := ""
			if o.name != bareName {
				share = within(o.of(bare), ratio)
			}
			rows = append(rows, []string{
				title, o.name, within(spanOf(o.rates), whole), within(spanOf(o.p50s), millisOf), within(spanOf(o.p99s), millisOf), within(spanOf(o.cpus), micros), share,
			})
			title = ""
		}
	}
	return rows
}

func (r *report) restRows() [][]string {
	rows := [][]string{{"server", "binary", "start to first answer", "memory at rest", "memory after load"}}
	size := func(bytes int64) string {
		if bytes == 0 {
			return ""
		}
		return megabytes(bytes)
	}
	for _, at := range r.rests {
		start, idle := "", ""
		if at.start.median > 0 {
			start, idle = within(at.start, milliseconds)+" ms", within(at.idle, megabytesOf)+" MB"
		}
		rows = append(rows, []string{at.name, size(at.binary), start, idle, size(at.loaded)})
	}
	return rows
}

func growthRows(g *growthFigures) [][]string {
	head := []string{"CPU µs of"}
	for _, n := range g.sizes {
		head = append(head, "at "+whole(float64(n)))
	}
	rows := [][]string{append(head, "last to first")}
	for _, l := range g.lines {
		row := []string{l.title}
		for _, c := range l.costs {
			row = append(row, within(c.rounds, micros))
		}
		rows = append(rows, append(row, ratio(l.ratio())))
	}
	return rows
}

// growthReasons says why what is not flat is not.
func growthReasons(g *growthFigures) string {
	var b strings.Builder
	for _, l := range g.lines {
		if l.ratio() > maxGrowth && l.why != "" {
			fmt.Fprintf(&b, "\n%s: %s.\n", l.title, l.why)
		}
	}
	return b.String()
}

// whole writes a number with commas between thousands.
func whole(f float64) string {
	digits := strconv.FormatInt(int64(f+0.5), 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func micros(seconds float64) string { return fmt.Sprintf("%.1f", seconds*1e6) }

func cpuMicros(seconds float64) string { return micros(seconds) + " µs" }

func millis(d time.Duration) string { return millisOf(d.Seconds()) + " ms" }

func millisOf(seconds float64) string {
	if ms := seconds * 1e3; ms < 10 {
		return fmt.Sprintf("%.2f", ms)
	}
	return milliseconds(seconds)
}

func megabytes[N int64 | float64](bytes N) string { return megabytesOf(float64(bytes)) + " MB" }

func megabytesOf(bytes float64) string { return fmt.Sprintf("%.1f", bytes/1e6) }

func milliseconds(seconds float64) string { return fmt.Sprintf("%.0f", seconds*1e3) }

func ratio(f float64) string { return fmt.Sprintf("%.2f", f) }

// within writes a median with the least and the most of its rounds.
func within(s span, write func(float64) string) string {
	return fmt.Sprintf("%s (%s–%s)", write(s.median), write(s.least), write(s.most))
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", share*100) }

func oneLine(text string) string {
	head, body, _ := strings.Cut(text, "\r\n\r\n")
	status, _, _ := strings.Cut(head, "\r\n")
	return strings.TrimSpace(status + " " + body)
}
