package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// bareName is the server that all others are compared with.
const bareName = "bare net/http"

// entrant is a server that is measured under a workload.
type entrant struct {
	name    string
	to      *process
	sources func(ctx context.Context, connections, want int) ([]source, error)
}

// newEntrant returns an entrant that gets the same request repeatedly.
func newEntrant(name string, to *process, request []byte) entrant {
	return entrant{name, to, func(_ context.Context, connections, _ int) ([]source, error) {
		return distribute([][]byte{request}, connections), nil
	}}
}

// outcome holds the results of one server under one workload, by round.
type outcome struct {
	name       string
	rates      []float64 // requests per second
	cpus       []float64 // CPU seconds per request
	p50s, p99s []float64 // seconds
	errors     int64
	firstError string
}

// of returns the rates as shares of another's, round by round, because a slow phase of
// the machine affects both.
func (o outcome) of(other outcome) span {
	ratios := make([]float64, min(len(o.rates), len(other.rates)))
	for i := range ratios {
		ratios[i] = o.rates[i] / other.rates[i]
	}
	return spanOf(ratios)
}

// figures are the outcomes of one workload.
type figures struct {
	workload workload
	outcomes []outcome
}

// outcome returns the outcome of a server, if it was measured.
func (f figures) outcome(name string) (outcome, bool) {
	i := slices.IndexFunc(f.outcomes, func(o outcome) bool { return o.name == name })
	if i < 0 {
		return outcome{}, false
	}
	return f.outcomes[i], true
}

// latencyPart is the divisor of the round length for measuring latency.
const latencyPart = 4

// measureWorkload measures a workload on several servers in turn.
func (b *bench) measureWorkload(ctx context.Context, w workload, entrants []entrant) (figures, error) {
	fmt.Fprintf(b.progress, "  %s\n", w.title)
	f := figures{workload: w, outcomes: make([]outcome, len(entrants))}
	want := slices.Repeat([]int{minRequests}, len(entrants))
	load := func(i, connections int, length time.Duration) (*loadResult, float64, error) {
		sources, err := entrants[i].sources(ctx, connections, want[i])
		if err != nil {
			return nil, 0, err
		}
		t, cpu, err := b.loadOnce(ctx, entrants[i].to, sources, length)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", entrants[i].name, err)
		}
		o := &f.outcomes[i]
		if o.errors += t.errors; o.firstError == "" {
			o.firstError = t.firstError
		}
		want[i] = max(minRequests, int(1.3*t.rate()*b.length.Seconds()))
		return t, cpu, nil
	}
	for i, e := range entrants {
		f.outcomes[i].name = e.name
		if _, _, err := load(i, w.connections, warmUp); err != nil {
			return f, err
		}
	}
	selected, err := b.quietestRounds(b.rounds, func() error {
		for i := range entrants {
			t, cpu, err := load(i, w.connections, b.length)
			if err != nil {
				return err
			}
			o := &f.outcomes[i]
			o.rates, o.cpus = append(o.rates, t.rate()), append(o.cpus, cpu)
			if w.latencyConns != w.connections {
				if t, _, err = load(i, w.latencyConns, b.length/latencyPart); err != nil {
					return err
				}
			}
			o.p50s = append(o.p50s, t.times.quantile(0.5).Seconds())
			o.p99s = append(o.p99s, t.times.quantile(0.99).Seconds())
		}
		return nil
	})
	if err != nil {
		return f, err
	}
	for i := range f.outcomes {
		o := &f.outcomes[i]
		o.rates, o.cpus, o.p50s, o.p99s = pick(o.rates, selected), pick(o.cpus, selected), pick(o.p50s, selected), pick(o.p99s, selected)
		// If the bare server fails, the comparison is invalid.
		if o.errors > 0 && o.name == bareName {
			return f, fmt.Errorf("the bare server said: %.600s", o.firstError)
		}
	}
	return f, nil
}

// span is the median of the rounds with their minimum and maximum.
type span struct{ median, min, max float64 }

func spanOf(list []float64) span {
	return span{median(list), slices.Min(list), slices.Max(list)}
}

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	n := len(list)
	if n%2 == 1 {
		return list[n/2]
	}
	return (list[n/2-1] + list[n/2]) / 2
}
