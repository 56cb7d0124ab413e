package file

import (
	"context"
	"fmt"
	"io"
	"iter"
	"sync"
	"time"

	"formulary/internal/blob"
	"formulary/internal/fault"
	"formulary/internal/store"
)

// Places is where files are. While they are moved, that is two places: new files go to the
// new one, and reads try both. Which places is in the database, so that a running service
// notices a move that a command starts.
type Places struct {
	place string // the setting of this process
	store *store.Store
	open  func(place string) (blob.Store, error)

	mu      sync.Mutex
	move    store.FileMove
	checked time.Time
	main    blob.Store
	other   blob.Store // nil: no move
	current string
}

// movesCheckedEvery is how long a process may take to notice a move. Move waits for it.
const movesCheckedEvery = 2 * time.Second

// OpenPlaces opens where files are.
func OpenPlaces(ctx context.Context, s *store.Store, place string, open func(place string) (blob.Store, error)) (*Places, error) {
	p := &Places{place: place, store: s, open: open}
	main, err := open(place)
	if err != nil {
		return nil, err
	}
	p.main, p.current = main, place
	move, err := s.FileMove(ctx)
	if err != nil {
		return nil, err
	}
	return p, p.follow(move)
}

// follow opens the places of a move.
func (p *Places) follow(move store.FileMove) error {
	p.checked = time.Now()
	if move == p.move {
		return nil
	}
	switch {
	case move.From == p.current:
		to, err := p.open(move.To)
		if err != nil {
			return fmt.Errorf("files were moved to %s: %w", move.To, err)
		}
		from, err := p.open(move.From)
		if err != nil {
			return err
		}
		p.main, p.other, p.current = to, from, move.To
	case move.To == p.current:
		from, err := p.open(move.From)
		if err != nil {
			// It may be gone after a complete move.
			from = nil
		}
		p.other = from
	default:
		p.other = nil
	}
	p.move = move
	return nil
}

// now returns the places as of now.
func (p *Places) now(ctx context.Context) (main, other blob.Store) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.checked) > movesCheckedEvery {
		p.checked = time.Now()
		// Without the database, the last known places are used.
		if move, err := p.store.FileMove(ctx); err == nil {
			p.follow(move) // if the new place cannot be opened, the old one stays in use
		}
	}
	return p.main, p.other
}

// Current returns where new files go.
func (p *Places) Current() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current
}

func (p *Places) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	main, _ := p.now(ctx)
	return main.Put(ctx, key, r, size)
}

func (p *Places) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	main, other := p.now(ctx)
	content, err := main.Open(ctx, key, offset, length)
	if err == nil || other == nil {
		return content, err
	}
	if content, tried := other.Open(ctx, key, offset, length); tried == nil {
		return content, nil
	}
	// It may have been moved between the two.
	return main.Open(ctx, key, offset, length)
}

// Delete deletes an object in both places: in the new one last, because a move copies before
// it deletes.
func (p *Places) Delete(ctx context.Context, key string) error {
	main, other := p.now(ctx)
	if other != nil {
		if err := other.Delete(ctx, key); err != nil {
			return err
		}
	}
	return main.Delete(ctx, key)
}

func (p *Places) All(ctx context.Context) iter.Seq2[blob.Object, error] {
	main, other := p.now(ctx)
	return func(yield func(blob.Object, error) bool) {
		for _, place := range []blob.Store{main, other} {
			if place == nil {
				continue
			}
			for object, err := range place.All(ctx) {
				if !yield(object, err) || err != nil {
					return
				}
			}
		}
	}
}

var _ blob.Store = (*Places)(nil)

// isMissing reports whether an object does not exist.
func isMissing(err error) bool {
	return err != nil && fault.Wrap(err).Code == fault.NotFoundInAccount
}
