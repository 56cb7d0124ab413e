package main

import (
	"math/bits"
	"time"
)

const (
	// 32 buckets per doubling: values are accurate to about 3 %.
	stepBits = 5
	steps    = 1 << stepBits
)

// histogram counts durations in buckets that grow with the duration, so its size is
// fixed.
type histogram [40 * steps]uint32

func bucket(ns uint64) int {
	if ns < steps {
		return int(ns)
	}
	shift := bits.Len64(ns) - 1 - stepBits
	return shift*steps + int(ns>>shift)
}

func (h *histogram) count(d time.Duration) {
	h[min(bucket(uint64(max(d, 0))), len(h)-1)]++
}

func (h *histogram) add(other *histogram) {
	for i, n := range other {
		h[i] += n
	}
}

// quantile returns the duration that the share q of all values did not exceed.
func (h *histogram) quantile(q float64) time.Duration {
	var total, sum float64
	for _, n := range h {
		total += float64(n)
	}
	for i, n := range h {
		if sum += float64(n); sum > 0 && sum >= q*total {
			if i < steps {
				return time.Duration(i)
			}
			shift := i/steps - 1
			return time.Duration((i%steps + steps) << shift)
		}
	}
	return 0
}
