package cli_test

import (
	"runtime"
	"testing"

	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
)

// Limits of the short version. They are generous and detect cost that grows faster than
// the input.
const (
	// Bytes allocated by client and server: a base amount, plus an amount per byte sent
	// or received.
	allocatedAny  = 32 << 20
	allocatedEach = 80
	// Bytes of a response: a base amount, plus an amount per byte sent.
	answeredAny  = 3 << 20
	answeredEach = 12
)

// countExpensive is the short version: every family runs in this process, and bytes are
// counted instead of time.
func countExpensive(t *testing.T, storage storetest.Storage, list []family, seed uint64) {
	w := newCostFixture(t, storage)
	w.small = true
	s := clitest.Start(t, storage, "--rate-limit=off", "--signup=open", "--webhook-allow=127.0.0.0/8")
	for _, f := range list {
		t.Run(f.name, func(t *testing.T) {
			fixture := *w
			fixture.t, fixture.base, fixture.rand = t, s.URL, newRandom(seed, f.name)
			requests := f.build(&fixture)
			if f.watchesDeliveries {
				fixture.watchDeliveries()
			}
			if f.background != nil {
				fixture.countWithBackground(f, requests)
			}
			for _, r := range requests {
				fixture.countRequest(f, r)
			}
			fixture.removeWebhooks()
		})
	}
}

// countRequest sends a request and checks the bytes that it allocated and received. If
// the first attempt is expensive, the second one counts, so that one-time work such as
// compiling a form is ignored.
func (w *costFixture) countRequest(f family, r costlyRequest) {
	w.t.Helper()
	var out outcome
	spentBytes := 0
	for range 2 {
		before := allocatedBytes()
		out = w.send(r)
		spentBytes = allocatedBytes() - before
		if spentBytes <= allocatedAny {
			break
		}
	}
	if out.err != nil || out.status >= 500 {
		w.t.Errorf("%s: %d %v", r.name, out.status, out.err)
	}
	if bound := answeredAny + answeredEach*out.bytes; !f.downloads && out.responseBytes > bound {
		w.t.Errorf("%s: %d bytes sent, %s answered", r.name, out.bytes, megabytes(out.responseBytes))
	}
	if bound := allocatedAny + allocatedEach*(out.bytes+out.responseBytes); spentBytes > bound {
		w.t.Errorf("%s: %d bytes sent, %d answered, %s allocated, at most %s", r.name, out.bytes, out.responseBytes, megabytes(spentBytes), megabytes(bound))
	}
}

// countWithBackground checks that a bystander is served during the background activity.
func (w *costFixture) countWithBackground(f family, requests []costlyRequest) {
	w.t.Helper()
	stop, finished := make(chan struct{}), make(chan struct{})
	before := allocatedBytes()
	go func() {
		defer close(finished)
		f.background(w, requests, stop)
	}()
	if bystanderWaits := w.measureBystander(0); len(bystanderWaits.failed) > 0 {
		w.t.Errorf("a bystander's requests failed: %q", bystanderWaits.failed)
	}
	close(stop)
	<-finished
	// Each sign-in allocates 19 MiB for its hash.
	if spentBytes := allocatedBytes() - before; len(requests) == 0 && spentBytes > (minRounds+1)*20<<20+allocatedAny {
		w.t.Errorf("%s allocated", megabytes(spentBytes))
	}
}

// allocatedBytes returns the bytes that the process has allocated so far.
func allocatedBytes() int {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int(stats.TotalAlloc)
}
