package main

import (
	"context"
	"fmt"
	"time"
)

// comparison is what compareSubmit compares: submissions to a form that causes deliveries, and
// to one that does not.
type comparison struct {
	without, with  []byte // requests
	sink           *receiver
	each           int    // deliveries that each response causes
	admin, profile string // the service's address for profiles, empty: none; and a name
	// prepare runs before each turn. Optional.
	prepare func(with bool) error
}

// compareSubmit submits with and without deliveries in turn. Before the next turn, everything
// is delivered.
func (b *bench) compareSubmit(ctx context.Context, service *process, c comparison) (f submitFigures, err error) {
	submit := func(o *outcome, request []byte, length time.Duration) (*loadResult, error) {
		t, cpu, err := b.loadOnce(ctx, service, distribute([][]byte{request}, throughput), length)
		if err == nil && t.errors > 0 {
			err = fmt.Errorf("the service said: %.600s", t.firstError)
		}
		if err != nil {
			return nil, err
		}
		o.rates, o.cpus = append(o.rates, t.rate()), append(o.cpus, cpu)
		return t, nil
	}
	prepare := func(with bool) error {
		c.sink.reset()
		if c.prepare == nil {
			return nil
		}
		return c.prepare(with)
	}
	deliver := func(length time.Duration) error {
		if err := prepare(true); err != nil {
			return err
		}
		t, err := submit(&f.with, c.with, length)
		if err != nil {
			return err
		}
		ended, arrived, all := time.Now(), c.sink.arrivals(), c.each*int(t.requests)
		if err := c.sink.await(ctx, all); err != nil {
			return err
		}
		f.meanwhile = append(f.meanwhile, float64(arrived.count)/t.took.Seconds())
		f.left = append(f.left, float64(all-arrived.count))
		f.drain = append(f.drain, max(0, c.sink.arrivals().last.Sub(ended).Seconds()))
		return nil
	}
	// The order changes from round to round: what is second finds the machine busier.
	first := false
	round := func(length time.Duration) error {
		if first = !first; first {
			if err := deliver(length); err != nil {
				return err
			}
		}
		if err := prepare(false); err != nil {
			return err
		}
		if _, err := submit(&f.without, c.without, length); err != nil {
			return err
		}
		if n := c.sink.arrivals().count; n > 0 {
			return fmt.Errorf("%d deliveries, want none", n)
		}
		if first {
			return nil
		}
		return deliver(length)
	}
	if err := round(warmUp); err != nil {
		return f, err
	}
	f = submitFigures{}
	selected, err := b.quietestRounds(b.rounds, func() error { return round(b.length) })
	if err != nil {
		return f, err
	}
	for _, list := range []*[]float64{&f.without.rates, &f.without.cpus, &f.with.rates, &f.with.cpus, &f.meanwhile, &f.left, &f.drain} {
		*list = pick(*list, selected)
	}
	if c.admin == "" {
		return f, nil
	}
	measured := f
	return measured, b.profile(ctx, c.admin, c.profile, deliver)
}
