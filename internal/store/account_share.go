package store

import (
	"context"
	"sync"
	"time"

	"formulary/internal/fault"
)

// One account must not keep the others from the database, whether by slow searches or
// because the machine that has its data hangs. So each account may use a few connections
// at a time, and some connections are left to work that belongs to no account: signing
// in, health checks and looking up public forms.

type workKey struct{}

// work is on whose behalf the database is used.
type work struct {
	account  string
	reserved bool // it may use the connections that are reserved
}

// ForAccount attributes database work to an account, which then gets no more than its
// share of the connections, and no more time than readLimit for one read. It decides
// nothing about access: whose data is read is always in the arguments.
func ForAccount(ctx context.Context, account string) context.Context {
	return context.WithValue(ctx, workKey{}, work{account: account})
}

// forRespondents attributes what respondents do to the form's owner. They have a share of
// their own, so that they do not wait for their owner's searches.
func forRespondents(ctx context.Context, owner string) context.Context {
	return context.WithValue(ctx, workKey{}, work{account: "respondents/" + owner, reserved: true})
}

// forCaller attributes finding out who calls to the account that the token or the session
// names. Nothing is known of the caller yet, so it has a share of its own.
func forCaller(ctx context.Context, account string) context.Context {
	return context.WithValue(ctx, workKey{}, work{account: "caller/" + account, reserved: true})
}

// attributed attributes work to the respondents of an owner, unless it is attributed.
func attributed(ctx context.Context, owner string) context.Context {
	if shareFor(ctx).account != "" {
		return ctx
	}
	return forRespondents(ctx, owner)
}

func shareFor(ctx context.Context) work {
	w, _ := ctx.Value(workKey{}).(work)
	return w
}

// readLimit bounds one read on behalf of an account.
const readLimit = 10 * time.Second

// maxWaiting is how many requests on behalf of one account can wait for the database.
const maxWaiting = 256

var errTooSlow = fault.New(fault.DatabaseUnreachable, "This request takes too long. Narrow it down, for example to a shorter period.").WithRetryAfter(1)

// shares admit work to a number of connections.
type shares struct {
	each    int           // connections that one account may use at a time
	general chan struct{} // connections that accounts may use at a time, all together
	all     chan struct{} // the same with respondents and callers

	mu       sync.Mutex
	accounts map[string]*accountShare
}

type accountShare struct {
	held    chan struct{}
	waiting int // including those who hold one
}

// newShares divides so many connections: a quarter is left to respondents, callers and
// work of no account, and at least one of that to the latter.
func newShares(connections int) *shares {
	general := max(1, connections-max(1, connections/4))
	all := max(general, connections-max(1, connections/8))
	return &shares{
		each: max(1, general/3), general: make(chan struct{}, general), all: make(chan struct{}, all),
		accounts: map[string]*accountShare{},
	}
}

// enter waits for the share of the context's account. Each call that returns nil needs a
// call of leave with the same context.
func (s *shares) enter(ctx context.Context) error {
	w := shareFor(ctx)
	if w.account == "" {
		return nil
	}
	share, err := s.join(w)
	if err != nil {
		return err
	}
	select {
	case share.held <- struct{}{}:
	case <-ctx.Done():
		s.accountLimit(w.account, nil)
		return ctx.Err()
	}
	if !w.reserved {
		select {
		case s.general <- struct{}{}:
		case <-ctx.Done():
			s.accountLimit(w.account, share)
			return ctx.Err()
		}
	}
	select {
	case s.all <- struct{}{}:
		return nil
	case <-ctx.Done():
		if !w.reserved {
			<-s.general
		}
		s.accountLimit(w.account, share)
		return ctx.Err()
	}
}

func (s *shares) leave(ctx context.Context) {
	w := shareFor(ctx)
	if w.account == "" {
		return
	}
	<-s.all
	if !w.reserved {
		<-s.general
	}
	s.mu.Lock()
	share := s.accounts[w.account]
	s.mu.Unlock()
	s.accountLimit(w.account, share)
}

func (s *shares) join(w work) (*accountShare, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	share := s.accounts[w.account]
	if share == nil {
		share = &accountShare{held: make(chan struct{}, s.each)}
		s.accounts[w.account] = share
	}
	// Respondents and callers do short reads: a crowd of them only has to wait a little.
	if !w.reserved && share.waiting >= maxWaiting {
		return nil, fault.TooManyRequests(1)
	}
	share.waiting++
	return share, nil
}

// accountLimit ends a join; held is the share if one of its connections is given back.
func (s *shares) accountLimit(account string, held *accountShare) {
	if held != nil {
		<-held.held
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	share := s.accounts[account]
	if share.waiting--; share.waiting == 0 {
		delete(s.accounts, account)
	}
}
