package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
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
	length    time.Duration
	rounds    int
	only      string
	responses int
	profiles  string // folder; empty: none
	progress  io.Writer

	// What the rest of the machine did under load, of the engine that is being
	// measured: figures of a busy machine say little.
	elsewhere, capacity time.Duration
}

func (b *bench) wants(name string) bool { return b.only == "" || b.only == name }

// figures are the medians of the rounds of one work.
type figures struct {
	work          work
	rate, cpu     float64 // requests a second; seconds of CPU a request
	bare, bareCPU float64
	p50, p99      time.Duration
	errors        int64
	said          string
}

func (f figures) ratio() float64 { return f.rate / f.bare }

// once loads a process for one run; it also returns the CPU of a request, in
// seconds.
func (b *bench) once(ctx context.Context, p *process, feeds []feed, length time.Duration) (t *tally, cpu float64, err error) {
	used, _, err := b.watch(p, func() (err error) {
		t, err = run(ctx, p.addr, feeds, length)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return t, used.Seconds() / float64(t.requests), nil
}

// watch is how much CPU a process uses while it is made to work, and how long
// that takes. What the rest of the machine does meanwhile is noted.
func (b *bench) watch(p *process, work func() error) (cpu, took time.Duration, err error) {
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
	b.elsewhere += othersAfter - othersBefore
	b.capacity += took * time.Duration(runtime.NumCPU())
	return cpuAfter - cpuBefore, took, err
}

// against measures a work on the service and on the bare server, in turns, so
// that a slow moment of the machine meets both.
func (b *bench) against(ctx context.Context, w work, service, bare *process) (figures, error) {
	f := figures{work: w}
	fmt.Fprintf(b.progress, "  %s\n", w.title)
	// Only its bytes matter to the bare server, so it can be asked the same.
	bareFeeds := deal([][]byte{w.sample}, throughput)
	want := fewest
	load := func(connections int, length time.Duration) (*tally, float64, error) {
		feeds, err := w.feeds(ctx, connections, want)
		if err != nil {
			return nil, 0, err
		}
		t, cpu, err := b.once(ctx, service, feeds, length)
		if err != nil {
			return nil, 0, err
		}
		f.errors += t.errors
		if f.said == "" {
			f.said = t.said
		}
		want = max(fewest, int(1.3*t.rate()*b.length.Seconds()))
		return t, cpu, nil
	}
	if _, _, err := load(throughput, warmUp); err != nil {
		return f, err
	}
	if _, _, err := b.once(ctx, bare, bareFeeds, warmUp); err != nil {
		return f, err
	}
	var rates, cpus, bareRates, bareCPUs []float64
	for range b.rounds {
		t, cpu, err := load(throughput, b.length)
		if err != nil {
			return f, err
		}
		rates, cpus = append(rates, t.rate()), append(cpus, cpu)
		if t, cpu, err = b.once(ctx, bare, bareFeeds, b.length); err != nil {
			return f, err
		}
		if t.errors > 0 {
			return f, fmt.Errorf("the bare server said: %.200s", t.said)
		}
		bareRates, bareCPUs = append(bareRates, t.rate()), append(bareCPUs, cpu)
	}
	f.rate, f.cpu, f.bare, f.bareCPU = median(rates), median(cpus), median(bareRates), median(bareCPUs)
	t, _, err := load(latency, b.length)
	if err != nil {
		return f, err
	}
	f.p50, f.p99 = t.times.quantile(0.5), t.times.quantile(0.99)
	return f, nil
}

// errand is a request that is asked again and again, or several that take turns.
type errand struct {
	to       *process
	requests [][]byte
}

// cost is what a request takes, the median of the rounds.
type cost struct {
	cpu float64 // seconds of the server
	p50 time.Duration
}

// inTurns measures errands beside each other, so that a slow moment of the
// machine meets all of them.
func (b *bench) inTurns(ctx context.Context, connections int, errands ...errand) ([]cost, error) {
	cpus, waits := make([][]float64, len(errands)), make([][]float64, len(errands))
	for round := range b.rounds + 1 {
		length := b.length
		if round == 0 {
			length = warmUp
		}
		for i, e := range errands {
			t, cpu, err := b.once(ctx, e.to, deal(e.requests, connections), length)
			if err != nil {
				return nil, err
			}
			if t.errors > 0 {
				return nil, fmt.Errorf("the service said: %.200s", t.said)
			}
			if round > 0 {
				cpus[i] = append(cpus[i], cpu)
				waits[i] = append(waits[i], float64(t.times.quantile(0.5)))
			}
		}
	}
	costs := make([]cost, len(errands))
	for i := range costs {
		costs[i] = cost{median(cpus[i]), time.Duration(median(waits[i]))}
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

const profileLength = 5 * time.Second

// profileWork keeps a CPU profile of the service under one work.
func (b *bench) profileWork(ctx context.Context, w work, service *process, admin, engine string) error {
	feeds, err := w.feeds(ctx, throughput, 10*fewest)
	if err != nil {
		return err
	}
	return b.profile(ctx, admin, engine+"-"+w.name, func(length time.Duration) error {
		_, err := run(ctx, service.addr, feeds, length)
		return err
	})
}

// profile keeps a CPU profile of a service that is made to work for so long.
func (b *bench) profile(ctx context.Context, admin, name string, work func(time.Duration) error) error {
	worked := make(chan error, 1)
	go func() { worked <- work(profileLength + time.Second) }()
	err := b.fetch(ctx, fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", admin, int(profileLength.Seconds())),
		filepath.Join(b.profiles, name+".pprof"))
	if workErr := <-worked; err == nil {
		err = workErr
	}
	return err
}

func (b *bench) fetch(ctx context.Context, url, file string) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 64<<20))
	if err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	return nil
}

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	n := len(list)
	if n%2 == 1 {
		return list[n/2]
	}
	return (list[n/2-1] + list[n/2]) / 2
}
