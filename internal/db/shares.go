package db

import (
	"context"
	"sync"
	"time"

	"formulary/internal/fault"
)

// One account must not keep the others from the database, whether by slow searches or
// because the machine that has its data hangs. So each account may use a few connections
// at a time, and some connections are left to work that belongs to no account, such as
// sign-in and health checks.

// Share is the part of the connections that some work may use. Work of no share waits
// only for a connection.
type Share struct {
	Account  string // whose share it is; any text that differs between shares
	Reserved bool   // may use the connections that are reserved for short work
}

type shareKey struct{}

// WithShare attributes database work to a share.
func WithShare(ctx context.Context, s Share) context.Context {
	return context.WithValue(ctx, shareKey{}, s)
}

// ShareOf returns the share that ctx attributes work to; without one it is empty.
func ShareOf(ctx context.Context) Share {
	s, _ := ctx.Value(shareKey{}).(Share)
	return s
}

// readLimit bounds one read of a share that is not reserved.
const readLimit = 10 * time.Second

// MaxWaiting is how many requests of one share can wait for the database, if it is not
// reserved. More are refused as too many requests.
const MaxWaiting = 256

var errTooSlow = fault.New(fault.DatabaseUnreachable, "This request takes too long. Narrow it down, for example to a shorter period.").WithRetryAfter(1)

// shares admit work to a number of connections.
type shares struct {
	each    int           // connections that one account may use at a time
	general chan struct{} // taken by work that is not reserved
	all     chan struct{} // taken by all work that has a share

	mu       sync.Mutex
	accounts map[string]*accountShare
}

type accountShare struct {
	held    chan struct{}
	waiting int // requests that wait or hold a connection
}

// newShares divides connections: a quarter is left to reserved work and to work of no
// share, and at least one of those to work of no share.
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
	w := ShareOf(ctx)
	if w.Account == "" {
		return nil
	}
	share, err := s.join(w)
	if err != nil {
		return err
	}
	select {
	case share.held <- struct{}{}:
	case <-ctx.Done():
		s.release(w.Account, nil)
		return ctx.Err()
	}
	if !w.Reserved {
		select {
		case s.general <- struct{}{}:
		case <-ctx.Done():
			s.release(w.Account, share)
			return ctx.Err()
		}
	}
	select {
	case s.all <- struct{}{}:
		return nil
	case <-ctx.Done():
		if !w.Reserved {
			<-s.general
		}
		s.release(w.Account, share)
		return ctx.Err()
	}
}

func (s *shares) leave(ctx context.Context) {
	w := ShareOf(ctx)
	if w.Account == "" {
		return
	}
	<-s.all
	if !w.Reserved {
		<-s.general
	}
	s.mu.Lock()
	share := s.accounts[w.Account]
	s.mu.Unlock()
	s.release(w.Account, share)
}

func (s *shares) join(w Share) (*accountShare, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	share := s.accounts[w.Account]
	if share == nil {
		share = &accountShare{held: make(chan struct{}, s.each)}
		s.accounts[w.Account] = share
	}
	// Reserved work is short, so even many requests do not wait for long.
	if !w.Reserved && share.waiting >= MaxWaiting {
		return nil, fault.TooManyRequests(1)
	}
	share.waiting++
	return share, nil
}

// release ends a join; held is the share if one of its connections is given back.
func (s *shares) release(account string, held *accountShare) {
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
