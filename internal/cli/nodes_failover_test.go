package cli_test

import (
	"sync/atomic"
	"syscall"
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
	within(t, "writes again", begun, failoverLimit)
	load.more(someAnswers)
	load.finish()
	t.Logf("%d acknowledged, %d refused meanwhile", load.taken.Load(), load.refused.Load())
}

// hung: the database takes requests and answers none, then it goes on.
func (n *nodes) hung(t *testing.T) {
	n.db.follow()
	through := n.over(t)
	load := startLoad(t, through, n.f, "hung", submitters)
	load.more(someAnswers)
	begun := time.Now()
	n.db.primary.signal(syscall.SIGSTOP)
	resume := func() { n.db.primary.signal(syscall.SIGCONT) }
	t.Cleanup(resume) // once more is no harm
	refused := load.refused.Load()
	// Whatever is refused is refused clearly, which the load looks after.
	through.eventually("refusing", func() bool { return load.refused.Load() > refused || t.Failed() })
	within(t, "a clear refusal", begun, failoverLimit)
	// Also those who come now, and reads.
	asked := time.Now()
	if wrong := through.get("/api/v1/me", n.f.token).unavailable(); wrong != "" {
		t.Errorf("a read while the database hangs: %s", wrong)
	}
	within(t, "a read is refused", asked, failoverLimit)
	begun = time.Now()
	resume()
	writesAgain(t, through, n.f, "after the pause")
	within(t, "writes again", begun, failoverLimit)
	load.more(someAnswers)
	load.finish()
	t.Logf("%d acknowledged, %d refused meanwhile", load.taken.Load(), load.refused.Load())
}

// hungForEver: the database hangs and stays so, and the one that follows it takes
// its place.
func (n *nodes) hungForEver(t *testing.T) {
	through := n.over(t)
	load := startLoad(t, through, n.f, "for ever", submitters)
	load.more(someAnswers)
	begun := time.Now()
	hung := n.db.primary
	hung.signal(syscall.SIGSTOP)
	t.Cleanup(hung.kill)
	n.db.promote()
	writesAgain(t, through, n.f, "beside the one that hangs")
	within(t, "writes again", begun, failoverLimit)
	load.more(someAnswers)
	load.finish()
	t.Logf("%d acknowledged, %d refused meanwhile", load.taken.Load(), load.refused.Load())
}
