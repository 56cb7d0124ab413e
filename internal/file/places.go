package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
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
	return p, p.check(ctx)
}

// check follows a move that is noted in the database.
func (p *Places) check(ctx context.Context) error {
	start := time.Now()
	move, err := p.store.FileMove(ctx)
	if err != nil {
		return err
	}
	if err := p.follow(move); err != nil {
		return err
	}
	p.checked = start
	return nil
}

// follow opens the places of a move. A process whose setting is an older place than that of the
// last move follows all moves since.
func (p *Places) follow(move store.FileMove) error {
	if move.From == p.move.From && move.To == p.move.To {
		return nil
	}
	switch {
	case move.To == p.current:
		from, err := p.open(move.From)
		if err != nil {
			// It may be gone after a complete move.
			from = nil
		}
		p.other = from
	case move.From == p.current || slices.Contains(move.Earlier, p.current):
		to, err := p.open(move.To)
		if err != nil {
			return fault.StorageUnavailable(fmt.Errorf("files were moved to %s: %w", move.To, err))
		}
		from, err := p.open(move.From)
		if err != nil {
			if move.From == p.current {
				return err
			}
			from = nil
		}
		p.main, p.other, p.current = to, from, move.To
	default:
		p.other = nil
	}
	p.move = move
	return nil
}

// now returns the places as of at most movesCheckedEvery ago. If there is an error, they are
// older, or the new place cannot be opened.
func (p *Places) now(ctx context.Context) (main, other blob.Store, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.checked) > movesCheckedEvery {
		err = p.check(ctx)
	}
	return p.main, p.other, err
}

// forReading is now for callers that need no certainty: without the database, the last known
// places are used.
func (p *Places) forReading(ctx context.Context) (main, other blob.Store) {
	main, other, _ = p.now(ctx)
	return main, other
}

// Current returns where new files go.
func (p *Places) Current() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current
}

// Put stores an object. If files are moved while it is stored, the object follows: the move may
// be complete by then, and nothing may be left in the old place.
func (p *Places) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	main, _, err := p.now(ctx)
	if err != nil {
		return err
	}
	if err := main.Put(ctx, key, r, size); err != nil {
		return err
	}
	for {
		next, _, err := p.now(ctx)
		if err == nil && next == main {
			return nil
		}
		if err == nil {
			err = moveObject(ctx, main, next, key)
		}
		if err != nil {
			// If it cannot be deleted, it is swept later.
			return errors.Join(fmt.Errorf("follow a move of files: %w", err), main.Delete(context.WithoutCancel(ctx), key))
		}
		main = next
	}
}

func (p *Places) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	main, other := p.forReading(ctx)
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
	main, other := p.forReading(ctx)
	if other != nil {
		if err := other.Delete(ctx, key); err != nil {
			return err
		}
	}
	return main.Delete(ctx, key)
}

func (p *Places) All(ctx context.Context) iter.Seq2[blob.Object, error] {
	main, other := p.forReading(ctx)
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
