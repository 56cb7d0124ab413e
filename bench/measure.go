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
	// minRequests is the number of single-use requests that are prepared for a run
	// while the speed of the server is unknown.
	minRequests = 6_000
)

// bench is one run of the benchmark.
type bench struct {
	binary    string
	size      int64 // of the binary
	length    time.Duration
	rounds    int
	only      string
	responses int
	farBehind int    // how many responses a webhook is behind at most
	zipSize   int64  // bytes of the zip file of files
	peers     bool   // measure other products too
	profiles  string // directory; empty: no profiles
	progress  io.Writer

	used machineUse // machine use under load; figures of a busy machine are unreliable
}

func (b *bench) wants(name string) bool { return b.only == "" || b.only == name }

// loadOnce loads a process for one run. It also returns the CPU seconds per request.
func (b *bench) loadOnce(ctx context.Context, p *process, sources []source, length time.Duration) (t *loadResult, cpu float64, err error) {
	used, _, err := b.measureCPU(ctx, p, func() (err error) {
		t, err = run(ctx, p.addr, sources, length)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return t, used.Seconds() / float64(t.requests), nil
}

// measureCPU returns the CPU time that a process and its database use during work, and
// how long work takes. It adds what the rest of the machine uses to b.used.
func (b *bench) measureCPU(ctx context.Context, p *process, workload func() error) (cpu, took time.Duration, err error) {
	databaseBefore, err := p.databaseCPU(ctx)
	if err != nil {
		return 0, 0, err
	}
	cpuBefore, err := p.cpu()
	if err != nil {
		return 0, 0, err
	}
	othersBefore, err := p.otherCPU()
	if err != nil {
		return 0, 0, err
	}
	start := time.Now()
	if err := workload(); err != nil {
		return 0, 0, err
	}
	took = time.Since(start)
	cpuAfter, err := p.cpu()
	if err != nil {
		return 0, 0, err
	}
	othersAfter, err := p.otherCPU()
	if err != nil {
		return 0, 0, err
	}
	databaseAfter, err := p.databaseCPU(ctx)
	if err != nil {
		return 0, 0, err
	}
	var database time.Duration
	for pid, used := range databaseAfter {
		database += used - databaseBefore[pid]
	}
	b.used.byOthers += othersAfter - othersBefore - database
	b.used.capacity += took * time.Duration(runtime.NumCPU())
	return cpuAfter - cpuBefore + database, took, nil
}

// requestSet is one or more requests that are repeated in turn.
type requestSet struct {
	to       *process
	requests [][]byte
}

// cost is the cost of a request, as a median of the rounds.
type cost struct {
	cpu    float64 // CPU seconds of the server
	p50    time.Duration
	rounds span // of cpu
}

// measureInterleaved measures the sets in turn within each round, so that a slow phase
// of the machine affects all of them.
func (b *bench) measureInterleaved(ctx context.Context, connections int, requestSets ...requestSet) ([]cost, error) {
	var cpus, p50s [][]float64
	round := func(length time.Duration) error {
		for i, e := range requestSets {
			t, cpu, err := b.loadOnce(ctx, e.to, distribute(e.requests, connections), length)
			if err != nil {
				return err
			}
			if t.errors > 0 {
				return fmt.Errorf("the service said: %.600s", t.firstError)
			}
			cpus[i] = append(cpus[i], cpu)
			p50s[i] = append(p50s[i], float64(t.times.quantile(0.5)))
		}
		return nil
	}
	reset := func() { cpus, p50s = make([][]float64, len(requestSets)), make([][]float64, len(requestSets)) }
	reset()
	if err := round(b.length / 2); err != nil { // warm-up
		return nil, err
	}
	reset()
	selected, err := b.quietestRounds(b.rounds, func() error { return round(b.length) })
	if err != nil {
		return nil, err
	}
	costs := make([]cost, len(requestSets))
	for i := range costs {
		cpu := pick(cpus[i], selected)
		costs[i] = cost{median(cpu), time.Duration(median(pick(p50s[i], selected))), spanOf(cpu)}
	}
	return costs, nil
}

// measurePages compares the CPU time of the first and the last page of a long list.
func (b *bench) measurePages(ctx context.Context, service *process, token string) (first, last float64, err error) {
	fmt.Fprintln(b.progress, "  Page 1 and page 500 of 10,000 forms")
	costs, err := b.measureInterleaved(ctx, throughput,
		requestSet{service, [][]byte{get("/api/v1/forms?per_page=20", token)}},
		requestSet{service, [][]byte{get("/api/v1/forms?per_page=20&page=500", token)}})
	if err != nil {
		return 0, 0, fmt.Errorf("pages: %w", err)
	}
	return costs[0].cpu, costs[1].cpu, nil
}
