package delivery

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"formulary/internal/fault"
	"formulary/internal/store"
	"formulary/internal/webhook"
)

// runner delivers the events of one webhook while there are any. One goroutine decides, others
// send requests and commit.
type runner struct {
	d     *Dispatcher
	owner *owner
	hook  store.ActiveWebhook

	settled bool // nothing is stored ahead of its position
	secrets []webhook.Secret
	live    window // what happens
	replay  window // what is delivered again
	retries []*item
	trying  map[string]bool // positions of retries that are queued or running

	passes     chan *pass
	results    chan *item
	committed  chan error
	requested  bool // waits for a pass
	inSlowLane bool // it does so in the slow lane
	committing []*item
	sent       map[*item]time.Time // requests in flight, and when they were sent
	finished   []*item             // not committed yet
	width      int
	slow       bool
	turn       int
	pending    int64
	nextRetry  time.Time
	failing    time.Time // as Webhook.FailingSince
	disable    string    // why the webhook is to be disabled
	halting    bool
	failed     bool // after a database error
	lost       bool // a commit has failed: what is known of the webhook is no longer true

	lastCommit time.Time // when it ended
	postponed  bool      // the next one

	mu      sync.Mutex
	latest  *reading
	stopped bool
	signal  chan struct{}
	oldest  atomic.Int64 // Unix milliseconds of the oldest event that is not delivered; 0: none
}

// Bounds of one webhook.
const (
	maxInFlight  = 32 // requests, with those that are not committed yet: a crash repeats them
	slowInFlight = 2  // of a receiver that is slow to answer, if there are many of them
	firstWidth   = 2  // before it has answered; then one more with each answer
	maxPending   = 1000
	pageSize     = 256
	minPageSize  = 16
	maxWindow    = 2 * pageSize // events after the first that is not delivered
	retryPage    = 64
	trimEvery    = 500 // deliveries, on average

	// All webhooks together read about this much at a time: with many of them, pages are
	// smaller.
	totalEvents = 1 << 16
	totalBytes  = 16 << 20
)

// reading is a webhook as it was read from the store.
type reading struct {
	store.ActiveWebhook
	begun time.Time // before it was read
}

// start runs a webhook. Dispatcher.mu is locked.
func (d *Dispatcher) start(a *owner, w store.ActiveWebhook) *runner {
	r := &runner{
		d: d, owner: a, hook: w, trying: map[string]bool{}, sent: map[*item]time.Time{}, pending: w.Pending, failing: w.FailingSince, width: firstWidth,
		passes: make(chan *pass, 1), results: make(chan *item, maxInFlight), committed: make(chan error, 1), signal: make(chan struct{}, 1),
	}
	r.settled = a.settled[w.ID] == w.Position
	d.active.Add(1)
	d.running.Go(func() {
		defer d.active.Add(-1)
		r.run()
	})
	return r
}

// offer tells the runner what the webhook is now, and that there may be more to do.
func (r *runner) offer(w store.ActiveWebhook, begun time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.latest = &reading{w, begun}
	r.wake()
}

// halt lets the runner finish what it is doing.
func (r *runner) halt() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
	r.wake()
}

func (r *runner) wake() {
	select {
	case r.signal <- struct{}{}:
	default:
	}
}

func (r *runner) run() {
	ctx := attributed(r.d.work, r.owner.id)
	r.begin(ctx)
	for {
		if !r.halting {
			r.fill(ctx)
		}
		r.request()
		r.commit(ctx)
		if r.isDone() && r.end() {
			return
		}
		var later <-chan time.Time
		switch {
		case r.postponed:
			later = time.After(commitPace)
		case !r.requested && !r.halting && r.next() != nil:
			later = time.After(slowAfter) // those in flight may turn out to be slow
		}
		select {
		case <-later:
		case p := <-r.passes:
			r.requested = false
			r.send(p)
		case it := <-r.results:
			delete(r.sent, it)
			r.record(it)
		case err := <-r.committed:
			r.applied(err)
		case <-r.signal:
			r.take()
		}
		r.observe()
	}
}

// begin reads what is needed before the first request.
func (r *runner) begin(ctx context.Context) {
	r.live = window{read: r.hook.Position, position: r.hook.Position, target: r.hook.Position}
	r.beginReplay(r.hook)
	// What was stored ahead of the position, before a restart, is not sent again.
	if !r.settled {
		known, err := r.d.Store.DeliveriesAfter(ctx, r.owner.id, r.hook.WebhookKey, r.hook.Position, maxWindow)
		if err != nil {
			r.fail("could not read deliveries", err)
		}
		r.live.known = known
	}
	r.slow = !r.failing.IsZero() // it may still hang
	r.openSecrets()
}

func (r *runner) beginReplay(w store.ActiveWebhook) {
	from := w.ReplayPosition
	r.replay = window{read: from, position: from, target: from, until: w.ReplayUntil, ended: w.ReplayUntil == ""}
}

// secretLost is why a webhook is disabled whose secret was encrypted with another key.
const secretLost = "The secret cannot be decrypted. Rotate the secret, then activate the webhook."

func (r *runner) openSecrets() {
	secrets, err := r.d.secretsOf(r.hook.Webhook, r.d.Now())
	switch {
	case errors.Is(err, errNoKey):
		r.fail("could not sign deliveries", err)
	case err != nil:
		r.disable, r.halting = secretLost, true
		r.d.Log.Error("could not sign deliveries", "error", err)
	}
	r.secrets = secrets
}

// fail ends the runner after an error. The webhook is read again, and with it its position.
func (r *runner) fail(message string, err error) {
	r.failed, r.halting = true, true
	// A form that was deleted meanwhile, or a service that stops, is no error.
	for _, expected := range []error{store.ErrPositionMoved, fault.NotFound, context.Canceled} {
		if errors.Is(err, expected) {
			return
		}
	}
	r.d.logError(r.d.work, message, err)
}

// take takes over what offer and halt have left.
func (r *runner) take() {
	r.mu.Lock()
	latest, stopped := r.latest, r.stopped
	r.latest = nil
	r.mu.Unlock()
	r.halting = r.halting || stopped
	if latest == nil {
		return
	}
	// What was read before the last commit has ended is not all true any more. The positions
	// are this runner's own.
	if r.committing != nil || latest.begun.Before(r.lastCommit) {
		r.d.readAgain(r.owner)
	} else {
		r.pending = latest.Pending
	}
	if latest.Replays != r.hook.Replays {
		r.beginReplay(latest.ActiveWebhook)
	}
	rotated := latest.Secret != r.hook.Secret || latest.OldSecret != ""
	r.hook = latest.ActiveWebhook
	r.live.ended = false
	r.nextRetry = time.Time{} // due ones are read again
	if rotated {
		r.openSecrets()
	}
}

// isDone says whether there is nothing left to wait for.
func (r *runner) isDone() bool {
	return len(r.sent) == 0 && len(r.finished) == 0 && r.committing == nil && !r.requested && (r.halting || r.next() == nil)
}

// end removes the runner, unless there is news.
func (r *runner) end() bool {
	r.d.mu.Lock()
	defer r.d.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.latest != nil && !r.halting {
		r.wake()
		return false
	}
	delete(r.owner.runners, r.hook.ID)
	r.owner.ended[r.hook.ID] = time.Now()
	delete(r.owner.settled, r.hook.ID)
	if !r.lost && len(r.live.items) == 0 {
		r.owner.settled[r.hook.ID] = r.live.position
	}
	delete(r.owner.upToDate, r.hook.ID)
	if !r.halting && r.live.ended && len(r.live.items) == 0 {
		r.owner.upToDate[r.hook.ID] = read(r.hook)
	}
	r.owner.retryAt(r.nextRetry)
	if r.failed {
		r.owner.rest = retryInterval
	}
	r.owner.dirty = r.owner.dirty || r.halting
	return true
}

// request asks for a pass if there is something to send.
func (r *runner) request() {
	// A receiver that answers again does not wait among the slow ones.
	if r.requested && (r.halting || r.inSlowLane && !r.isSlow()) {
		r.d.gate.leave(r.passes)
		r.requested = false
		select {
		case p := <-r.passes:
			p.release()
		default:
		}
	}
	if r.requested || r.halting || !r.hasRoom() || r.next() == nil {
		return
	}
	r.requested, r.inSlowLane = true, r.isSlow()
	r.d.gate.enter(r.owner.id, r.inSlowLane, r.passes)
}

// hasRoom says whether one more request may be in flight, with those that are not committed.
func (r *runner) hasRoom() bool {
	return len(r.sent)+len(r.finished)+len(r.committing) < r.limit()
}

// isSlow says whether the receiver is slow to answer.
func (r *runner) isSlow() bool {
	now := r.d.Now()
	for _, begun := range r.sent {
		if now.Sub(begun) >= slowAfter {
			return true
		}
	}
	return r.slow
}

// limit is how many requests may be in flight.
func (r *runner) limit() int {
	switch {
	case r.hook.StrictOrder:
		return 1
	case !r.isSlow():
		return r.width
	case r.d.gate.hasRoom():
		return maxInFlight // some events may hang while others do not
	}
	return slowInFlight
}

// next is what is sent next, without taking it. Retries and new events take turns, and
// a replay uses what they leave.
func (r *runner) next() *item {
	waits := r.pending >= maxPending || r.hook.StrictOrder && r.pending > 0
	var retry, live, replay *item
	if len(r.retries) > 0 {
		retry = r.retries[0]
	}
	if !waits {
		live, replay = r.live.next(), r.replay.next()
	}
	order := []*item{live, retry, replay}
	switch r.turn % 8 {
	case 1, 3, 5:
		order = []*item{retry, live, replay}
	case 7:
		order = []*item{replay, retry, live}
	}
	for _, it := range order {
		if it != nil {
			return it
		}
	}
	return nil
}

// send sends the next request.
func (r *runner) send(p *pass) {
	it := r.next()
	if it == nil || r.halting {
		p.release()
		return
	}
	r.turn++
	if it.window == nil {
		r.retries = r.retries[1:]
	}
	it.state, it.begun = itemRunning, r.d.Now().Truncate(time.Millisecond) // as it is stored
	r.sent[it] = it.begun
	a := attempt{r: r, hook: r.hook, secrets: r.secrets}
	go func() {
		defer p.release()
		a.run(attributed(r.d.sending, r.owner.id), it)
		r.results <- it
	}()
}

// record notes what became of a request.
func (r *runner) record(it *item) {
	if it.err != nil { // nothing was sent, or the service stops
		r.fail("could not prepare delivery", it.err)
		return
	}
	it.state, it.Response = itemFinished, nil // it may wait long for those before it
	r.finished = append(r.finished, it)
	if it.Status == store.DeliverySkipped {
		return
	}
	r.slow = it.result.Took >= slowAnswer
	if r.width = min(r.width+1, maxInFlight); r.slow {
		r.width = firstWidth
	}
	r.d.metrics.observe(it.result)
	if it.result.Delivered() {
		r.failing = time.Time{}
	} else if r.failing.IsZero() {
		r.failing = it.begun
	}
	if reason := it.judge(r.d.schedule(), r.failing, r.hook.StrictOrder, r.d.Now()); reason != "" {
		r.disable, r.halting = reason, true
	}
}

// observe publishes the age of the oldest event that waits.
func (r *runner) observe() {
	var at int64
	if it := r.live.first(); it != nil {
		at = it.At().UnixMilli()
	}
	r.oldest.Store(at)
}
