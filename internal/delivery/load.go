package delivery

import (
	runtimemetrics "runtime/metrics"
	"sync/atomic"
	"time"
)

// load finds out whether the processors are busy: then goroutines that could run wait for one.
// It reads the scheduler's own histogram, so measuring costs next to nothing.
type load struct {
	sample []runtimemetrics.Sample
	before []uint64
	high   atomic.Bool
}

const (
	// longWait is a wait for a processor that shows that they are busy.
	longWait = 100 * time.Microsecond
	// minWaits is how many waits tell anything.
	minWaits = 50
)

func newLoad() *load {
	return &load{sample: []runtimemetrics.Sample{{Name: "/sched/latencies:seconds"}}}
}

// measure looks at the waits since the last call.
func (l *load) measure() {
	runtimemetrics.Read(l.sample)
	if l.sample[0].Value.Kind() != runtimemetrics.KindFloat64Histogram {
		return
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
	l.high.Store(all >= minWaits && long > all/4)
}
