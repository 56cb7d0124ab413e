package delivery

import (
	"context"
	"errors"
	"slices"
	"time"

	"formulary/internal/store"
	"formulary/internal/webhook"
)

// item is an event on its way to a webhook.
type item struct {
	store.Delivery
	window     *window // nil: it is a retry
	state      itemState
	wasPending bool
	read       time.Time // when its response was read
	begun      time.Time
	result     webhook.Result
	err        error // why nothing was sent
}

type itemState int

const (
	itemWaiting itemState = iota
	itemRunning
	itemFinished
	itemCommitted
)

// window is a range of a form's events that is being delivered: those between what is
// delivered and what was read.
type window struct {
	position string // up to which everything is committed
	target   string // what position becomes with the commit that is running
	read     string // up to which events were read
	until    string // the end of the range; empty: it has none
	ended    bool   // there was nothing more to read
	known    map[string]bool
	items    []*item
	begun    int // items before this one do not wait
}

// next is the first event that waits.
func (w *window) next() *item {
	for ; w.begun < len(w.items); w.begun++ {
		if it := w.items[w.begun]; it.state == itemWaiting {
			return it
		}
	}
	return nil
}

// first is the first event that has not finished.
func (w *window) first() *item {
	for _, it := range w.items {
		if it.state < itemFinished {
			return it
		}
	}
	return nil
}

// reached is the position up to which everything has finished.
func (w *window) reached() string {
	position := w.position
	for _, it := range w.items {
		if it.state < itemFinished {
			break
		}
		position = it.Position
	}
	return position
}

// isDone says whether the whole range has finished.
func (w *window) isDone() bool { return w.until != "" && w.ended && w.first() == nil }

// advance forgets what is committed.
func (w *window) advance() {
	w.position = w.target
	n := 0
	for n < len(w.items) && w.items[n].Position <= w.position {
		n++
	}
	w.items, w.begun = slices.Delete(w.items, 0, n), max(0, w.begun-n)
}

// fill reads what is to be sent next.
func (r *runner) fill(ctx context.Context) {
	now := r.d.Now()
	if len(r.retries) == 0 && r.pending > 0 && (r.nextRetry.IsZero() || !now.Before(r.nextRetry)) {
		r.fillRetries(ctx, now)
	}
	if r.pending >= maxPending || r.hook.StrictOrder && r.pending > 0 {
		return
	}
	r.fillWindow(ctx, &r.live)
	r.fillWindow(ctx, &r.replay)
}

// fillRetries reads the pending deliveries that are due.
func (r *runner) fillRetries(ctx context.Context, now time.Time) {
	list, err := r.d.Store.DueDeliveries(ctx, r.owner.id, r.hook.WebhookKey, now, retryPage)
	if err != nil {
		r.fail("could not read pending deliveries", err)
		return
	}
	for _, d := range list {
		if !r.trying[d.Position] {
			r.trying[d.Position] = true
			r.retries = append(r.retries, &item{Delivery: d, wasPending: true})
		}
	}
	// More may be due when these are done; otherwise the account's next look finds them.
	r.nextRetry = time.Time{}
	if len(r.retries) == 0 {
		r.nextRetry = now.Add(retryInterval)
	}
}

// fillWindow reads the next page of events when all that was read is on its way.
func (r *runner) fillWindow(ctx context.Context, w *window) {
	if w.ended || w.next() != nil || len(w.items) >= maxWindow {
		return
	}
	active := max(r.d.active.Load(), 1)
	part := store.EventRange{
		After: w.read, Until: w.until, Limit: min(max(totalEvents/active, minPageSize), pageSize), Bytes: totalBytes / active, Kinds: r.hook.Events,
	}
	list, more, err := r.d.Store.EventsFor(ctx, r.owner.id, r.hook.Webhook, part)
	if errors.Is(err, store.ErrWebhookChanged) {
		r.halting = true // the account's webhooks are read again
		return
	}
	if err != nil {
		r.fail("could not read events", err)
		return
	}
	now := r.d.Now()
	for _, e := range list {
		it := &item{Delivery: store.Delivery{Event: e}, window: w, read: now}
		if w.known[e.Position] || !slices.Contains(r.hook.Events, e.Kind) {
			it.state = itemCommitted
		}
		w.items, w.read = append(w.items, it), e.Position
	}
	w.ended = !more
}
