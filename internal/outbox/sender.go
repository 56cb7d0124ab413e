package outbox

import (
	"context"
	"errors"
	"sync"
	"time"

	"formulary/internal/fault"
	"formulary/internal/mail"
	"formulary/internal/store"
)

const (
	pollInterval  = 20 * time.Millisecond
	scanInterval  = 30 * time.Second // even if nothing seems to have changed
	blindInterval = time.Second      // while changes cannot be known
	minScanPause  = 100 * time.Millisecond
	idleInterval  = 5 * time.Second // between looks at idle connections
	// maxConnections is how many mails are sent at a time.
	maxConnections = 10
	// pace is the time between two mails while submissions need the processors.
	pace = 4 * time.Millisecond
	// shutdownLimit is how long mails on their way may take after Run's context has ended.
	shutdownLimit = 5 * time.Second
)

// job is a mail on its way.
type job struct {
	store.Mail
	result store.MailResult
	err    error // why there is no result
	done   chan<- *job
}

// Run sends mails until ctx ends. Then it waits a while for those on their way, and stores what
// became of them.
func (s *Service) Run(ctx context.Context) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	sending, stopSending := context.WithCancel(work)
	defer stopSending()
	var senders, runners sync.WaitGroup
	var paced pacer
	for range maxConnections {
		senders.Go(func() { s.send(sending, &paced) })
	}
	s.poll(ctx, work, &runners)
	late := []*time.Timer{time.AfterFunc(shutdownLimit, stopSending), time.AfterFunc(2*shutdownLimit, cancel)}
	runners.Wait()
	for _, timer := range late {
		timer.Stop()
	}
	close(s.jobs)
	senders.Wait()
	if s.IsOn() {
		s.Client.CloseIdle(true)
	}
}

// poll looks for accounts with mails to send, until ctx ends.
func (s *Service) poll(ctx, work context.Context, runners *sync.WaitGroup) {
	var scanned, cleaned time.Time
	var generation uint64
	var leases int64
	for ctx.Err() == nil {
		now := time.Now()
		current, known := s.Store.MailGeneration()
		changed := current != generation || leases != s.Leases.LeaseChanges() || !known && now.Sub(scanned) >= blindInterval
		if now.Sub(scanned) >= scanInterval || changed && now.Sub(scanned) >= minScanPause {
			scanned, generation, leases = now, current, s.Leases.LeaseChanges()
			if err := s.scan(ctx); err != nil && ctx.Err() == nil {
				s.outage.log(s.Log, "could not list mails", err)
			}
		}
		s.start(ctx, work, runners)
		if s.IsOn() && now.Sub(cleaned) >= idleInterval {
			cleaned = now
			s.Client.CloseIdle(false)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pollInterval):
		}
	}
}

// queue is an account with mails that wait.
type queue struct {
	owner   string
	due     time.Time // of the first mail
	oldest  time.Time // since when the first mail of this run has been due
	waiting int64
	running bool
	again   bool // look once more after this run
}

// scan finds the accounts of this node that have mails.
func (s *Service) scan(ctx context.Context) error {
	owners, err := s.Store.MailAccounts(ctx)
	if err != nil {
		return err
	}
	for _, owner := range owners {
		if s.Leases.Holds(owner) {
			s.wake(owner)
		}
	}
	return nil
}

// wake looks at the queue of an account soon.
func (s *Service) wake(owner string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queues[owner]
	if q == nil {
		q = &queue{owner: owner}
		s.queues[owner] = q
	}
	q.due, q.again = time.Time{}, true
}

// start runs the queues that are due.
func (s *Service) start(ctx, work context.Context, runners *sync.WaitGroup) {
	if s.outage.isOn() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.Now()
	for owner, q := range s.queues {
		switch {
		case q.running || now.Before(q.due):
		case !s.Leases.Holds(owner):
			delete(s.queues, owner)
		default:
			q.running, q.again = true, false
			runners.Go(func() { s.runQueue(ctx, work, q) })
		}
	}
}

// send sends one mail after the other.
func (s *Service) send(ctx context.Context, paced *pacer) {
	for j := range s.jobs {
		for s.Leases.Yields() && ctx.Err() == nil {
			if paced.next() {
				break
			}
			time.Sleep(pace)
		}
		s.attempt(ctx, j)
		j.done <- j
	}
}

// attempt sends a mail once, and says what follows.
func (s *Service) attempt(ctx context.Context, j *job) {
	message, err := s.Render(store.ForAccount(ctx, "mails/"+j.Account), j.Mail)
	if fault.Wrap(err).Code == fault.DatabaseUnreachable || ctx.Err() != nil {
		j.err = errors.Join(err, ctx.Err())
		return
	}
	if err != nil && !errors.Is(err, errGone) {
		err = &mail.Failure{Text: err.Error(), Permanent: true}
	}
	if err == nil && s.IsOn() {
		err = s.Client.Send(ctx, message)
		if ctx.Err() != nil && err != nil {
			j.err = ctx.Err() // the service stops: that says nothing about the mail
			return
		}
		if s.outage.observe(s.Log, err); s.outage.isOn() && mail.IsOutage(err) {
			j.err = err
			return
		}
		s.metrics.observe(err)
	}
	j.result = s.judge(j.Mail, err)
}

// pacer lets something happen at the slow pace.
type pacer struct {
	mu   sync.Mutex
	last time.Time
}

func (p *pacer) next() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Sub(p.last) < pace {
		return false
	}
	p.last = now
	return true
}
