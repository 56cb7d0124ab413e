package delivery

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"formulary/internal/id"
	"formulary/internal/store"
)

// Dispatcher delivers events for the accounts whose slots this node has leased. It learns of
// new events from the generations of the store, which cost a memory read, and looks at every
// account now and then in case one was missed.
type Dispatcher struct {
	Config
	metrics metrics
	node    string
	gate    *gate
	load    *load
	reads   chan struct{} // bounds refreshes that run at a time
	active  atomic.Int64  // runners

	// Requests in flight end with sending and commits with work. Both outlive Run's context
	// for a while.
	sending, work context.Context
	running       sync.WaitGroup

	logMu  sync.Mutex
	logged map[string]time.Time // when a message was last logged

	mu       sync.Mutex
	slots    map[int64]bool
	changes  int64 // of slots
	accounts map[string]*owner
	leaving  map[string]*owner // accounts that were dropped while requests were in flight
}

// owner is an account that has active webhooks. Dispatcher.mu protects it.
type owner struct {
	id         string
	generation uint64
	refreshed  time.Time     // when its webhooks were last read
	rest       time.Duration // until they may be read again
	due        time.Time     // of the next retry; zero: there is none
	dirty      bool          // to be read again, whatever the generation
	refreshing bool
	pending    int64
	runners    map[string]*runner   // by webhook
	ended      map[string]time.Time // when the last runner of a webhook ended
	settled    map[string]string    // positions of webhooks that have nothing stored ahead
	upToDate   map[string]readUpTo  // what was read for webhooks that had nothing more to send
}

// readUpTo is a version of a webhook, and the last event of its form up to which it had
// nothing to send.
type readUpTo struct {
	updated time.Time
	event   id.Tick
}

const (
	pollInterval  = 20 * time.Millisecond
	idleInterval  = 200 * time.Millisecond // without webhooks, or while submissions come first
	leaseInterval = time.Second
	scanInterval  = 30 * time.Second // even if nothing seems to have changed
	blindInterval = time.Second      // while changes cannot be known
	retryInterval = time.Second      // after a database error
	logInterval   = 10 * time.Second // between two equal messages
	maxReads      = 8

	// restFactor bounds the share of time that is spent on reading the webhooks of a busy
	// account.
	restFactor = 2

	// shutdownLimit is how long requests in flight may take after Run's context has ended.
	shutdownLimit = 5 * time.Second
)

// NewDispatcher returns a Dispatcher.
func NewDispatcher(c Config) *Dispatcher {
	d := &Dispatcher{
		Config: c, node: id.New("", c.Now()), gate: newGate(laneSize(c.Connections), laneSize(c.Connections)), reads: make(chan struct{}, maxReads),
		accounts: map[string]*owner{}, leaving: map[string]*owner{}, slots: map[int64]bool{}, logged: map[string]time.Time{},
		load: newLoad(c.Store.SubmissionCount),
	}
	d.gate.yields = d.load.yields
	return d
}

// Run delivers until ctx ends. Then it sends nothing more, waits a while for requests in
// flight, and stores what became of them.
func (d *Dispatcher) Run(ctx context.Context) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	sending, stopSending := context.WithCancel(work)
	defer stopSending()
	d.work, d.sending = work, sending
	var leased, scanned, complete time.Time
	var generation uint64
	first := true
	for ctx.Err() == nil {
		now := d.Now()
		if now.Sub(leased) >= leaseInterval || now.Before(leased) {
			leased = now
			if changed, err := d.renew(ctx, first); err != nil {
				d.logError(ctx, "could not renew delivery leases", err)
			} else if first = false; changed {
				scanned = time.Time{}
			}
		}
		current, known := d.Store.WebhookGeneration()
		since := now.Sub(scanned)
		if since >= scanInterval || since < 0 || since >= blindInterval && (current != generation || !known) {
			scanned, generation = now, current
			waiting, err := d.scan(ctx, now.Sub(complete) >= scanInterval)
			if err != nil {
				d.logError(ctx, "could not list webhooks", err)
				scanned = now.Add(retryInterval - scanInterval)
			} else if waiting {
				scanned = now.Add(idleInterval - scanInterval)
			} else if now.Sub(complete) >= scanInterval {
				complete = now
			}
		}
		wait := pollInterval
		if yields := d.load.yields(); d.poll(ctx, now) == 0 || yields {
			wait = idleInterval
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
	d.stop(stopSending, cancel)
}

// stop ends all runners, those that take too long by force, and gives the leases back.
func (d *Dispatcher) stop(stopSending, stopWork context.CancelFunc) {
	d.mu.Lock()
	for _, a := range d.accounts {
		a.halt()
	}
	d.mu.Unlock()
	requests := time.AfterFunc(shutdownLimit, stopSending)
	commits := time.AfterFunc(2*shutdownLimit, stopWork)
	d.running.Wait()
	requests.Stop()
	commits.Stop()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(d.work), store.DeliveryLease)
	defer cancel()
	if err := d.Store.ReleaseDeliveryLeases(ctx, d.node); err != nil {
		d.Log.Warn("could not release delivery leases", "error", err)
	}
}

// logError logs an error, unless it comes from ctx. While a database is unavailable, the same
// message is logged only now and then.
func (d *Dispatcher) logError(ctx context.Context, message string, err error) {
	d.logMu.Lock()
	defer d.logMu.Unlock()
	if ctx.Err() != nil || time.Since(d.logged[message]) < logInterval {
		return
	}
	d.logged[message] = time.Now()
	d.Log.Error(message, "error", err)
}

// renew renews the leases and stops deliveries of slots that this node has lost.
func (d *Dispatcher) renew(ctx context.Context, first bool) (changed bool, err error) {
	limited, cancel := context.WithTimeout(ctx, store.DeliveryLease)
	defer cancel()
	list, err := d.Store.RenewDeliveryLeases(limited, d.node, first, d.Now())
	slots := map[int64]bool{}
	for _, slot := range list {
		slots[slot] = true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	// After an error the leases may be lost. What is not renewed in time is taken by others.
	changed = len(slots) != len(d.slots)
	for slot := range slots {
		changed = changed || !d.slots[slot]
	}
	if d.slots = slots; changed {
		d.changes++
	}
	for name, a := range d.accounts {
		if !slots[store.DeliverySlot(name)] {
			d.drop(name, a)
		}
	}
	return changed, err
}

// drop stops deliveries of an account. Its requests in flight end, and are stored. d.mu is locked.
func (d *Dispatcher) drop(name string, a *owner) {
	a.halt()
	delete(d.accounts, name)
	if len(a.runners) > 0 {
		d.leaving[name] = a
	}
}

// scan finds the accounts of this node that have webhooks. With all, it also makes sure that
// the webhooks of those it knew are read again. waiting says that an account came back while its
// requests were in flight: they would be repeated, so it is for a later scan.
func (d *Dispatcher) scan(ctx context.Context, all bool) (waiting bool, err error) {
	if len(d.slots) == 0 {
		return false, nil
	}
	names, err := d.Store.WebhookAccounts(ctx)
	if err != nil {
		return false, err
	}
	if d.Sealer == nil && len(names) > 0 {
		return false, errNoKey
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.leaving, func(_ string, a *owner) bool { return len(a.runners) == 0 })
	found := map[string]bool{}
	for _, name := range names {
		if !d.slots[store.DeliverySlot(name)] {
			continue
		}
		found[name] = true
		a := d.accounts[name]
		if a == nil && d.leaving[name] != nil {
			waiting = true
			continue
		}
		if a == nil {
			a = &owner{id: name, dirty: true, runners: map[string]*runner{}, ended: map[string]time.Time{}, settled: map[string]string{}, upToDate: map[string]readUpTo{}}
			d.accounts[name] = a
		}
		a.dirty = a.dirty || all
	}
	for name, a := range d.accounts {
		if !found[name] && !a.refreshing {
			d.drop(name, a)
		}
	}
	return waiting, nil
}

// poll reads the webhooks of the accounts where something may have happened. It returns how
// many accounts there are.
func (d *Dispatcher) poll(ctx context.Context, now time.Time) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, a := range d.accounts {
		since := now.Sub(a.refreshed)
		if a.refreshing || since < a.rest {
			continue
		}
		generation, known := d.Store.EventGeneration(a.id)
		changed := generation != a.generation
		if !known {
			changed = since >= blindInterval
		}
		due := !a.due.IsZero() && !now.Before(a.due)
		if !a.dirty && !due && !changed {
			continue
		}
		a.refreshing, a.dirty, a.generation, a.refreshed = true, false, generation, now
		d.running.Go(func() { d.refresh(ctx, a) })
	}
	return len(d.accounts)
}

// refresh reads the webhooks of an account and starts runners for those with work to do.
func (d *Dispatcher) refresh(ctx context.Context, a *owner) {
	d.reads <- struct{}{}
	begun := time.Now()
	list, err := d.Store.ActiveWebhooks(store.ForAccount(ctx, "dispatcher/"+a.id), a.id)
	took := time.Since(begun)
	<-d.reads
	if err != nil {
		d.logError(ctx, "could not read webhooks", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	a.refreshing = false
	a.rest = min(restFactor*took, retryInterval)
	if err != nil {
		a.dirty, a.rest = true, retryInterval
		return
	}
	if ctx.Err() != nil || d.accounts[a.id] != a {
		return
	}
	now := d.Now()
	a.due, a.pending = time.Time{}, 0
	seen := map[string]bool{}
	for _, w := range list {
		seen[w.ID] = true
		a.pending += w.Pending
		late := !w.NextRetry.IsZero() && !now.Before(w.NextRetry)
		if !late {
			a.retryAt(w.NextRetry)
		}
		if r := a.runners[w.ID]; r != nil {
			r.offer(w, begun)
		} else if begun.Before(a.ended[w.ID]) {
			a.dirty = true // it was read before its last runner had stored everything
		} else if w.Behind && a.upToDate[w.ID] != read(w) || w.ReplayUntil != "" || late {
			a.runners[w.ID] = d.start(a, w)
		}
	}
	for name, r := range a.runners {
		if !seen[name] {
			r.halt()
		}
	}
	maps.DeleteFunc(a.settled, func(name, _ string) bool { return !seen[name] })
	maps.DeleteFunc(a.upToDate, func(name string, _ readUpTo) bool { return !seen[name] })
	maps.DeleteFunc(a.ended, func(_ string, at time.Time) bool { return at.Before(begun) })
}

// read is what is known of a webhook that has read all events of its form.
func read(w store.ActiveWebhook) readUpTo { return readUpTo{w.UpdatedAt, w.LastEvent} }

// readAgain makes sure that an account's webhooks are read once more.
func (d *Dispatcher) readAgain(a *owner) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a.dirty = true
}

// retryAt makes sure that the account's webhooks are read at a time; zero: never.
func (a *owner) retryAt(at time.Time) {
	if !at.IsZero() && (a.due.IsZero() || at.Before(a.due)) {
		a.due = at
	}
}

// halt stops all deliveries of the account. Dispatcher.mu is locked.
func (a *owner) halt() {
	for _, r := range a.runners {
		r.halt()
	}
}

// attributed gives deliveries a share of the database connections of their own.
func attributed(ctx context.Context, owner string) context.Context {
	return store.ForAccount(ctx, "deliveries/"+owner)
}
