package store

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
)

// together makes one of many: what callers want at about the same time is done in
// one go. Whoever finds nobody at work does it, for all who have come by then; who
// comes meanwhile waits, and the first of them does the next. So one who is alone
// waits for nobody, and no goroutine stands between a caller and the database.
//
// Where doing it is work for a processor, and many come, it gets a thread of its own:
// the next go then begins at once, and not after all the goroutines that the last one
// has woken; and one stack grows to what the work needs, not everybody's.
type together[T interface{ mine() turn }] struct {
	most    int       // so many may wait
	size    int       // so many are done in one go
	work    func([]T) // never at the same time as another
	patient bool      // those who are about to come are worth waiting for
	thread  bool      // it is worth a thread while there are many
	then    func([]T) // what is left to do once they know; nil: nothing

	mu      sync.Mutex
	waiting []T
	busy    bool
	batch   []T
	crowd   int       // so many more are worth the thread; 0: who comes is alone
	wake    chan bool // for the thread; nil: there is none yet
	running sync.WaitGroup
	fell    string // what was said when the thread fell over
}

// turn is how one who waits learns what became of it.
type turn chan signal

type signal int

const (
	done signal = iota
	lead        // it is theirs to do, for all who wait
	lost        // whoever did it fell over
	fell        // the same, and it is theirs to tell
)

var errLost = errors.New("the batch was abandoned before this write finished")

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
	if !t.busy && t.thread && t.crowd > 0 {
		t.busy = true
		t.wakeThread()
	} else if !t.busy {
		return t.lead(what)
	}
	t.mu.Unlock()
	switch <-what.mine() {
	case lead:
		t.mu.Lock()
		return t.lead(what)
	case lost:
		return errLost
	case fell:
		t.mu.Lock()
		defer t.mu.Unlock()
		panic(t.fell)
	}
	return nil
}

// lead does it for all who have come, and unlocks.
func (t *together[T]) lead(what T) error {
	t.busy = true
	// Those who are just about to come are worth letting in: what it costs is
	// shared by all.
	for before := 0; t.patient && before < len(t.waiting) && len(t.waiting) < t.size; {
		before = len(t.waiting)
		t.mu.Unlock()
		runtime.Gosched()
		t.mu.Lock()
	}
	t.take()
	t.mu.Unlock()
	defer t.pass()
	t.perform(what.mine())
	if t.then != nil {
		t.then(t.batch)
	}
	return nil
}

// take has the next of those who wait.
func (t *together[T]) take() {
	n := min(len(t.waiting), t.size)
	clear(t.batch)
	t.batch = append(t.batch[:0], t.waiting[:n]...)
	t.waiting = slices.Delete(t.waiting, 0, n)
	switch {
	case n > 1:
		t.crowd = crowdStays
	case n == 1:
		t.crowd = max(0, t.crowd-1)
	}
}

// crowdStays is how many have to come alone, one after the other, before there is no
// crowd any more.
const crowdStays = 16

// perform does the work and tells the others.
func (t *together[T]) perform(leader turn) {
	became := lost
	defer func() {
		for _, other := range t.batch {
			if other.mine() != leader {
				other.mine() <- became
			}
		}
	}()
	t.work(t.batch)
	became = done
}

// pass lets the next one lead.
func (t *together[T]) pass() {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch t.busy = len(t.waiting) > 0; {
	case !t.busy:
		clear(t.batch)
	case t.thread:
		t.wakeThread()
	default:
		t.waiting[0].mine() <- lead
	}
}

func (t *together[T]) wakeThread() {
	if t.wake == nil {
		wake := make(chan bool, 1)
		t.wake = wake
		t.running.Go(func() { t.onThread(wake) })
	}
	t.wake <- true
}

// onThread does what there is to do whenever it is woken.
func (t *together[T]) onThread(wake <-chan bool) {
	runtime.LockOSThread()
	for range wake {
		for {
			t.mu.Lock()
			if t.take(); len(t.batch) == 0 {
				t.busy = false
				t.mu.Unlock()
				break
			}
			t.mu.Unlock()
			t.performThere()
		}
	}
}

// performThere is perform for nobody in particular: the first of the batch is told
// when it falls over, since somebody has to answer for it.
func (t *together[T]) performThere() {
	first := t.batch[0].mine()
	defer func() {
		if r := recover(); r != nil {
			t.mu.Lock()
			t.fell = fmt.Sprintf("%v\n%s", r, debug.Stack())
			t.mu.Unlock()
			first <- fell
		}
	}()
	t.perform(first)
	first <- done
	if t.then != nil {
		t.then(t.batch)
	}
}

// end lets the thread go, and returns when it has: those it told are no longer there,
// and it may still be at what is left to do. Nobody may come any more.
func (t *together[T]) end() {
	t.mu.Lock()
	if t.wake != nil {
		close(t.wake)
		t.wake = nil
	}
	t.mu.Unlock()
	t.running.Wait()
}
