package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"time"
)

const (
	throughput = 32 // connections
	latency    = 4
	warmUp     = time.Second
	// fewest is how many one-time requests a run gets when nobody knows yet how
	// fast the server is.
	fewest = 6_000
)

// bench is one run of the benchmark.
type bench struct {
	binary    string
	size      int64 // of the binary
	length    time.Duration
	rounds    int
	only      string
	responses int
	peers     bool   // others beside
	profiles  string // folder; empty: none
	progress  io.Writer

	used use // under load: figures of a busy machine say little
}

func (b *bench) wants(name string) bool { return b.only == "" || b.only == name }

// once loads a process for one run; it also returns the CPU of a request, in
// seconds.
func (b *bench) once(ctx context.Context, p *process, feeds []feed, length time.Duration) (t *tally, cpu float64, err error) {
	used, _, err := b.watch(ctx, p, func() (err error) {
		t, err = run(ctx, p.addr, feeds, length)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return t, used.Seconds() / float64(t.requests), nil
}

// watch is how much CPU a process uses while it is made to work, with what its
// database uses, and how long that takes. What the rest of the machine does
// meanwhile is noted.
func (b *bench) watch(ctx context.Context, p *process, work func() error) (cpu, took time.Duration, err error) {
	helpersBefore, err := p.helpers(ctx)
	if err != nil {
		return 0, 0, err
	}
	cpuBefore, err := p.cpu()
	if err != nil {
		return 0, 0, err
	}
	othersBefore, err := p.others()
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	if err := work(); err != nil {
		return 0, 0, err
	}
	took = time.Since(start)
	cpuAfter, err := p.cpu()
	if err != nil {
		return 0, 0, err
	}
	othersAfter, err := p.others()
	if err != nil {
		return 0, 0, err
	}
	helpersAfter, err := p.helpers(ctx)
	if err != nil {
		return 0, 0, err
	}
	var helped time.Duration
	for pid, used := range helpersAfter {
		helped += used - helpersBefore[pid]
	}
	b.used.elsewhere += othersAfter - othersBefore - helped
	b.used.capacity += took * time.Duration(runtime.NumCPU())
	return cpuAfter - cpuBefore + helped, took, nil
}

// errand is a request that is asked again and again, or several that take turns.
type errand struct {
	to       *process
	requests [][]byte
}

// cost is what a request takes, the median of the rounds.
type cost struct {
	cpu    float64 // seconds of the server
	p50    time.Duration
	rounds span // of cpu
}

// inTurns measures errands beside each other, so that a slow moment of the
// machine meets all of them.
func (b *bench) inTurns(ctx context.Context, connections int, errands ...errand) ([]cost, error) {
	var cpus, waits [][]float64
	round := func(length time.Duration) error {
		for i, e := range errands {
			t, cpu, err := b.once(ctx, e.to, deal(e.requests, connections), length)
			if err != nil {
				return err
			}
			if t.errors > 0 {
				return fmt.Errorf("the service said: %.200s", t.said)
			}
			cpus[i] = append(cpus[i], cpu)
			waits[i] = append(waits[i], float64(t.times.quantile(0.5)))
		}
		return nil
	}
	begin := func() { cpus, waits = make([][]float64, len(errands)), make([][]float64, len(errands)) }
	begin()
	if err := round(b.length / 2); err != nil { // to warm up
		return nil, err
	}
	begin()
	counted, err := b.calmest(b.rounds, func() error { return round(b.length) })
	if err != nil {
		return nil, err
	}
	costs := make([]cost, len(errands))
	for i := range costs {
		cpu := those(cpus[i], counted)
		costs[i] = cost{median(cpu), time.Duration(median(those(waits[i], counted))), spanOf(cpu)}
	}
	return costs, nil
}

// pages compares the CPU of the first page of a long list with that of the
// last.
func (b *bench) pages(ctx context.Context, service *process, token string) (first, last float64, err error) {
	fmt.Fprintln(b.progress, "  Page 1 and page 500 of 10,000 forms")
	costs, err := b.inTurns(ctx, throughput,
		errand{service, [][]byte{get("/api/v1/forms?per_page=20", token)}},
		errand{service, [][]byte{get("/api/v1/forms?per_page=20&page=500", token)}})
	if err != nil {
		return 0, 0, fmt.Errorf("pages: %w", err)
	}
	return costs[0].cpu, costs[1].cpu, nil
}
