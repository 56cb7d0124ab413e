package delivery

import (
	"runtime"
	runtimemetrics "runtime/metrics"
	"sync"
	"time"
)

// load finds out whether submissions need the processors: there are many, and goroutines that
// could run wait for a processor. It reads the scheduler's own histogram, so measuring costs
// little.
type load struct {
	submissions func() int64 // so far

	mu      sync.Mutex
	sample  []runtimemetrics.Sample
	before  []uint64
	counted int64     // submissions up to the last measurement
	last    time.Time // when it was
	until   time.Time // when deliveries stop yielding
}

const (
	// longWait is a wait for a processor that shows that they are busy.
	longWait = 100 * time.Microsecond
	// minWaits is how many waits tell anything.
	minWaits = 20
	// loadInterval is the time between two measurements.
	loadInterval = 10 * time.Millisecond
	// manySubmissions a second take about a tenth of a processor. Fewer do not suffer from
	// deliveries.
	manySubmissions = 1000
	// yieldTime is how long deliveries yield to submissions that were seen.
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
	if since := now.Sub(l.last); since >= loadInterval {
		count := l.submissions()
		rate := float64(count-l.counted) / since.Seconds()
		l.counted, l.last = count, now
		if l.isHigh() && rate > float64(manySubmissions*runtime.GOMAXPROCS(0)) {
			l.until = now.Add(yieldTime)
		}
	}
	return now.Before(l.until)
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
