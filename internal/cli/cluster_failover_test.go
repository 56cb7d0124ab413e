package cli_test

import (
	"sync/atomic"
	"testing"
	"time"
)

const failoverLimit = 5 * time.Second

// writesAgain submits until that is taken.
func writesAgain(t *testing.T, through *program, f survey, key string) {
	t.Helper()
	var refused atomic.Int64
	if through.submitUntilTaken(f, 1, key, &refused) == "" {
		t.FailNow()
	}
}

// killed: the database that takes writes is killed, and the one that follows it
// takes its place. Nothing that was acknowledged is lost, nothing is there twice.
func (n *nodes) killed(t *testing.T) {
	through := n.over(t)
	load := startLoad(t, through, n.f, "killed", submitters)
	load.more(3 * someAnswers)
	begun := time.Now()
	n.db.primary.kill()
	n.db.promote()
	t.Logf("killed and promoted in %v", time.Since(begun).Round(time.Millisecond))
	writesAgain(t, through, n.f, "after the kill")
	n.within(t, "primary killed with -9, standby promoted: writes again", begun, failoverLimit)
	load.more(someAnswers)
	load.finish()
	figure(t, "primary killed with -9 under the load of two nodes", "%d acknowledged, all there once; %d refused meanwhile with 503", load.taken.Load(), load.refused.Load())
}

// hung: the database takes requests and answers none, then it goes on.
func (n *nodes) hung(t *testing.T) {
	n.db.follow()
	through := n.over(t)
	load := startLoad(t, through, n.f, "hung", submitters)
	load.more(someAnswers)
	begun := time.Now()
	n.db.primary.signal(pauseSignal)
	resume := func() { n.db.primary.signal(resumeSignal) }
	t.Cleanup(resume) // once more is no harm
	refused := load.refused.Load()
	// Whatever is refused is refused clearly, which the load looks after.
	through.eventually("refusing", func() bool { return load.refused.Load() > refused || t.Failed() })
	n.within(t, "primary hangs: those who wait are refused clearly", begun, failoverLimit)
	// Also those who come now, and reads.
	asked := time.Now()
	if wrong := through.get("/api/v1/me", n.f.token).unavailable(); wrong != "" {
		t.Errorf("a read while the database hangs: %s", wrong)
	}
	n.within(t, "primary hangs: those who come are refused clearly", asked, failoverLimit)
	begun = time.Now()
	resume()
	writesAgain(t, through, n.f, "after the pause")
	n.within(t, "primary goes on: writes again", begun, failoverLimit)
	load.more(someAnswers)
	load.finish()
	figure(t, "primary hangs under the load of two nodes, and goes on", "%d acknowledged, all there once; %d refused meanwhile with 503", load.taken.Load(), load.refused.Load())
}

// hungForEver: the database hangs and stays so, and the one that follows it takes
// its place.
func (n *nodes) hungForEver(t *testing.T) {
	through := n.over(t)
	load := startLoad(t, through, n.f, "for ever", submitters)
	load.more(someAnswers)
	begun := time.Now()
	hung := n.db.primary
	hung.signal(pauseSignal)
	t.Cleanup(hung.kill)
	n.db.promote()
	writesAgain(t, through, n.f, "beside the one that hangs")
	n.within(t, "primary hangs for ever, standby promoted: writes again", begun, failoverLimit)
	load.more(someAnswers)
	load.finish()
	figure(t, "primary hangs for ever under the load of two nodes", "%d acknowledged, all there once; %d refused meanwhile with 503", load.taken.Load(), load.refused.Load())
}
