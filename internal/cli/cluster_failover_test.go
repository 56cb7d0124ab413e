package cli_test

import (
	"sync/atomic"
	"testing"
	"time"
)

const failoverLimit = 5 * time.Second

// waitForWrite submits until the submission is accepted.
func waitForWrite(t *testing.T, balanced *program, f survey, key string) {
	t.Helper()
	var refused atomic.Int64
	if balanced.submitUntilAccepted(f, 1, key, &refused) == "" {
		t.FailNow()
	}
}

// checkPrimaryKilled kills the primary database and promotes the standby. No
// acknowledged response is lost or stored twice.
func (n *nodes) checkPrimaryKilled(t *testing.T) {
	balanced := n.viaBalancer(t)
	load, finish := n.startLoads(t, balanced, "killed")
	load.waitForMore(3 * someAnswers)
	startedAt := time.Now()
	n.db.primary.kill()
	n.db.promote()
	t.Logf("killed and promoted in %v", time.Since(startedAt).Round(time.Millisecond))
	waitForWrite(t, balanced, n.f, "after the kill")
	n.recordDelay(t, "primary killed with -9, standby promoted: writes work again", startedAt, failoverLimit)
	load.waitForMore(someAnswers)
	finish()
	reportFigure(t, "primary killed (kill -9) while two nodes are under load", "%d acknowledged, each stored once; %d refused with 503 meanwhile", load.accepted.Load(), load.refused.Load())
}

// checkPrimaryHangs pauses the primary, which then accepts requests but does not
// answer, and resumes it.
func (n *nodes) checkPrimaryHangs(t *testing.T) {
	n.db.rebuildStandby()
	balanced := n.viaBalancer(t)
	load, finish := n.startLoads(t, balanced, "hung")
	load.waitForMore(someAnswers)
	startedAt := time.Now()
	n.db.primary.signal(pauseSignal)
	resume := func() { n.db.primary.signal(resumeSignal) }
	t.Cleanup(resume) // resuming twice is harmless
	refused := load.refused.Load()
	// The load fails for refusals other than 503.
	balanced.waitUntil("refusing", func() bool { return load.refused.Load() > refused || t.Failed() })
	n.recordDelay(t, "primary hangs: waiting requests get 503", startedAt, failoverLimit)
	// New requests and reads are refused too.
	readAt := time.Now()
	if problem := balanced.get("/api/v1/me", n.f.token).unavailable(); problem != "" {
		t.Errorf("a read while the database hangs: %s", problem)
	}
	n.recordDelay(t, "primary hangs: new requests get 503", readAt, failoverLimit)
	startedAt = time.Now()
	resume()
	waitForWrite(t, balanced, n.f, "after the pause")
	n.recordDelay(t, "primary recovers: writes work again", startedAt, failoverLimit)
	load.waitForMore(someAnswers)
	finish()
	reportFigure(t, "primary hangs and recovers while two nodes are under load", "%d acknowledged, each stored once; %d refused with 503 meanwhile", load.accepted.Load(), load.refused.Load())
}

// checkPrimaryHangsForever pauses the primary for good and promotes the standby.
func (n *nodes) checkPrimaryHangsForever(t *testing.T) {
	balanced := n.viaBalancer(t)
	load, finish := n.startLoads(t, balanced, "for ever")
	load.waitForMore(someAnswers)
	startedAt := time.Now()
	hung := n.db.primary
	hung.signal(pauseSignal)
	t.Cleanup(hung.kill)
	n.db.promote()
	waitForWrite(t, balanced, n.f, "beside the one that hangs")
	n.recordDelay(t, "primary hangs, standby promoted: writes work again", startedAt, failoverLimit)
	load.waitForMore(someAnswers)
	finish()
	reportFigure(t, "primary hangs and is replaced while two nodes are under load", "%d acknowledged, each stored once; %d refused with 503 meanwhile", load.accepted.Load(), load.refused.Load())
}
