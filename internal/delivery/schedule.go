package delivery

import (
	"math/rand/v2"
	"time"
)

// Schedule is how long after each failed attempt the next one follows.
var Schedule = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// retryIn returns how long to wait after a failed attempt, of which the first is 1; false: it
// was the last. The times differ by up to 20 %, so that what failed together does not return
// together. A receiver can ask for more time.
func retryIn(schedule []time.Duration, attempt int64, asked time.Duration) (time.Duration, bool) {
	if attempt > int64(len(schedule)) {
		return 0, false
	}
	wait := schedule[attempt-1]
	jitter := 0.8 + 0.4*rand.Float64()
	return max(time.Duration(float64(wait)*jitter), asked), true
}
