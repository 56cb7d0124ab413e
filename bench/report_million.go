package main

import (
	"fmt"
	"time"
)

// The targets of one form with a million responses.
const (
	maxFeedRatio  = 1.2
	maxListCPU    = 2 * time.Millisecond
	minExportRate = 300_000 // rows a second, on SQLite
	maxExportSize = 100e6   // bytes in memory
	maxSummary    = 50 * time.Millisecond
)

// addMillion adds what was measured on one form with very many responses.
func (r *targetRows) addMillion(e engineFigures) {
	m := e.million
	if m == nil {
		return
	}
	about := fmt.Sprintf("%s, %s responses: ", e.name, whole(float64(m.responses)))
	seconds := func(f float64) string { return millis(time.Duration(f * float64(time.Second))) }
	rate := func(took time.Duration) float64 { return float64(m.responses) / took.Seconds() }
	exported := func(f exportFigures) string {
		if s := f.rounds; s.median > 0 {
			n := float64(m.responses)
			return fmt.Sprintf("%s rows/s, %s CPU a row", within(span{n / s.median, n / s.most, n / s.least}, whole), cpuMicros(f.cpu.Seconds()/n))
		}
		return fmt.Sprintf("%s rows/s, %s CPU a row", whole(rate(f.took)), cpuMicros(f.cpu.Seconds()/float64(m.responses)))
	}

	r.note(about+"storing them", fmt.Sprintf("%s rows/s, %.1f s", whole(rate(m.storing)), m.storing.Seconds()))
	r.compare(about+"CPU of the feed's last page to its first", m.feedEnd.cpu, m.feedStart.cpu, cpuMicros, maxFeedRatio)
	r.compare(about+"p50 of the feed's last page to its first", m.feedEnd.p50.Seconds(), m.feedStart.p50.Seconds(), seconds, maxFeedRatio)
	r.add(about+"CPU of the list's page 1", within(m.list.rounds, micros)+" µs", "< "+millis(maxListCPU), m.list.cpu < maxListCPU.Seconds())
	r.note(about+"CPU of the list's page "+whole(float64(m.deepPage)), cpuMicros(m.deep.cpu))
	if e.name == "SQLite" {
		r.add(about+"export as CSV", exported(m.csv), "≥ "+whole(minExportRate)+" rows/s", rate(m.csv.took) >= minExportRate)
	} else {
		r.note(about+"export as CSV", exported(m.csv))
	}
	r.add(about+"memory meanwhile", megabytes(m.csv.peak), "< "+megabytes(maxExportSize), m.csv.peak < maxExportSize)
	r.note(about+"export as XLSX", exported(m.xlsx))
	r.note(about+"export as JSON Lines", exported(m.jsonl))
	r.note(about+"memory after exports, feed and list", megabytes(m.afterLoad))
	r.note(about+"first summary", millis(m.firstSummary))
	r.add(about+"summary", millis(m.summary), "< "+millis(maxSummary), m.summary < maxSummary)
}
