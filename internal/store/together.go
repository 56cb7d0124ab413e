package store

import (
	"errors"
	"runtime"
	"slices"
	"sync"
)

// together makes one of many: what callers want at about the same time is done in
// one go. Whoever finds nobody at work does it, for all who have come by then; who
// comes meanwhile waits, and the first of them does the next. So one who is alone
// waits for nobody, and no goroutine stands between a caller and the database.
type together[T interface{ mine() turn }] struct {
	most    int       // so many may wait
	size    int       // so many are done in one go
	work    func([]T) // never at the same time as another
	patient bool      // those who are about to come are worth waiting for
	then    func([]T) // what is left to do once they know; nil: nothing

	mu      sync.Mutex
	waiting []T
	busy    bool
	batch   []T
}

// turn is how one who waits learns what became of it.
type turn chan signal

type signal int

const (
	done signal = iota
	lead        // it is theirs to do, for all who wait
	lost        // whoever did it fell over
)

var errLost = errors.New("what was to be done together with others was not finished")

func newTurn() turn { return make(turn, 1) }

func (t turn) mine() turn { return t }

// do returns when it was done, or cannot be.
func (t *together[T]) do(what T) error {
	t.mu.Lock()
	if len(t.waiting) == t.most {
		t.mu.Unlock()
		return errBusy
	}
	t.waiting = append(t.waiting, what)
	if t.busy {
		t.mu.Unlock()
		switch <-what.mine() {
		case done:
			return nil
		case lost:
			return errLost
		}
		t.mu.Lock()
	}
	t.busy = true
	// Those who are just about to come are worth letting in: what it costs is
	// shared by all.
	for before := 0; t.patient && before < len(t.waiting) && len(t.waiting) < t.size; {
		before = len(t.waiting)
		t.mu.Unlock()
		runtime.Gosched()
		t.mu.Lock()
	}
	n := min(len(t.waiting), t.size)
	t.batch = append(t.batch[:0], t.waiting[:n]...)
	t.waiting = slices.Delete(t.waiting, 0, n)
	t.mu.Unlock()

	defer t.pass()
	t.perform(what)
	if t.then != nil {
		t.then(t.batch)
	}
	return nil
}

// perform does the work and tells the others.
func (t *together[T]) perform(leader T) {
	became := lost
	defer func() {
		for _, other := range t.batch {
			if other.mine() != leader.mine() {
				other.mine() <- became
			}
		}
	}()
	t.work(t.batch)
	became = done
}

// pass lets the next one lead.
func (t *together[T]) pass() {
	clear(t.batch)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.busy = len(t.waiting) > 0; t.busy {
		t.waiting[0].mine() <- lead
	}
}
