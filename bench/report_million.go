package main

import (
	"fmt"
	"time"
)

// Targets of one form with a million responses.
const (
	maxFeedRatio  = 1.2
	maxListCPU    = 2 * time.Millisecond
	minExportRate = 300_000 // rows per second, on SQLite
	maxExportSize = 100e6   // bytes in memory
	maxSummary    = 50 * time.Millisecond
)

// addMillion adds the figures of one form with very many responses.
func (r *targetRows) addMillion(e engineFigures) {
	m := e.million
	if m == nil {
		return
	}
	prefix := fmt.Sprintf("%s, %s responses: ", e.name, formatInt(float64(m.responses)))
	seconds := func(f float64) string { return millis(time.Duration(f * float64(time.Second))) }
	rate := func(took time.Duration) float64 { return float64(m.responses) / took.Seconds() }
	exportRate := func(f exportFigures) string {
		if s := f.rounds; s.median > 0 {
			n := float64(m.responses)
			return fmt.Sprintf("%s rows/s, %s CPU a row", formatSpan(span{n / s.median, n / s.max, n / s.min}, formatInt), cpuMicros(f.cpu.Seconds()/n))
		}
		return fmt.Sprintf("%s rows/s, %s CPU a row", formatInt(rate(f.took)), cpuMicros(f.cpu.Seconds()/float64(m.responses)))
	}

	r.note(prefix+"storing them", fmt.Sprintf("%s rows/s, %.1f s", formatInt(rate(m.storing)), m.storing.Seconds()))
	r.compare(prefix+"CPU of the feed's last page to its first", m.feedEnd.cpu, m.feedStart.cpu, cpuMicros, maxFeedRatio)
	r.compare(prefix+"p50 of the feed's last page to its first", m.feedEnd.p50.Seconds(), m.feedStart.p50.Seconds(), seconds, maxFeedRatio)
	r.add(prefix+"CPU of the list's page 1", formatSpan(m.list.rounds, micros)+" µs", "< "+millis(maxListCPU), m.list.cpu < maxListCPU.Seconds())
	r.note(prefix+"CPU of the list's page "+formatInt(float64(m.deepPage)), cpuMicros(m.deep.cpu))
	if e.name == "SQLite" {
		r.add(prefix+"export as CSV", exportRate(m.csv), "≥ "+formatInt(minExportRate)+" rows/s", rate(m.csv.took) >= minExportRate)
	} else {
		r.note(prefix+"export as CSV", exportRate(m.csv))
	}
	r.add(prefix+"memory meanwhile", megabytes(m.csv.peak), "< "+megabytes(maxExportSize), m.csv.peak < maxExportSize)
	r.note(prefix+"export as XLSX", exportRate(m.xlsx))
	r.note(prefix+"export as JSON Lines", exportRate(m.jsonl))
	r.note(prefix+"memory after exports, feed and list", megabytes(m.afterLoad))
	r.note(prefix+"first summary", millis(m.firstSummary))
	r.add(prefix+"summary", millis(m.summary), "< "+millis(maxSummary), m.summary < maxSummary)
}
