package cli_test

import (
	"runtime"
	"testing"

	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
)

// Bounds of the short version. They are generous: what they find grows faster
// than its input.
const (
	// Bytes allocated for a request, client included: for any, and for each byte
	// sent or answered.
	allocatedAny  = 32 << 20
	allocatedEach = 80
	// Bytes of an answer, for any request and for each byte sent.
	answeredAny  = 3 << 20
	answeredEach = 12
)

// countExpensive is the short version: every family in this process, with bytes
// counted and no clock.
func countExpensive(t *testing.T, place storetest.Place, list []family, seed uint64) {
	w := newCostWorld(t, place)
	w.small = true
	s := clitest.Start(t, place, "--rate-limit=off", "--signup=open")
	for _, f := range list {
		t.Run(f.name, func(t *testing.T) {
			world := *w
			world.t, world.base, world.rand = t, s.URL, generatorOf(seed, f.name)
			requests := f.make(&world)
			if f.beside != nil {
				world.countBeside(f, requests)
			}
			for _, r := range requests {
				world.count(f, r)
			}
		})
	}
}

// count sends a request and checks what it allocated and what it was answered. What
// is made once, such as a compiled form, is not counted: then the second time is.
func (w *costWorld) count(f family, r costly) {
	w.t.Helper()
	var out sent
	spent := 0
	for range 2 {
		before := allocated()
		out = w.send(r)
		spent = allocated() - before
		if spent <= allocatedAny {
			break
		}
	}
	if out.err != nil || out.status >= 500 {
		w.t.Errorf("%s: %d %v", r.name, out.status, out.err)
	}
	if bound := answeredAny + answeredEach*out.bytes; !f.downloads && out.answered > bound {
		w.t.Errorf("%s: %d bytes sent, %s answered", r.name, out.bytes, megabytes(out.answered))
	}
	if bound := allocatedAny + allocatedEach*(out.bytes+out.answered); spent > bound {
		w.t.Errorf("%s: %d bytes sent, %d answered, %s allocated, at most %s", r.name, out.bytes, out.answered, megabytes(spent), megabytes(bound))
	}
}

// countBeside checks that a stranger is served while connections are held.
func (w *costWorld) countBeside(f family, requests []costly) {
	w.t.Helper()
	until, over := make(chan struct{}), make(chan struct{})
	before := allocated()
	go func() {
		defer close(over)
		f.beside(w, requests, until)
	}()
	if waits := w.probe(0); len(waits.failed) > 0 {
		w.t.Errorf("a stranger's requests failed: %q", waits.failed)
	}
	close(until)
	<-over
	// Each sign-in takes 19 MiB for its hash.
	if spent := allocated() - before; len(requests) == 0 && spent > (minRounds+1)*20<<20+allocatedAny {
		w.t.Errorf("%s allocated", megabytes(spent))
	}
}

// allocated is how many bytes the process has allocated so far.
func allocated() int {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int(stats.TotalAlloc)
}
