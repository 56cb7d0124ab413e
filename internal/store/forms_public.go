package store

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
)

const (
	publicSQL = `SELECT f.account_id, f.id, f.status, f.version, COALESCE(v.title, f.title), COALESCE(v.description, f.description),
		COALESCE(v.language, f.language), f.slug, f.opens_at, f.closes_at, f.response_limit, f.sites, f.opening_due, f.closed_at
		FROM form_address a JOIN form f ON f.account_id = a.account_id AND f.id = a.form_id
		LEFT JOIN form_version v ON v.account_id = f.account_id AND v.form_id = f.id AND v.version = f.version
		WHERE a.address = $1 AND a.account_id = $2 AND f.account_id = $2 AND a.released_at = 0`
	ownerSQL = `SELECT account_id FROM form_address WHERE address = $1 AND released_at = 0`

	publicBytes  = 16 << 20 // size of the cache of forms
	maxAddresses = 10_000   // entries in the cache of owners
	maxAddress   = 64       // bytes

	maxOwnerTries = 3
)

// PublicForm is a form as respondents see it. It is shared between requests: do not
// modify it.
type PublicForm struct {
	Owner        string
	ID           string
	Status       form.Status
	Version      int64
	Header       form.Header
	Availability form.Availability
	Definition   *form.Definition
	ClosedAt     time.Time // by the owner; zero: it is open, or the time is not known

	Generation Generation // for caches of derived values

	openingDue time.Time // form.opened is to be stored then; zero: it is not
}

// IsOpenAt reports whether the form accepts responses at the time.
func (p *PublicForm) IsOpenAt(now time.Time) bool {
	return p.Status == form.Open && (p.Availability.ClosesAt.IsZero() || now.Before(p.Availability.ClosesAt)) && !now.Before(p.Availability.OpensAt)
}

// size estimates the memory of the form.
func (p *PublicForm) size() int64 {
	return 1024 + int64(len(p.Header.Title)+len(p.Header.Description)+len(p.Availability.Sites)) + p.Definition.Size()
}

// addresses caches the owners of forms by address (ID or custom link).
type addresses struct {
	owners sync.Map
	n      atomic.Int64
}

func (a *addresses) of(address string) (owner string, ok bool) {
	known, ok := a.owners.Load(address)
	if ok {
		owner = known.(string)
	}
	return owner, ok
}

func (a *addresses) put(address, owner string) {
	if _, known := a.owners.Swap(address, owner); !known && a.n.Add(1) > maxAddresses {
		a.owners.Clear()
		a.n.Store(0)
	}
}

func (a *addresses) delete(address string) {
	if _, known := a.owners.LoadAndDelete(address); known {
		a.n.Add(-1)
	}
}

// readPublicForm reads a form of a known owner, which a distributed database needs to
// find it on one shard.
func (s *Store) readPublicForm(ctx context.Context, owner, address string, generation Generation) (*PublicForm, error) {
	ctx = forRespondents(ctx, owner)
	p := &PublicForm{Generation: generation}
	var status string
	var opens, closes, due, closed int64
	err := queryOne(s.query(ctx), publicSQL, []any{address, owner}, &p.Owner, &p.ID, &status, &p.Version, &p.Header.Title, &p.Header.Description, &p.Header.Language,
		&p.Availability.Slug, &opens, &closes, &p.Availability.ResponseLimit, &p.Availability.Sites, &due, &closed)
	if err != nil {
		return nil, err
	}
	p.Availability.OpensAt, p.Availability.ClosesAt = fromMillis(opens), fromMillis(closes)
	p.openingDue = fromMillis(due)
	if p.Status = form.Status(status); p.Status == form.Closed {
		p.ClosedAt = fromMillis(closed)
	}
	if p.Version == 0 {
		p.Definition = &form.Definition{Fields: []*form.Field{}}
		return p, nil
	}
	// A version never changes, so its definition is parsed once.
	if p.Definition, err = s.Definition(ctx, p.Owner, p.ID, p.Version); err != nil {
		return nil, err
	}
	return p, nil
}

// PublicForm finds the live version of a form by ID or custom link. A form that was
// never published is not open and has no questions.
func (s *Store) PublicForm(ctx context.Context, address string) (_ *PublicForm, err error) {
	defer wrap(&err, "read public form")
	if owner, ok := s.owners.of(address); ok {
		p, generation, ok := s.public.Get(owner, address)
		if ok {
			return p, nil
		}
		p, err := s.readPublicForm(ctx, owner, address, generation)
		if !errors.Is(err, fault.NotFound) {
			if err == nil {
				s.public.Put(address, generation, p, p.size())
			}
			return p, err
		}
		s.owners.delete(address) // the address may belong to another owner now
	}
	if address == "" || len(address) > maxAddress || strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fault.NotFound
	}
	for try := 1; ; try++ {
		var owner string
		if err := queryOne(s.query(ctx), ownerSQL, []any{address}, &owner); err != nil {
			return nil, err
		}
		p, err := s.readPublicForm(ctx, owner, address, Generation{})
		if err == nil {
			s.owners.put(address, owner)
		}
		if !errors.Is(err, fault.NotFound) {
			return p, err
		}
		// A form that has just arrived at another owner is found by the next try.
		if err = s.whyMissing(ctx, owner, address); !errors.Is(err, fault.NotFound) || try == maxOwnerTries {
			return nil, err
		}
	}
}

// whyMissing returns the error for a form that its owner does not have.
func (s *Store) whyMissing(ctx context.Context, owner, address string) error {
	var formID string
	err := queryOne(s.query(ctx), movingFormSQL, []any{address, owner}, &formID)
	if err == nil {
		return errMoving()
	}
	return err
}
