package db

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
)

// Batcher makes one of many: what callers want at about the same time is done in
// one go. Whoever finds nobody at work does it, for all who have come by then; who
// comes meanwhile waits, and the first of them does the next. So one who is alone
// waits for nobody, and no goroutine stands between a caller and the database.
//
// Where doing it is work for a processor, and many come, it gets a thread of its own:
// the next go then begins at once, and not after all the goroutines that the last one
// has woken; and one stack grows to what the work needs, not everybody's.
type Batcher[T interface{ waiterOf() Waiter }] struct {
	MaxWaiting int       // so many may wait
	MaxBatch   int       // so many are done in one go
	Run        func([]T) // never at the same time as another
	YieldFirst bool      // those who are about to come are worth waiting for
	Thread     bool      // it is worth a thread while there are many
	AfterBatch func([]T) // what is left to do once they know; nil: nothing

	mu        sync.Mutex
	waiting   []T
	busy      bool
	batch     []T
	batchHold int       // so many more are worth the thread; 0: who comes is alone
	wake      chan bool // for the thread; nil: there is none yet
	running   sync.WaitGroup
	fell      string // what was said when the thread fell over
}

// Waiter is how one who waits learns what became of it.
type Waiter chan outcome

type outcome int

const (
	committed    outcome = iota
	becomeLeader         // it is theirs to do, for all who wait
	aborted              // whoever did it fell over
	panicked             // the same, and it is theirs to tell
)

var errAborted = errors.New("what was to be done together with others was not finished")

func NewWaiter() Waiter { return make(Waiter, 1) }

func (t Waiter) waiterOf() Waiter { return t }

// Submit returns when it was done, or cannot be.
func (t *Batcher[T]) Submit(what T) error {
	t.mu.Lock()
	if len(t.waiting) == t.MaxWaiting {
		t.mu.Unlock()
		return ErrBusy
	}
	t.waiting = append(t.waiting, what)
	if !t.busy && t.Thread && t.batchHold > 0 {
		t.busy = true
		t.wakeThread()
	} else if !t.busy {
		return t.runAsLeader(what)
	}
	t.mu.Unlock()
	switch <-what.waiterOf() {
	case becomeLeader:
		t.mu.Lock()
		return t.runAsLeader(what)
	case aborted:
		return errAborted
	case panicked:
		t.mu.Lock()
		defer t.mu.Unlock()
		panic(t.fell)
	}
	return nil
}

// runAsLeader does it for all who have come, and unlocks.
func (t *Batcher[T]) runAsLeader(what T) error {
	t.busy = true
	// Those who are just about to come are worth letting in: what it costs is
	// shared by all.
	for before := 0; t.YieldFirst && before < len(t.waiting) && len(t.waiting) < t.MaxBatch; {
		before = len(t.waiting)
		t.mu.Unlock()
		runtime.Gosched()
		t.mu.Lock()
	}
	t.nextBatch()
	t.mu.Unlock()
	defer t.handOver()
	t.runBatch(what.waiterOf())
	if t.AfterBatch != nil {
		t.AfterBatch(t.batch)
	}
	return nil
}

// nextBatch has the next of those who wait.
func (t *Batcher[T]) nextBatch() {
	n := min(len(t.waiting), t.MaxBatch)
	clear(t.batch)
	t.batch = append(t.batch[:0], t.waiting[:n]...)
	t.waiting = slices.Delete(t.waiting, 0, n)
	switch {
	case n > 1:
		t.batchHold = batchHoldRounds
	case n == 1:
		t.batchHold = max(0, t.batchHold-1)
	}
}

// batchHoldRounds is how many have to come alone, one after the other, before there is no
// crowd any more.
const batchHoldRounds = 16

// runBatch does the work and tells the others.
func (t *Batcher[T]) runBatch(leader Waiter) {
	became := aborted
	defer func() {
		for _, other := range t.batch {
			if other.waiterOf() != leader {
				other.waiterOf() <- became
			}
		}
	}()
	t.Run(t.batch)
	became = committed
}

// handOver lets the next one lead.
func (t *Batcher[T]) handOver() {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch t.busy = len(t.waiting) > 0; {
	case !t.busy:
		clear(t.batch)
	case t.Thread:
		t.wakeThread()
	default:
		t.waiting[0].waiterOf() <- becomeLeader
	}
}

func (t *Batcher[T]) wakeThread() {
	if t.wake == nil {
		wake := make(chan bool, 1)
		t.wake = wake
		t.running.Go(func() { t.onThread(wake) })
	}
	t.wake <- true
}

// onThread does what there is to do whenever it is woken.
func (t *Batcher[T]) onThread(wake <-chan bool) {
	runtime.LockOSThread()
	for range wake {
		for {
			t.mu.Lock()
			if t.nextBatch(); len(t.batch) == 0 {
				t.busy = false
				t.mu.Unlock()
				break
			}
			t.mu.Unlock()
			t.runOnThread()
		}
	}
}

// runOnThread is perform for nobody in particular: the first of the batch is told
// when it falls over, since somebody has to answer for it.
func (t *Batcher[T]) runOnThread() {
	first := t.batch[0].waiterOf()
	defer func() {
		if r := recover(); r != nil {
			t.mu.Lock()
			t.fell = fmt.Sprintf("%v\n%s", r, debug.Stack())
			t.mu.Unlock()
			first <- panicked
		}
	}()
	t.runBatch(first)
	first <- committed
	if t.AfterBatch != nil {
		t.AfterBatch(t.batch)
	}
}

// Close lets the thread go, and returns when it has: those it told are no longer there,
// and it may still be at what is left to do. Nobody may come any more.
func (t *Batcher[T]) Close() {
	t.mu.Lock()
	if t.wake != nil {
		close(t.wake)
		t.wake = nil
	}
	t.mu.Unlock()
	t.running.Wait()
}
