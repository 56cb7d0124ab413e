package main

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// The targets that are not a share of the bare server's rate.
const (
	maxStart     = 200 * time.Millisecond
	maxIdle      = 40e6
	maxBinary    = 30e6
	maxPageRatio = 2.0
	maxElsewhere = 0.05 // beyond, the figures are of a busy machine
)

// report is what a run has found.
type report struct {
	bench   *bench
	engines []engineFigures
	size    int64
}

// style writes headings and tables; the first row of a table is its head.
type style struct {
	heading func(text string) string
	table   func(rows [][]string) string
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
}

// write is the whole report in one style.
func (r report) write(s style) string {
	var b strings.Builder
	for _, e := range r.engines {
		if len(e.works) > 0 {
			b.WriteString(s.heading(e.name))
			b.WriteString(s.table(workRows(e)))
			for _, f := range e.works {
				if f.errors > 0 {
					fmt.Fprintf(&b, "\n%s: %d answers were not 200. The first was: %s\n", f.work.title, f.errors, oneLine(f.said))
				}
			}
		}
	}
	b.WriteString(s.heading("Targets and other figures"))
	b.WriteString(s.table(r.otherRows()))
	return b.String()
}

func workRows(e engineFigures) [][]string {
	rows := [][]string{{"work", "req/s", "p50", "p99", "CPU µs/request", "bare req/s", "bare CPU µs", "ratio"}}
	for _, f := range e.works {
		rows = append(rows, []string{
			f.work.title, whole(f.rate), millis(f.p50), millis(f.p99), micros(f.cpu), whole(f.bare), micros(f.bareCPU),
			fmt.Sprintf("%.2f", f.ratio()),
		})
	}
	return rows
}

// targetRows are the rows of the table that compares figures with targets.
type targetRows [][]string

func (r *targetRows) add(what, measured, target string, ok bool) {
	reached := "yes"
	if !ok {
		reached = "NO"
	}
	*r = append(*r, []string{what, measured, target, reached})
}

// note adds a figure without a target.
func (r *targetRows) note(what, measured string) {
	*r = append(*r, []string{what, measured, "", ""})
}

// compare adds a figure that may be at most so many times another.
func (r *targetRows) compare(what string, figure, other float64, write func(float64) string, most float64) {
	ratio := figure / other
	r.add(what, fmt.Sprintf("%s / %s = %.2f", write(figure), write(other), ratio), fmt.Sprintf("≤ %g", most), ratio <= most)
}

func (r report) otherRows() [][]string {
	rows := targetRows{{"what", "measured", "target", "reached"}}
	for _, e := range r.engines {
		for _, f := range e.works {
			if f.work.target > 0 && e.name == "SQLite" {
				rows.add(fmt.Sprintf("%s: %s, share of bare", e.name, f.work.title), fmt.Sprintf("%.2f", f.ratio()),
					fmt.Sprintf("≥ %.2f", f.work.target), f.ratio() >= f.work.target && f.errors == 0)
			}
		}
		if e.first > 0 {
			rows.compare(e.name+": CPU of page 500 to page 1", e.last, e.first, cpuMicros, maxPageRatio)
		}
		if e.start > 0 {
			rows.add(e.name+": start to first answer", millis(e.start), "< "+millis(maxStart), e.start < maxStart)
			rows.add(e.name+": memory at rest", megabytes(e.idle), "< "+megabytes(maxIdle), e.idle < maxIdle)
		}
		if e.afterLoad > 0 {
			rows.note(e.name+": memory after load", megabytes(e.afterLoad))
		}
		rows.addMillion(e)
		// On PostgreSQL the database is one of the others.
		if e.loaded && e.name == "SQLite" {
			rows.add("Machine used by others meanwhile", percent(e.elsewhere), "< "+percent(maxElsewhere), e.elsewhere < maxElsewhere)
		}
	}
	rows.add("Binary", megabytes(r.size), "< "+megabytes(maxBinary), r.size < maxBinary)
	return rows
}

// document is the report as a page of its own.
func (r report) document() string {
	return fmt.Sprintf(`# Benchmarks

Formulary and a bare %[1]snet/http%[1]s server ran as processes of their own on one machine, which also made the load:
%[2]d cores, %[3]s, %[4]s/%[5]s. The bare server sends the very headers and bytes that Formulary sends and does
nothing else. Each work was warmed up, then measured in rounds of %[6]s, %[7]d for each of the two in turns; the
figures are medians. Rates and CPU are at %[8]d connections, p50 and p99 at %[9]d. CPU is the user and system time of the
server process; PostgreSQL's own is not in it. The ratio is Formulary's rate to the bare server's. Rate limits were off
and all else was as it is out of the box: every request is logged, and tokens are on disk when they are answered.
Start (the median of %[10]d) and memory at rest are with the data that the load has left: 11,000 forms and all the
tokens. A megabyte is a million bytes.

The form with %[11]s responses asks eight questions and was answered over a year. Pages of the feed have %[12]d
responses, those of the list %[13]d. The export as CSV was read to its end and thrown away as often as there are rounds:
the time is the median, the memory is the most that the server process ever had meanwhile; it had only summed up
before. The other files were read once. The first summary counts in what nobody has counted yet; the others
were asked for on one connection. Submissions went, in turns, to a form with %[14]s responses at first and to this one,
each in a database of its own and a process that had just started.

%[1]smake bench%[1]s measures again.
`, "`", runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH, r.bench.length, r.bench.rounds,
		throughput, latency, starts, whole(float64(r.bench.responses)), feedPage, listPage, whole(fewResponses)) + r.write(marked)
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

func millis(d time.Duration) string {
	ms := d.Seconds() * 1e3
	if ms >= 10 {
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.2f ms", ms)
}

func megabytes[N int64 | float64](bytes N) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }

func percent(share float64) string { return fmt.Sprintf("%.0f %%", share*100) }

func oneLine(text string) string {
	head, body, _ := strings.Cut(text, "\r\n\r\n")
	status, _, _ := strings.Cut(head, "\r\n")
	return strings.TrimSpace(status + " " + body)
}
