package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"
)

const (
	starts   = 5
	idleTime = 2 * time.Second
)

// instance is Formulary on one engine, with its data.
type instance struct {
	engine    string // as in -engine
	location  location
	remove    func()
	dataset   *dataset
	closed    bool // the store of the dataset is closed
	service   *process
	admin     string // address of the profiler, or empty
	workloads []workload
}

// name returns the name in reports.
func (s *instance) name() string { return formularyOn(s.dataset.store.Engine()) }

func formularyOn(engine string) string { return "Formulary, " + engine }

// footprint is what a server needs at startup, at rest and after load.
type footprint struct {
	name   string
	binary int64 // in bytes, like idle and loaded
	start  span  // seconds
	idle   span
	loaded int64 // 0: no load
}

// pageCosts compares the first and last page of a long list, in CPU seconds.
type pageCosts struct {
	name        string
	first, last float64
}

// newInstance fills an empty database. The caller must close the instance.
func (b *bench) newInstance(ctx context.Context, engine, folder string) (s *instance, err error) {
	fmt.Fprintf(b.progress, "%s: filling the database\n", engine)
	s = &instance{engine: engine}
	if s.location, s.remove, err = newLocation(ctx, engine, folder); err != nil {
		return nil, err
	}
	if s.dataset, err = seed(ctx, s.location, (*dataset).fill); err != nil {
		s.remove()
		return nil, err
	}
	return s, nil
}

func (s *instance) stop() {
	if s.service != nil {
		s.service.stop()
		s.service = nil
	}
}

func (s *instance) close() error {
	s.stop()
	err := s.closeStore()
	s.remove()
	return err
}

// closeStore closes the benchmark's own connection to the database.
func (s *instance) closeStore() error {
	if s.closed {
		return nil
	}
	s.closed = true
	return s.dataset.store.Close()
}

// compareServers measures all servers side by side: all of them run, and they are
// loaded in turns.
func (b *bench) compareServers(ctx context.Context, engines []string, folder string, r *report) (err error) {
	peers, err := b.startPeers(ctx, folder)
	defer func() {
		for _, p := range peers {
			p.process.stop()
		}
	}()
	if err != nil {
		return err
	}
	var instances []*instance
	defer func() {
		for _, s := range instances {
			err = errors.Join(err, s.close())
		}
	}()
	for _, engine := range engines {
		s, err := b.newInstance(ctx, engine, folder)
		if err != nil {
			return fmt.Errorf("%s: %w", engine, err)
		}
		instances = append(instances, s)
	}
	if b.only != "start" {
		if err := b.measureUnderLoad(ctx, instances, peers, r); err != nil {
			return err
		}
	}
	if !b.wants("start") {
		return nil
	}
	return b.measureAtRest(ctx, instances, peers, r)
}

// measureUnderLoad measures everything that needs load.
func (b *bench) measureUnderLoad(ctx context.Context, instances []*instance, peers []*peer, r *report) (err error) {
	for _, s := range instances {
		if s.service, s.admin, err = b.serve(ctx, s.location); err != nil {
			return err
		}
		if s.workloads, err = s.dataset.workloads(ctx, s.service.addr); err != nil {
			return err
		}
	}
	responses := map[string]savedResponse{}
	for _, w := range instances[0].workloads {
		if responses[w.requestLine()], err = fetch(ctx, instances[0].service.addr, w.sample); err != nil {
			return err
		}
	}
	bare, err := startBare(ctx, bareConfig{Responses: responses})
	if err != nil {
		return err
	}
	defer bare.stop()
	for i, w := range instances[0].workloads {
		if !b.wants(w.name) {
			continue
		}
		// The bare server ignores tokens and IDs, so it gets the same request.
		entrants := []entrant{newEntrant(bareName, bare, w.sample)}
		for _, s := range instances {
			entrants = append(entrants, entrant{s.name(), s.service, s.workloads[i].sources})
		}
		for _, p := range peers {
			if request := p.requests[w.name]; request != nil {
				entrants = append(entrants, newEntrant(p.name, p.process, request))
			}
		}
		f, err := b.measureWorkload(ctx, w, entrants)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		r.workloads = append(r.workloads, f)
		if err := b.profileWork(ctx, i, instances); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	for _, s := range instances {
		if err := b.afterLoad(ctx, s, r); err != nil {
			return err
		}
	}
	for _, p := range peers {
		loaded, err := p.process.memory()
		if err != nil {
			return err
		}
		r.footprints = append(r.footprints, footprint{name: p.name, loaded: loaded})
	}
	return nil
}

// afterLoad does the last measurements of a loaded service and stops it.
func (b *bench) afterLoad(ctx context.Context, s *instance, r *report) error {
	if b.wants("pages") {
		list, err := s.dataset.exchange(ctx, s.service.addr, s.dataset.largeOwner, 1)
		if err != nil {
			return err
		}
		first, last, err := b.measurePages(ctx, s.service, list[0].Access)
		if err != nil {
			return err
		}
		r.pages = append(r.pages, pageCosts{s.name(), first, last})
	}
	if b.wants("spaces") {
		costs, err := b.measureSpaces(ctx, s)
		if err != nil {
			return err
		}
		r.spaces = append(r.spaces, costs)
	}
	loaded, err := s.service.memory()
	if err != nil {
		return err
	}
	r.footprints = append(r.footprints, footprint{name: s.name(), loaded: loaded})
	s.stop()
	return nil
}

// serve starts the service. admin is the address of its profiler, if profiles are
// wanted.
func (b *bench) serve(ctx context.Context, location location) (service *process, admin string, err error) {
	if b.profiles != "" {
		if admin, err = freeAddr(); err != nil {
			return nil, "", err
		}
	}
	service, _, err = startFormulary(ctx, b.binary, location, admin)
	return service, admin, err
}

// measureAtRest measures startup and idle memory, with the data that the load left.
func (b *bench) measureAtRest(ctx context.Context, instances []*instance, peers []*peer, r *report) error {
	for _, s := range instances {
		if err := s.closeStore(); err != nil {
			return err
		}
		err := b.measureFootprint(ctx, r, s.name(), b.size, func(ctx context.Context) (*process, time.Duration, error) {
			return startFormulary(ctx, b.binary, s.location, "")
		})
		if err != nil {
			return err
		}
	}
	for _, p := range peers {
		p.process.stop()
		if err := b.measureFootprint(ctx, r, p.name, p.size, p.start); err != nil {
			return err
		}
	}
	return nil
}

// measureFootprint measures one server at rest.
func (b *bench) measureFootprint(ctx context.Context, r *report, name string, binary int64, start func(context.Context) (*process, time.Duration, error)) error {
	fmt.Fprintf(b.progress, "  Start and rest of %s\n", name)
	i := slices.IndexFunc(r.footprints, func(r footprint) bool { return r.name == name })
	if i < 0 {
		i = len(r.footprints)
		r.footprints = append(r.footprints, footprint{name: name})
	}
	var startTimes, idleBytes []float64
	selected, err := b.quietestRounds(starts, func() error {
		before, err := cpuOfOthers()
		if err != nil {
			return err
		}
		startedAt := time.Now()
		p, start, err := start(ctx)
		if err != nil {
			return err
		}
		defer p.stop()
		select {
		case <-time.After(idleTime):
		case <-ctx.Done():
			return ctx.Err()
		}
		memory, err := p.memory()
		if err != nil {
			return err
		}
		after, err := p.otherCPU()
		if err != nil {
			return err
		}
		b.used.byOthers += after - before
		b.used.capacity += time.Since(startedAt) * time.Duration(runtime.NumCPU())
		startTimes, idleBytes = append(startTimes, start.Seconds()), append(idleBytes, float64(memory))
		return nil
	})
	if err != nil {
		return err
	}
	r.footprints[i].binary, r.footprints[i].start, r.footprints[i].idle = binary, spanOf(pick(startTimes, selected)), spanOf(pick(idleBytes, selected))
	return nil
}
