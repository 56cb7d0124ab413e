package main

import (
	"fmt"
	"time"
)

// targetRows are the rows of the table of figures and targets.
type targetRows [][]string

func (r *targetRows) add(name, measured, target string, ok bool) {
	reached := "yes"
	if !ok {
		reached = "NO"
	}
	*r = append(*r, []string{name, measured, target, reached})
}

// note adds a figure without a target.
func (r *targetRows) note(name, measured string) {
	*r = append(*r, []string{name, measured, "", ""})
}

// compare adds a figure that must be at most limit times another.
func (r *targetRows) compare(name string, figure, other float64, format func(float64) string, limit float64) {
	ratio := figure / other
	r.add(name, fmt.Sprintf("%s / %s = %.2f", format(figure), format(other), ratio), fmt.Sprintf("≤ %g", limit), ratio <= limit)
}

// targetTable compares the measurements with the targets.
func (r *report) targetTable() [][]string {
	rows := targetRows{{"what", "measured", "target", "reached"}}
	for _, f := range r.workloads {
		rows.addWork(f)
	}
	for _, p := range r.pages {
		rows.compare(p.name+": CPU of page 500 of forms to page 1", p.last, p.first, cpuMicros, maxPageRatio)
	}
	for _, costs := range r.spaces {
		for _, l := range costs.lines {
			rows.compare(costs.name+": CPU of the "+l.title+" to those of a person", l.space, l.person, cpuMicros, maxSpaceRatio)
		}
	}
	for _, f := range r.footprints {
		if f.start.median > 0 && f.name == formularyOn("SQLite") {
			start := time.Duration(f.start.median * float64(time.Second))
			rows.add("Start to first answer", millis(start), "≤ "+millis(maxStart), start <= maxStart)
			rows.add("Memory at rest", formatSpan(f.idle, megabytesOf)+" MB", "≤ "+megabytes(maxIdle), f.idle.median <= maxIdle)
		}
	}
	for _, e := range r.engines {
		rows.addMillion(e)
		if e.growth == nil {
			continue
		}
		for _, l := range e.growth.lines {
			sizes := e.growth.sizes
			rows.compare(fmt.Sprintf("%s: %s, CPU with %s to %s", e.name, l.title, formatInt(float64(sizes[len(sizes)-1])), formatInt(float64(sizes[0]))),
				l.costs[len(l.costs)-1].cpu, l.costs[0].cpu, cpuMicros, maxGrowth)
		}
	}
	for _, f := range r.webhooks {
		rows.addWebhooks(f)
	}
	for _, f := range r.mails {
		rows.addMail(f)
	}
	for _, f := range r.files {
		rows.addFiles(f)
	}
	rows.add("Binary", megabytes(r.size), "≤ "+megabytes(maxBinary), r.size <= maxBinary)
	if used := r.bench.used; used.capacity > 0 {
		rows.add("Machine used by others meanwhile", percent(used.share()), "≤ "+percent(maxOtherUse), used.share() <= maxOtherUse)
	}
	return rows
}

// addWork adds the targets of one workload.
func (r *targetRows) addWork(f figures) {
	addMinimum := func(name, server, other string, minimum float64) {
		o, ok := f.outcome(server)
		reference, hasReference := f.outcome(other)
		if minimum == 0 || !ok || !hasReference {
			return
		}
		got := o.of(reference)
		r.add(fmt.Sprintf("%s, %s: %s", server, f.workload.title, name), formatSpan(got, ratio), "≥ "+fmt.Sprint(minimum),
			got.median >= minimum && o.errors == 0)
	}
	sqlite := formularyOn("SQLite")
	addMinimum("share of bare", sqlite, bareName, f.workload.target.sqlite)
	addMinimum("times "+pocketBase, sqlite, pocketBase, f.workload.target.times)
	addMinimum("share of bare", formularyOn("PostgreSQL"), bareName, f.workload.target.postgres)
}
