package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// bareName is the server that every other is held against.
const bareName = "bare net/http"

// entrant is a server that takes part in a work.
type entrant struct {
	name  string
	to    *process
	feeds func(ctx context.Context, connections, want int) ([]feed, error)
}

// asking is an entrant that is asked the same again and again.
func asking(name string, to *process, request []byte) entrant {
	return entrant{name, to, func(_ context.Context, connections, _ int) ([]feed, error) {
		return deal([][]byte{request}, connections), nil
	}}
}

// outcome is what one server did under one work, round by round.
type outcome struct {
	name       string
	rates      []float64 // requests a second
	cpus       []float64 // seconds of CPU a request
	p50s, p99s []float64 // seconds
	errors     int64
	said       string
}

// of holds an outcome against another, each round against the one beside it: a
// slow moment of the machine meets both.
func (o outcome) of(other outcome) span {
	ratios := make([]float64, min(len(o.rates), len(other.rates)))
	for i := range ratios {
		ratios[i] = o.rates[i] / other.rates[i]
	}
	return spanOf(ratios)
}

// figures are the outcomes of one work.
type figures struct {
	work     work
	outcomes []outcome
}

// outcome is that of one server, if it took part.
func (f figures) outcome(name string) (outcome, bool) {
	i := slices.IndexFunc(f.outcomes, func(o outcome) bool { return o.name == name })
	if i < 0 {
		return outcome{}, false
	}
	return f.outcomes[i], true
}

// calmPart is the part of a round that is spent on how long one waits.
const calmPart = 4

// contest measures a work on several servers in turns.
func (b *bench) contest(ctx context.Context, w work, entrants []entrant) (figures, error) {
	fmt.Fprintf(b.progress, "  %s\n", w.title)
	f := figures{work: w, outcomes: make([]outcome, len(entrants))}
	want := slices.Repeat([]int{fewest}, len(entrants))
	load := func(i, connections int, length time.Duration) (*tally, float64, error) {
		feeds, err := entrants[i].feeds(ctx, connections, want[i])
		if err != nil {
			return nil, 0, err
		}
		t, cpu, err := b.once(ctx, entrants[i].to, feeds, length)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", entrants[i].name, err)
		}
		o := &f.outcomes[i]
		if o.errors += t.errors; o.said == "" {
			o.said = t.said
		}
		want[i] = max(fewest, int(1.3*t.rate()*b.length.Seconds()))
		return t, cpu, nil
	}
	for i, e := range entrants {
		f.outcomes[i].name = e.name
		if _, _, err := load(i, w.connections, warmUp); err != nil {
			return f, err
		}
	}
	counted, err := b.calmest(b.rounds, func() error {
		for i := range entrants {
			t, cpu, err := load(i, w.connections, b.length)
			if err != nil {
				return err
			}
			o := &f.outcomes[i]
			o.rates, o.cpus = append(o.rates, t.rate()), append(o.cpus, cpu)
			if w.calm != w.connections {
				if t, _, err = load(i, w.calm, b.length/calmPart); err != nil {
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
		o.rates, o.cpus, o.p50s, o.p99s = those(o.rates, counted), those(o.cpus, counted), those(o.p50s, counted), those(o.p99s, counted)
		// What is no work of Formulary's must work, or the comparison is void.
		if o.errors > 0 && o.name == bareName {
			return f, fmt.Errorf("the bare server said: %.200s", o.said)
		}
	}
	return f, nil
}

// span is the median of some rounds, with the least and the most of them.
type span struct{ median, least, most float64 }

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
