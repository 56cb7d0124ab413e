package db

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

type testWork struct {
	Waiter
	ran atomic.Int64
}

// All work is run once, batches never overlap, and a single caller waits for no other.
func TestBatcher(t *testing.T) {
	for _, kind := range []struct{ yieldFirst, thread bool }{{}, {yieldFirst: true}, {thread: true}} {
		var at, rounds, after atomic.Int64
		all := Batcher[*testWork]{MaxWaiting: 1000, MaxBatch: 7, YieldFirst: kind.yieldFirst, Thread: kind.thread}
		all.Run = func(batch []*testWork) {
			if at.Add(1) != 1 || len(batch) == 0 || len(batch) > 7 {
				t.Errorf("%d batches overlap, batch of %d", at.Load(), len(batch))
			}
			for _, e := range batch {
				e.ran.Add(1)
			}
			rounds.Add(1)
			at.Add(-1)
		}
		all.AfterBatch = func(batch []*testWork) { after.Add(int64(len(batch))) }
		var callers sync.WaitGroup
		for range 50 {
			callers.Go(func() {
				for range 200 {
					e := &testWork{Waiter: NewWaiter()}
					if err := all.Submit(e); err != nil || e.ran.Load() != 1 {
						t.Errorf("run %d times: %v", e.ran.Load(), err)
					}
				}
			})
		}
		callers.Wait()
		for after.Load() < 50*200 { // AfterBatch runs after the callers return
			runtime.Gosched()
		}
		if n := rounds.Load(); n < 50*200/7 || n > 50*200 {
			t.Errorf("%d rounds", n)
		}
		before := rounds.Load()
		if err := all.Submit(&testWork{Waiter: NewWaiter()}); err != nil || rounds.Load() != before+1 {
			t.Errorf("alone: %v", err)
		}
		all.Close()
	}
}

// A panic reaches one caller; the others of the batch get an error, and later batches run.
func TestBatcherPanics(t *testing.T) {
	t.Run("leaders", func(t *testing.T) { threeAtOnce(t, false) })
	t.Run("thread", func(t *testing.T) { threeAtOnce(t, true) })
}

func threeAtOnce(t *testing.T, thread bool) {
	started, resume := make(chan bool), make(chan bool)
	all := Batcher[*testWork]{MaxWaiting: 3, MaxBatch: 10, Thread: thread}
	defer all.Close()
	first := true
	all.Run = func(batch []*testWork) {
		if first {
			first = false
			started <- true
			<-resume
			return
		}
		if len(batch) == 3 {
			panic("three are too many")
		}
	}
	var callers sync.WaitGroup
	callers.Go(func() {
		if err := all.Submit(&testWork{Waiter: NewWaiter()}); err != nil {
			t.Errorf("the first: %v", err)
		}
	})
	<-started
	var panicked, abortedCalls, busy atomic.Int64
	for range 4 {
		callers.Go(func() {
			defer func() {
				if recover() != nil {
					panicked.Add(1)
				}
			}()
			switch err := all.Submit(&testWork{Waiter: NewWaiter()}); {
			case errors.Is(err, errAborted):
				abortedCalls.Add(1)
			case errors.Is(err, ErrBusy):
				busy.Add(1)
				resume <- true // the maximum number of callers waits now
			default:
				t.Errorf("done: %v", err)
			}
		})
	}
	callers.Wait()
	if panicked.Load() != 1 || abortedCalls.Load() != 2 || busy.Load() != 1 {
		t.Errorf("%d panicked, %d aborted, %d refused; want 1, 2, 1", panicked.Load(), abortedCalls.Load(), busy.Load())
	}
	if err := all.Submit(&testWork{Waiter: NewWaiter()}); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestMultiRowInsert(t *testing.T) {
	const one = "INSERT INTO x (a, b, c) VALUES ($1, $2, $3)"
	const failing = "INSERT OR FAIL INTO x (a, b, c) VALUES ($1, $2, $3)"
	for _, c := range []struct {
		same, rows int
		want       string
	}{
		{0, 1, failing},
		{0, 3, failing + ", ($4, $5, $6), ($7, $8, $9)"},
		{1, 1, failing},
		{1, 3, failing + ", ($1, $4, $5), ($1, $6, $7)"},
	} {
		if got := multiRowInsert(one, c.same, c.rows); got != c.want {
			t.Errorf("%d rows with %d in common: %s", c.rows, c.same, got)
		}
	}
}
