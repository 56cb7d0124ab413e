package db

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
)

// Batcher implements group commit: concurrent work runs in batches, one at a time. A
// caller that finds no batch running becomes the leader and runs one batch for everyone
// who is waiting. Callers that arrive meanwhile wait, and the first of them leads the next
// batch. So a single caller waits for nobody, and its own goroutine uses the database.
//
// With Thread, concurrent batches run on a thread of their own. The next batch then starts
// without waiting for the goroutines that the last one woke, and only one stack grows.
// This is worthwhile if batches keep a CPU busy.
type Batcher[T interface{ waiterOf() Waiter }] struct {
	MaxWaiting int       // more callers are refused with ErrBusy
	MaxBatch   int       // callers in one batch
	Run        func([]T) // runs a batch; calls never overlap
	YieldFirst bool      // a leader lets other goroutines join its batch first
	Thread     bool      // use a thread while callers are concurrent
	AfterBatch func([]T) // runs once the callers know the outcome; may be nil

	mu         sync.Mutex
	waiting    []T
	busy       bool // a batch is running or about to
	batch      []T  // the batch that is running
	batchHold  int  // single-entry batches left before callers lead again; 0: callers lead
	wake       chan bool
	running    sync.WaitGroup // the thread
	panicStack string         // of the last batch that panicked on the thread
}

// Waiter tells a caller the outcome of its batch. Types that a Batcher batches embed one.
type Waiter chan outcome

type outcome int

const (
	committed    outcome = iota
	becomeLeader         // the caller leads the next batch
	aborted              // the batch panicked
	panicked             // the same, and this caller has to pass the panic on
)

var errAborted = errors.New("the batch was abandoned before this write finished")

// NewWaiter returns a Waiter for one call of Submit.
func NewWaiter() Waiter { return make(Waiter, 1) }

func (w Waiter) waiterOf() Waiter { return w }

// Submit returns when the work was run in a batch. An error means that it was not, or
// that it is unknown whether it was.
func (b *Batcher[T]) Submit(work T) error {
	b.mu.Lock()
	if len(b.waiting) == b.MaxWaiting {
		b.mu.Unlock()
		return ErrBusy
	}
	b.waiting = append(b.waiting, work)
	if !b.busy && b.Thread && b.batchHold > 0 {
		b.busy = true
		b.wakeThread()
	} else if !b.busy {
		return b.runAsLeader(work)
	}
	b.mu.Unlock()
	switch <-work.waiterOf() {
	case becomeLeader:
		b.mu.Lock()
		return b.runAsLeader(work)
	case aborted:
		return errAborted
	case panicked:
		b.mu.Lock()
		defer b.mu.Unlock()
		panic(b.panicStack)
	}
	return nil
}

// runAsLeader runs a batch of all that wait. The caller has locked mu; runAsLeader
// unlocks it.
func (b *Batcher[T]) runAsLeader(work T) error {
	b.busy = true
	// The cost of a batch is shared: yield while more callers join.
	for before := 0; b.YieldFirst && before < len(b.waiting) && len(b.waiting) < b.MaxBatch; {
		before = len(b.waiting)
		b.mu.Unlock()
		runtime.Gosched()
		b.mu.Lock()
	}
	b.nextBatch()
	b.mu.Unlock()
	defer b.handOver()
	b.runBatch(work.waiterOf())
	if b.AfterBatch != nil {
		b.AfterBatch(b.batch)
	}
	return nil
}

// nextBatch takes the next batch from those that wait.
func (b *Batcher[T]) nextBatch() {
	n := min(len(b.waiting), b.MaxBatch)
	clear(b.batch)
	b.batch = append(b.batch[:0], b.waiting[:n]...)
	b.waiting = slices.Delete(b.waiting, 0, n)
	switch {
	case n > 1:
		b.batchHold = batchHoldRounds
	case n == 1:
		b.batchHold = max(0, b.batchHold-1)
	}
}

// batchHoldRounds is how many batches of one in a row end the use of the thread.
const batchHoldRounds = 16

// runBatch runs the batch and tells all callers but the leader.
func (b *Batcher[T]) runBatch(leader Waiter) {
	result := aborted
	defer func() {
		for _, other := range b.batch {
			if other.waiterOf() != leader {
				other.waiterOf() <- result
			}
		}
	}()
	b.Run(b.batch)
	result = committed
}

// handOver makes the next waiting caller, or the thread, run the next batch.
func (b *Batcher[T]) handOver() {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch b.busy = len(b.waiting) > 0; {
	case !b.busy:
		clear(b.batch)
	case b.Thread:
		b.wakeThread()
	default:
		b.waiting[0].waiterOf() <- becomeLeader
	}
}

func (b *Batcher[T]) wakeThread() {
	if b.wake == nil {
		wake := make(chan bool, 1)
		b.wake = wake
		b.running.Go(func() { b.onThread(wake) })
	}
	b.wake <- true
}

// onThread runs batches whenever it is woken, until none is left.
func (b *Batcher[T]) onThread(wake <-chan bool) {
	runtime.LockOSThread()
	// Without this the thread would end with the goroutine, and with it the processes that it
	// has started, if they are to die with their parent.
	defer runtime.UnlockOSThread()
	for range wake {
		for {
			b.mu.Lock()
			if b.nextBatch(); len(b.batch) == 0 {
				b.busy = false
				b.mu.Unlock()
				break
			}
			b.mu.Unlock()
			b.runOnThread()
		}
	}
}

// runOnThread runs a batch that no caller leads. If it panics, the panic continues in the
// first caller of the batch.
func (b *Batcher[T]) runOnThread() {
	first := b.batch[0].waiterOf()
	defer func() {
		if r := recover(); r != nil {
			b.mu.Lock()
			b.panicStack = fmt.Sprintf("%v\n%s", r, debug.Stack())
			b.mu.Unlock()
			first <- panicked
		}
	}()
	b.runBatch(first)
	first <- committed
	if b.AfterBatch != nil {
		b.AfterBatch(b.batch)
	}
}

// Close stops the thread and returns when its last AfterBatch has ended. Submit must not
// be called any more.
func (b *Batcher[T]) Close() {
	b.mu.Lock()
	if b.wake != nil {
		close(b.wake)
		b.wake = nil
	}
	b.mu.Unlock()
	b.running.Wait()
}
