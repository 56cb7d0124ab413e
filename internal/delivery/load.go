package delivery

import (
	runtimemetrics "runtime/metrics"
	"sync"
	"time"
)

// load finds out whether submissions need the processors: several are in progress, and
// goroutines that could run wait for a processor. It reads the scheduler's own histogram, so
// measuring costs little.
type load struct {
	submissions func() int64 // in progress

	mu     sync.Mutex
	sample []runtimemetrics.Sample
	before []uint64
	last   time.Time // when it was measured
	until  time.Time // when deliveries stop yielding
}

const (
	// longWait is a wait for a processor that shows that they are busy.
	longWait = 100 * time.Microsecond
	// minWaits is how many waits tell anything.
	minWaits = 20
	// loadInterval is the time between two measurements.
	loadInterval = 5 * time.Millisecond
	// fewSubmissions at a time need no consideration.
	fewSubmissions = 2
	// yieldTime is how long deliveries yield to submissions that were seen: between two
	// batches, few are in progress.
	yieldTime = 200 * time.Millisecond
)

func newLoad(submissions func() int64) *load {
	return &load{submissions: submissions, sample: []runtimemetrics.Sample{{Name: "/sched/latencies:seconds"}}}
}

// yields says whether deliveries are to leave the processors to submissions, which are answered
// while somebody waits.
func (l *load) yields() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if now.Sub(l.last) >= loadInterval && l.submissions() > fewSubmissions {
		if l.last = now; l.isHigh() {
			l.until = now.Add(yieldTime)
		}
	}
	return now.Before(l.until)
}

// watch keeps the next measurement from including what was long ago.
func (l *load) watch() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); now.Sub(l.last) >= loadInterval {
		l.last = now
		l.isHigh()
	}
}

// isHigh looks at the waits since the last call.
func (l *load) isHigh() bool {
	runtimemetrics.Read(l.sample)
	if l.sample[0].Value.Kind() != runtimemetrics.KindFloat64Histogram {
		return false
	}
	h := l.sample[0].Value.Float64Histogram()
	var all, long uint64
	for i, n := range h.Counts {
		if l.before != nil {
			n -= l.before[i]
		}
		all += n
		if h.Buckets[i] >= longWait.Seconds() {
			long += n
		}
	}
	l.before = append(l.before[:0], h.Counts...)
	return all >= minWaits && long > all/10
}
