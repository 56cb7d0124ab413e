package outbox

import (
	"context"
	"math/rand/v2"
	"time"

	"formulary/internal/store"
)

const (
	// maxInFlight is how many mails of an account are on their way or not committed yet: a
	// crash repeats them.
	maxInFlight = 32
	// batch is how many mails are read at a time.
	batch = 128
	// refreshInterval is how long mails that were read wait for a connection. Then the queue is
	// read again, in case somebody waits for a newer one.
	refreshInterval = time.Second
	// retryInterval is how long to wait after an error that is not the mail's.
	retryInterval = time.Second
	// slowCommit is the time between two commits while submissions need the processors.
	slowCommit = 500 * time.Millisecond
	// trimEvery is after how many mails, on average, an account's ended mails are trimmed.
	trimEvery = 500
)

// run sends the mails of one account that are due.
type run struct {
	s         *Service
	q         *queue
	ready     []*job
	filled    time.Time       // when ready was read
	known     map[string]bool // IDs of mails that are ready, sent or not committed
	sent      int             // on their way
	finished  []*job
	committed chan error
	storing   []*job
	// lastCommit is when the last commit ended.
	lastCommit time.Time
	done       chan *job
	exhausted  bool // no more are due
	halted     bool
	failed     bool // the account is looked at again a little later
}

// runQueue sends what is due, and notes when the next mail is.
func (s *Service) runQueue(ctx, work context.Context, q *queue) {
	r := &run{s: s, q: q, known: map[string]bool{}, committed: make(chan error, 1), done: make(chan *job, maxInFlight)}
	work = store.ForAccount(work, "mails/"+q.owner)
	for {
		var later <-chan time.Time
		if ctx.Err() != nil || !s.Leases.Holds(q.owner) || s.outage.isOn() {
			r.halt()
		}
		r.refresh()
		if len(r.ready) == 0 && !r.exhausted && !r.halted {
			r.fill(work)
		}
		if wait := r.commitIn(); wait > 0 {
			later = time.After(wait)
		} else {
			r.commit(work)
		}
		var jobs chan<- *job
		var next *job
		if len(r.ready) > 0 && r.sent+len(r.finished)+len(r.storing) < maxInFlight {
			jobs, next = s.jobs, r.ready[0]
		}
		if next == nil && r.sent == 0 && len(r.finished) == 0 && r.storing == nil {
			break
		}
		select {
		case jobs <- next:
			r.ready = r.ready[1:]
			r.sent++
		case j := <-r.done:
			r.sent--
			r.record(j)
		case err := <-r.committed:
			r.applied(err)
		case <-later:
		case <-ctx.Done():
			ctx = context.WithoutCancel(ctx) // once
			r.halt()
		}
	}
	r.end(work)
}

// halt sends nothing more.
func (r *run) halt() { r.halted, r.ready = true, nil }

// refresh puts mails back that have waited for a while.
func (r *run) refresh() {
	if len(r.ready) == 0 || time.Since(r.filled) < refreshInterval {
		return
	}
	for _, j := range r.ready {
		delete(r.known, j.ID)
	}
	r.ready, r.exhausted = nil, false
}

// fill reads mails that are due.
func (r *run) fill(ctx context.Context) {
	r.filled = time.Now()
	list, err := r.s.Store.DueMails(ctx, r.q.owner, r.s.Now(), int64(batch+len(r.known)))
	if err != nil {
		r.fail(ctx, "could not read mails", err)
		return
	}
	for _, m := range list {
		if !r.known[m.ID] {
			r.known[m.ID] = true
			r.ready = append(r.ready, &job{Mail: m, done: r.done})
		}
	}
	r.exhausted = len(r.ready) == 0
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.q.waiting = int64(len(r.known))
	if !r.exhausted {
		r.q.oldest = r.ready[0].NextAt
	}
}

func (r *run) fail(ctx context.Context, message string, err error) {
	r.failed = true
	r.halt()
	if ctx.Err() == nil {
		r.s.outage.log(r.s.Log, message, err)
	}
}

// record notes what became of a mail.
func (r *run) record(j *job) {
	if j.err != nil {
		r.failed = true
		r.halt()
		return
	}
	r.finished = append(r.finished, j)
}

// commitIn returns how long to wait with a commit: each takes time from submissions.
func (r *run) commitIn() time.Duration {
	room := r.sent+len(r.finished) < maxInFlight && !r.halted
	if len(r.finished) == 0 || r.storing != nil || !room || !r.s.Leases.Yields() {
		return 0
	}
	return slowCommit - time.Since(r.lastCommit)
}

// commit stores results, while no others are being stored.
func (r *run) commit(ctx context.Context) {
	if r.storing != nil || len(r.finished) == 0 {
		return
	}
	r.storing, r.finished = r.finished, nil
	results := make([]store.MailResult, len(r.storing))
	for i, j := range r.storing {
		results[i] = j.result
	}
	trim := rand.IntN(trimEvery) < len(results)
	go func() { r.committed <- r.s.store(ctx, r.q.owner, results, trim) }()
}

// store commits, again and again while the database is unavailable.
func (s *Service) store(ctx context.Context, owner string, results []store.MailResult, trim bool) error {
	for {
		err := s.Store.CommitMails(ctx, owner, results, trim, s.Now())
		if err == nil || ctx.Err() != nil {
			return err
		}
		s.outage.log(s.Log, "could not store sent mails", err)
		select {
		case <-ctx.Done():
		case <-time.After(retryInterval / 2):
		}
	}
}

func (r *run) applied(err error) {
	if err != nil {
		r.failed = true
		r.halt()
	}
	for _, j := range r.storing {
		delete(r.known, j.ID)
	}
	r.storing, r.lastCommit = nil, time.Now()
	// What was added since may be due.
	r.exhausted = r.exhausted && len(r.known) > 0
}

// end notes when the account's next mail is due.
func (r *run) end(ctx context.Context) {
	n, due, err := r.s.Store.WaitingMails(ctx, r.q.owner)
	s := r.s
	s.mu.Lock()
	defer s.mu.Unlock()
	q := r.q
	q.running, q.waiting, q.oldest = false, n, time.Time{}
	switch {
	case err != nil || r.failed:
		q.due = s.Now().Add(retryInterval)
	case q.again:
		q.due = time.Time{}
	case n == 0:
		delete(s.queues, q.owner)
	default:
		q.due = due
	}
}
