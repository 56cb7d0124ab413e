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

// site is Formulary on one engine, with its data.
type site struct {
	engine  string // as -engine has it
	at      place
	remove  func()
	world   *world
	closed  bool // the store of the world
	service *process
	admin   string // where it is profiled, if it is to be
	works   []work
}

// name is what a report calls it.
func (s *site) name() string { return formularyOn(s.world.store.Engine()) }

func formularyOn(engine string) string { return "Formulary, " + engine }

// rest is what a server takes before anybody asks it, and after many did.
type rest struct {
	name   string
	binary int64 // bytes, as are the others
	start  span  // seconds
	idle   span
	loaded int64 // 0: it had no load
}

// pageCosts compares the ends of a long list, in seconds of CPU.
type pageCosts struct {
	name        string
	first, last float64
}

// newSite fills an empty database; close ends all of it.
func (b *bench) newSite(ctx context.Context, engine, folder string) (s *site, err error) {
	fmt.Fprintf(b.progress, "%s: filling the database\n", engine)
	s = &site{engine: engine}
	if s.at, s.remove, err = newPlace(ctx, engine, folder); err != nil {
		return nil, err
	}
	if s.world, err = seed(ctx, s.at, (*world).fill); err != nil {
		s.remove()
		return nil, err
	}
	return s, nil
}

func (s *site) stop() {
	if s.service != nil {
		s.service.stop()
		s.service = nil
	}
}

func (s *site) close() error {
	s.stop()
	err := s.closeStore()
	s.remove()
	return err
}

// closeStore leaves the data to the service alone.
func (s *site) closeStore() error {
	if s.closed {
		return nil
	}
	s.closed = true
	return s.world.store.Close()
}

// beside measures every server beside the others: all of them run, and they are
// asked in turns.
func (b *bench) beside(ctx context.Context, engines []string, folder string, r *report) (err error) {
	peers, err := b.startPeers(ctx, folder)
	defer func() {
		for _, p := range peers {
			p.process.stop()
		}
	}()
	if err != nil {
		return err
	}
	var sites []*site
	defer func() {
		for _, s := range sites {
			err = errors.Join(err, s.close())
		}
	}()
	for _, engine := range engines {
		s, err := b.newSite(ctx, engine, folder)
		if err != nil {
			return fmt.Errorf("%s: %w", engine, err)
		}
		sites = append(sites, s)
	}
	if b.only != "start" {
		if err := b.underLoad(ctx, sites, peers, r); err != nil {
			return err
		}
	}
	if !b.wants("start") {
		return nil
	}
	return b.atRest(ctx, sites, peers, r)
}

// underLoad measures whatever needs load.
func (b *bench) underLoad(ctx context.Context, sites []*site, peers []*peer, r *report) (err error) {
	for _, s := range sites {
		if s.service, s.admin, err = b.serve(ctx, s.at); err != nil {
			return err
		}
		if s.works, err = s.world.works(ctx, s.service.addr); err != nil {
			return err
		}
	}
	answers := map[string]answer{}
	for _, w := range sites[0].works {
		if answers[w.asks()], err = ask(ctx, sites[0].service.addr, w.sample); err != nil {
			return err
		}
	}
	bare, err := startBare(ctx, answers)
	if err != nil {
		return err
	}
	defer bare.stop()
	for i, w := range sites[0].works {
		if !b.wants(w.name) {
			continue
		}
		// Only its bytes matter to the bare server, so it can be asked the same.
		entrants := []entrant{asking(bareName, bare, w.sample)}
		for _, s := range sites {
			entrants = append(entrants, entrant{s.name(), s.service, s.works[i].feeds})
		}
		for _, p := range peers {
			if request := p.requests[w.name]; request != nil {
				entrants = append(entrants, asking(p.name, p.process, request))
			}
		}
		f, err := b.contest(ctx, w, entrants)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		r.works = append(r.works, f)
		if err := b.profileWork(ctx, i, sites); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	for _, s := range sites {
		if err := b.afterLoad(ctx, s, r); err != nil {
			return err
		}
	}
	for _, p := range peers {
		loaded, err := p.process.memory()
		if err != nil {
			return err
		}
		r.rests = append(r.rests, rest{name: p.name, loaded: loaded})
	}
	return nil
}

// afterLoad has the last of what a loaded service is measured for, and ends it.
func (b *bench) afterLoad(ctx context.Context, s *site, r *report) error {
	if b.wants("pages") {
		list, err := s.world.exchange(ctx, s.service.addr, s.world.many, 1)
		if err != nil {
			return err
		}
		first, last, err := b.pages(ctx, s.service, list[0].Access)
		if err != nil {
			return err
		}
		r.pages = append(r.pages, pageCosts{s.name(), first, last})
	}
	loaded, err := s.service.memory()
	if err != nil {
		return err
	}
	r.rests = append(r.rests, rest{name: s.name(), loaded: loaded})
	s.stop()
	return nil
}

// serve starts the service; admin is where it is profiled, if it is to be.
func (b *bench) serve(ctx context.Context, at place) (service *process, admin string, err error) {
	if b.profiles != "" {
		if admin, err = freeAddr(); err != nil {
			return nil, "", err
		}
	}
	service, _, err = startFormulary(ctx, b.binary, at, admin)
	return service, admin, err
}

// atRest measures starts, and a process that has nothing to do, on the data
// that the load has left.
func (b *bench) atRest(ctx context.Context, sites []*site, peers []*peer, r *report) error {
	for _, s := range sites {
		if err := s.closeStore(); err != nil {
			return err
		}
		err := b.restOf(ctx, r, s.name(), b.size, func(ctx context.Context) (*process, time.Duration, error) {
			return startFormulary(ctx, b.binary, s.at, "")
		})
		if err != nil {
			return err
		}
	}
	for _, p := range peers {
		p.process.stop()
		if err := b.restOf(ctx, r, p.name, p.size, p.start); err != nil {
			return err
		}
	}
	return nil
}

// restOf measures one server at rest.
func (b *bench) restOf(ctx context.Context, r *report, name string, binary int64, start func(context.Context) (*process, time.Duration, error)) error {
	fmt.Fprintf(b.progress, "  Start and rest of %s\n", name)
	i := slices.IndexFunc(r.rests, func(r rest) bool { return r.name == name })
	if i < 0 {
		i = len(r.rests)
		r.rests = append(r.rests, rest{name: name})
	}
	var took, idle []float64
	counted, err := b.calmest(starts, func() error {
		before, err := elsewhere()
		if err != nil {
			return err
		}
		began := time.Now()
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
		after, err := p.others()
		if err != nil {
			return err
		}
		b.used.elsewhere += after - before
		b.used.capacity += time.Since(began) * time.Duration(runtime.NumCPU())
		took, idle = append(took, start.Seconds()), append(idle, float64(memory))
		return nil
	})
	if err != nil {
		return err
	}
	r.rests[i].binary, r.rests[i].start, r.rests[i].idle = binary, spanOf(those(took, counted)), spanOf(those(idle, counted))
	return nil
}
