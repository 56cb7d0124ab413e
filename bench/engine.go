package main

import (
	"context"
	"fmt"
	"time"
)

const (
	starts   = 5
	idleTime = 2 * time.Second
)

// engineFigures is all that was measured on one engine. What was not asked for
// is zero.
type engineFigures struct {
	name      string
	works     []figures
	first     float64 // CPU seconds of page 1
	last      float64 // and of page 500
	start     time.Duration
	idle      int64 // bytes
	afterLoad int64
	million   *millionFigures
	loaded    bool
	elsewhere float64 // share of the machine that others used under load
}

// engine measures everything on one engine.
func (b *bench) engine(ctx context.Context, name, folder string) (e engineFigures, err error) {
	b.elsewhere, b.capacity = 0, 0
	if b.only != "million" {
		if err := b.forms(ctx, name, folder, &e); err != nil {
			return e, err
		}
	}
	if b.wants("million") {
		if err := b.million(ctx, name, folder, &e); err != nil {
			return e, fmt.Errorf("million: %w", err)
		}
	}
	if e.loaded = b.capacity > 0; e.loaded {
		e.elsewhere = float64(b.elsewhere) / float64(b.capacity)
	}
	return e, nil
}

// forms measures everything with many forms.
func (b *bench) forms(ctx context.Context, name, folder string, e *engineFigures) error {
	fmt.Fprintf(b.progress, "%s: filling the database\n", name)
	at, remove, err := newPlace(ctx, name, folder)
	if err != nil {
		return err
	}
	defer remove()
	w, err := seed(ctx, at, (*world).fill)
	if err != nil {
		return err
	}
	e.name = w.store.Engine()
	err = b.underLoad(ctx, w, at, e)
	if closeErr := w.store.Close(); err == nil {
		err = closeErr
	}
	if err != nil || !b.wants("start") {
		return err
	}
	return b.atRest(ctx, at, e)
}

// underLoad measures whatever needs load, on one process.
func (b *bench) underLoad(ctx context.Context, w *world, at place, e *engineFigures) error {
	if b.only == "start" {
		return nil
	}
	service, admin, err := b.serve(ctx, at)
	if err != nil {
		return err
	}
	defer service.stop()
	works, err := w.works(ctx, service.addr)
	if err != nil {
		return err
	}
	answers := map[string]answer{}
	for _, work := range works {
		if answers[work.asks()], err = ask(ctx, service.addr, work.sample); err != nil {
			return err
		}
	}
	bare, err := startBare(ctx, answers)
	if err != nil {
		return err
	}
	defer bare.stop()
	for _, work := range works {
		if !b.wants(work.name) {
			continue
		}
		f, err := b.against(ctx, work, service, bare)
		if err != nil {
			return fmt.Errorf("%s: %w", work.name, err)
		}
		e.works = append(e.works, f)
		if admin != "" {
			if err := b.profileWork(ctx, work, service, admin, e.name); err != nil {
				return fmt.Errorf("%s: %w", work.name, err)
			}
		}
	}
	if b.wants("pages") {
		list, err := w.exchange(ctx, service.addr, w.many, 1)
		if err != nil {
			return err
		}
		if e.first, e.last, err = b.pages(ctx, service, list[0].Access); err != nil {
			return err
		}
	}
	e.afterLoad, err = service.memory()
	return err
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
func (b *bench) atRest(ctx context.Context, at place, e *engineFigures) error {
	fmt.Fprintln(b.progress, "  Start and rest")
	var took []float64
	for i := range starts {
		p, start, err := startFormulary(ctx, b.binary, at, "")
		if err != nil {
			return err
		}
		took = append(took, start.Seconds())
		if i == starts-1 {
			select {
			case <-time.After(idleTime):
			case <-ctx.Done():
			}
			e.idle, err = p.memory()
		}
		p.stop()
		if err != nil {
			return err
		}
	}
	e.start = time.Duration(median(took) * float64(time.Second))
	return ctx.Err()
}
