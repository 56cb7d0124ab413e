package outbox

import (
	"context"
	"errors"
	"maps"
	"slices"
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
	pace = 100 * time.Millisecond
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
	s.stopping.Store(true)
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

// poll looks for responses that send mails, and for mails to send, until ctx ends.
func (s *Service) poll(ctx, work context.Context, runners *sync.WaitGroup) {
	var mails, forms watch
	var complete, cleaned, expired time.Time
	for ctx.Err() == nil {
		now := time.Now()
		if mails.isDue(now, s.Leases, s.Store.MailGeneration) {
			mails.scanned(s, "could not list mails", s.scan(ctx))
		}
		if forms.isDue(now, s.Leases, s.Store.FormMailGeneration) {
			all := now.Sub(complete) >= scanInterval
			if all {
				complete = now
			}
			forms.scanned(s, "could not list forms that send mails", s.scanForms(ctx, all))
		}
		if s.outage.isOn() && now.Sub(expired) >= scanInterval {
			expired = now
			s.expire(ctx)
		}
		s.startReaders(work, runners)
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

// watch decides when a list of accounts is read again: when it may have changed, when this node
// has other leases, and now and then.
type watch struct {
	at         time.Time
	took       time.Duration // the last time
	generation uint64
	leases     int64
}

// scanShare bounds the share of time that is spent on reading a long list.
const scanShare = 20

// isDue reports whether to read the list, and assumes that the caller then does.
func (w *watch) isDue(now time.Time, leases Leases, generation func() (uint64, bool)) bool {
	since := now.Sub(w.at)
	current, known := generation()
	changed := current != w.generation || leases.LeaseChanges() != w.leases || !known && since >= blindInterval
	if since < scanInterval && (!changed || since < max(minScanPause, scanShare*w.took)) {
		return false
	}
	w.at, w.generation, w.leases = now, current, leases.LeaseChanges()
	return true
}

// scanned notes that the list was read. After an error it is read again soon.
func (w *watch) scanned(s *Service, message string, err error) {
	w.took = time.Since(w.at)
	if err == nil {
		return
	}
	w.at = w.at.Add(retryInterval - scanInterval)
	if !errors.Is(err, context.Canceled) {
		s.outage.log(s.Log, message, err)
	}
}

// expire gives up on mails that have waited too long for the server.
func (s *Service) expire(ctx context.Context) {
	s.mu.Lock()
	owners := slices.Collect(maps.Keys(s.queues))
	s.mu.Unlock()
	problem, _ := s.Problem()
	now := s.Now()
	for _, owner := range owners {
		if err := s.Store.ExpireMails(ctx, owner, now.Add(-maxAge), mail.CleanLine(problem, maxError), now); err != nil && ctx.Err() == nil {
			s.outage.log(s.Log, "could not give up on mails", err)
			return
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
		if s.Leases.Yields() {
			paced.wait(ctx)
		}
		s.attempt(ctx, j)
		j.done <- j
	}
}

// attempt sends a mail once, and says what follows.
func (s *Service) attempt(ctx context.Context, j *job) {
	if j.Suppressed && !j.Urgent {
		s.metrics.skipped.Add(1)
		j.result = s.judge(j.Mail, errGone) // the mail that was refused says why
		return
	}
	message, err := s.Render(store.ForAccount(ctx, "mails/"+j.Account), j.Mail)
	if fault.Wrap(err).Code == fault.DatabaseUnreachable || ctx.Err() != nil {
		j.err = errors.Join(err, ctx.Err())
		return
	}
	if err != nil && !errors.Is(err, errGone) && !errors.Is(err, errMoving) {
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

// pacer makes several goroutines do something at one pace.
type pacer struct {
	mu   sync.Mutex
	next time.Time
}

// wait returns when it is the caller's turn.
func (p *pacer) wait(ctx context.Context) {
	p.mu.Lock()
	now := time.Now()
	if p.next.Before(now) {
		p.next = now
	}
	turn := p.next.Sub(now)
	p.next = p.next.Add(pace)
	p.mu.Unlock()
	select {
	case <-time.After(turn):
	case <-ctx.Done():
	}
}
