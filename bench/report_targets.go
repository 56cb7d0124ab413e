package main

import (
	"fmt"
	"time"
)

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

// targetTable compares what was measured with what was wanted.
func (r *report) targetTable() [][]string {
	rows := targetRows{{"what", "measured", "target", "reached"}}
	for _, f := range r.works {
		rows.addWork(f)
	}
	for _, p := range r.pages {
		rows.compare(p.name+": CPU of page 500 of forms to page 1", p.last, p.first, cpuMicros, maxPageRatio)
	}
	for _, at := range r.rests {
		if at.start.median > 0 && at.name == formularyOn("SQLite") {
			start := time.Duration(at.start.median * float64(time.Second))
			rows.add("Start to first answer", millis(start), "≤ "+millis(maxStart), start <= maxStart)
			rows.add("Memory at rest", within(at.idle, megabytesOf)+" MB", "≤ "+megabytes(maxIdle), at.idle.median <= maxIdle)
		}
	}
	for _, e := range r.engines {
		rows.addMillion(e)
		if e.growth == nil {
			continue
		}
		for _, l := range e.growth.lines {
			sizes := e.growth.sizes
			rows.compare(fmt.Sprintf("%s: %s, CPU with %s to %s", e.name, l.title, whole(float64(sizes[len(sizes)-1])), whole(float64(sizes[0]))),
				l.costs[len(l.costs)-1].cpu, l.costs[0].cpu, cpuMicros, maxGrowth)
		}
	}
	rows.add("Binary", megabytes(r.size), "≤ "+megabytes(maxBinary), r.size <= maxBinary)
	if used := r.bench.used; used.capacity > 0 {
		rows.add("Machine used by others meanwhile", percent(used.share()), "≤ "+percent(maxElsewhere), used.share() <= maxElsewhere)
	}
	return rows
}

// addWork adds what one work is to reach.
func (r *targetRows) addWork(f figures) {
	least := func(what, server, other string, least float64) {
		o, tookPart := f.outcome(server)
		than, compared := f.outcome(other)
		if least == 0 || !tookPart || !compared {
			return
		}
		got := o.of(than)
		r.add(fmt.Sprintf("%s, %s: %s", server, f.work.title, what), within(got, ratio), "≥ "+fmt.Sprint(least),
			got.median >= least && o.errors == 0)
	}
	sqlite := formularyOn("SQLite")
	least("share of bare", sqlite, bareName, f.work.target.sqlite)
	least("times "+pocketBase, sqlite, pocketBase, f.work.target.times)
	least("share of bare", formularyOn("PostgreSQL"), bareName, f.work.target.postgres)
}
