package outbox

import (
	"context"
	"errors"
	"sync"
	"time"

	"formulary/internal/fault"
	"formulary/internal/id"
	"formulary/internal/mail"
	"formulary/internal/store"
)

// reader turns new responses to the forms of an account into mails.
type reader struct {
	owner      string
	generation uint64
	read       time.Time     // when it last looked
	rest       time.Duration // until it may look again
	due        time.Time     // of the next digest; zero: none
	dirty      bool          // look, whatever the generation
	running    bool
	settled    map[string]string // positions of forms that had nothing after them, by form
}

const (
	readPage  = 128       // responses that are read at a time
	readBytes = 256 << 10 // of their answers
	maxReads  = 4         // accounts that are read at a time
	// mailsPerCommit is how many mails are put into the queue at a time, if a form has several
	// recipients.
	mailsPerCommit = 512
	// mailsPerCheck is after how many mails the length of the queue is checked.
	mailsPerCheck = 2048
	// fullPause is how long to wait while the queue is full.
	fullPause = time.Second
	// restFactor bounds the share of time that is spent on reading for a busy account.
	restFactor = 2
	// While submissions need the processors, so many are read after so much time.
	slowPage = 32
	slowRead = 500 * time.Millisecond
)

// scanForms finds the accounts of this node whose forms send mails. With all, it looks at them
// again even if nothing seems to have changed.
func (s *Service) scanForms(ctx context.Context, all bool) error {
	owners, err := s.Store.FormMailAccounts(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := map[string]bool{}
	for _, owner := range owners {
		if !s.Leases.Holds(owner) {
			continue
		}
		found[owner] = true
		r := s.readers[owner]
		if r == nil {
			r = &reader{owner: owner, dirty: true, settled: map[string]string{}}
			s.readers[owner] = r
		}
		r.dirty = r.dirty || all
	}
	for owner, r := range s.readers {
		if !found[owner] && !r.running {
			delete(s.readers, owner)
		}
	}
	return nil
}

// startReaders looks at the accounts where something may have happened.
func (s *Service) startReaders(work context.Context, runners *sync.WaitGroup) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	yields := len(s.readers) > 0 && s.Leases.Yields()
	for _, r := range s.readers {
		since := now.Sub(r.read)
		if r.running || since < r.rest || yields && since < slowRead {
			continue
		}
		generation, known := s.Store.EventGeneration(r.owner)
		changed := generation != r.generation
		if !known {
			changed = since >= blindInterval
		}
		due := !r.due.IsZero() && !s.Now().Before(r.due)
		if !changed && !due && !r.dirty {
			continue
		}
		r.running, r.dirty, r.generation, r.read = true, false, generation, now
		runners.Go(func() { s.readForms(work, r) })
	}
}

// readForms reads what is new in the forms of an account.
func (s *Service) readForms(ctx context.Context, r *reader) {
	s.reads <- struct{}{}
	begun := time.Now()
	due, err := s.readAll(store.ForAccount(ctx, "mails/"+r.owner), r)
	<-s.reads
	s.mu.Lock()
	defer s.mu.Unlock()
	r.running, r.due, r.rest = false, due, min(restFactor*time.Since(begun), retryInterval)
	if err != nil {
		r.dirty, r.rest = true, retryInterval
		if ctx.Err() == nil {
			s.outage.log(s.Log, "could not read responses for mails", err)
		}
	}
}

// readAll reads all forms of an account. It returns when the next digest is due.
func (s *Service) readAll(ctx context.Context, r *reader) (next time.Time, err error) {
	list, err := s.Store.FormMails(ctx, r.owner)
	if err != nil {
		return next, err
	}
	for _, m := range list {
		if s.stopping.Load() || !s.Leases.Holds(r.owner) {
			return next, nil
		}
		if m.Behind && r.settled[m.FormID] != m.End {
			switch err := s.readForm(ctx, r.owner, m); {
			case errors.Is(err, errFull):
				next = s.Now().Add(fullPause)
			case isRealError(err):
				return next, err
			case err == nil:
				r.settled[m.FormID] = m.End
			}
		}
		if !m.DigestBehind {
			continue
		}
		due, err := s.digest(ctx, r.owner, m)
		if isRealError(err) {
			return next, err
		}
		if !due.IsZero() && (next.IsZero() || due.Before(next)) {
			next = due
		}
	}
	return next, nil
}

// isRealError reports whether an error is more than a form that was deleted, or another node
// that was faster.
func isRealError(err error) bool {
	return err != nil && !errors.Is(err, fault.NotFound) && !errors.Is(err, store.ErrPositionMoved)
}

// errFull says that enough mails wait.
var errFull = errors.New("the queue is full")

// readForm puts mails about the responses after the form's position into the queue.
func (s *Service) readForm(ctx context.Context, owner string, m store.FormMail) error {
	for queued := mailsPerCheck; ; {
		f, err := s.source(ctx, owner, m.FormID)
		if err != nil {
			return err
		}
		limit := int64(min(readPage, mailsPerCommit/(len(f.recipients)+1)))
		if s.Leases.Yields() {
			time.Sleep(slowRead)
			limit = min(limit, slowPage)
		}
		// While mails cannot be sent, responses are a better place to wait than the queue.
		if queued >= mailsPerCheck {
			queued = 0
			if many, err := s.Store.HasManyMails(ctx, owner); err != nil || many {
				return errors.Join(err, errFull)
			}
		}
		part := store.EventRange{After: m.Position, Limit: limit, Bytes: readBytes, Kinds: []store.EventKind{store.ResponseCreated}}
		list, more, err := s.Store.Events(ctx, owner, m.FormID, part)
		if err != nil || len(list) == 0 {
			return err
		}
		c := store.FormMailCommit{FormID: m.FormID, From: m.Position, Position: list[len(list)-1].Position}
		for _, e := range list {
			if err := s.mailsOf(ctx, f, m, e, &c); err != nil {
				return err
			}
		}
		if err := s.queueMails(ctx, owner, c); err != nil {
			return err
		}
		m.Position = c.Position
		queued += len(c.Mails) + len(c.Receipts)
		if !more || s.stopping.Load() {
			return nil
		}
	}
}

// queueMails puts mails into the queue.
func (s *Service) queueMails(ctx context.Context, owner string, c store.FormMailCommit) error {
	skipped, err := s.Store.CommitFormMails(ctx, owner, c, s.Now())
	if err != nil {
		return err
	}
	s.metrics.skipped.Add(int64(skipped))
	s.wake(owner)
	return nil
}

// mailsOf adds the mails about one response.
func (s *Service) mailsOf(ctx context.Context, f *source, m store.FormMail, e store.Event, c *store.FormMailCommit) error {
	now := s.Now()
	base := store.Mail{FormID: m.FormID, ResponseID: e.ResponseID, CreatedAt: now}
	if m.Frequency == store.NotifyEach {
		base.Kind, base.Language = mail.Notification{}.Name(), f.owner.Language
		for _, link := range f.recipients {
			base.ID, base.Recipient = id.New(id.Mail, now), link.Email
			c.Mails = append(c.Mails, base)
		}
	}
	// Without a confirmed address of the owner, strangers could send mails in our name.
	if !m.Receipt.Active || f.owner.EmailVerifiedAt.IsZero() {
		return nil
	}
	r, err := s.entry(ctx, f.owner.ID, *e.Response)
	if err != nil {
		return err
	}
	if address := r.address(m.Receipt.Field); address != "" && m.Receipt.Field != "" {
		base.Kind, base.Language = mail.Receipt{}.Name(), m.Language
		base.ID, base.Recipient = id.New(id.Mail, now), address
		c.Receipts = append(c.Receipts, base)
	}
	return nil
}
