package main

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// Targets other than shares of another server's rate. Those of Formulary apply to
// SQLite.
const (
	maxStart     = 60 * time.Millisecond
	maxIdle      = 30e6
	maxBinary    = 32e6 // with the libraries that the design allows for
	maxPageRatio = 2.0
	maxGrowth    = 1.3  // from the smallest database to the largest
	maxOtherUse  = 0.05 // above it, the machine is too busy for reliable figures
)

// report is the result of a run. Parts that were not selected are empty.
type report struct {
	bench      *bench
	workloads  []figures
	pages      []pageCosts
	spaces     []spaceCosts
	footprints []footprint
	engines    []engineFigures
	webhooks   []webhookFigures
	mails      []mailFigures
	files      []fileFigures
	size       int64
}

// style renders headings, tables and charts. The first row of a table is its header.
type style struct {
	heading func(text string) string
	table   func(rows [][]string) string
	image   func(alt, file string) string
}

var textStyle = style{
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

var markdownStyle = style{
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

// render returns the whole report in one style.
func (r *report) render(s style) string {
	var b strings.Builder
	if len(r.workloads) > 0 {
		b.WriteString(s.heading("Comparison"))
		b.WriteString(s.image("The rate of each server under each work, as a share of the bare server's", ratesImage))
		b.WriteString(s.table(r.workRows()))
		for _, f := range r.workloads {
			for _, o := range f.outcomes {
				if o.errors > 0 {
					fmt.Fprintf(&b, "\n%s, %s: %d requests failed. First response: %s\n", f.workload.title, o.name, o.errors, oneLine(o.firstError))
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
			b.WriteString(s.heading("Scaling on " + e.name))
			b.WriteString(s.image("CPU of a request in databases of several sizes on "+e.name, growthImage(e.name)))
			b.WriteString(s.table(growthRows(g)))
			b.WriteString(growthReasons(g))
		}
	}
	b.WriteString(s.heading("Targets"))
	b.WriteString(s.table(r.targetTable()))
	return b.String()
}

func (r *report) workRows() [][]string {
	rows := [][]string{{"work", "server", "req/s", "p50 ms", "p99 ms", "CPU µs/request", "of bare"}}
	for _, f := range r.workloads {
		bare, _ := f.outcome(bareName)
		title := f.workload.title
		for _, o := range f.outcomes {
			share := ""
			if o.name != bareName {
				share = formatSpan(o.of(bare), ratio)
			}
			rows = append(rows, []string{
				title, o.name, formatSpan(spanOf(o.rates), formatInt), formatSpan(spanOf(o.p50s), millisOf), formatSpan(spanOf(o.p99s), millisOf), formatSpan(spanOf(o.cpus), micros), share,
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
	for _, f := range r.footprints {
		start, idle := "", ""
		if f.start.median > 0 {
			start, idle = formatSpan(f.start, milliseconds)+" ms", formatSpan(f.idle, megabytesOf)+" MB"
		}
		rows = append(rows, []string{f.name, size(f.binary), start, idle, size(f.loaded)})
	}
	return rows
}

func growthRows(g *growthFigures) [][]string {
	head := []string{"CPU µs of"}
	for _, n := range g.sizes {
		head = append(head, "at "+formatInt(float64(n)))
	}
	rows := [][]string{append(head, "last to first")}
	for _, l := range g.lines {
		row := []string{l.title}
		for _, c := range l.costs {
			row = append(row, formatSpan(c.rounds, micros))
		}
		rows = append(rows, append(row, ratio(l.ratio())))
	}
	return rows
}

// growthReasons explains the requests whose cost grows.
func growthReasons(g *growthFigures) string {
	var b strings.Builder
	for _, l := range g.lines {
		if l.ratio() > maxGrowth && l.why != "" {
			fmt.Fprintf(&b, "\n%s: %s.\n", l.title, l.why)
		}
	}
	return b.String()
}

// formatInt formats a rounded number with commas between thousands.
func formatInt(f float64) string {
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

// formatSpan formats a median with the range of its rounds.
func formatSpan(s span, format func(float64) string) string {
	return fmt.Sprintf("%s (%s–%s)", format(s.median), format(s.min), format(s.max))
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", share*100) }

func oneLine(text string) string {
	head, body, _ := strings.Cut(text, "\r\n\r\n")
	status, _, _ := strings.Cut(head, "\r\n")
	return strings.TrimSpace(status + " " + body)
}
