package main

import (
	"errors"
	"slices"
	"testing"
	"time"
)

// TestQuietestRounds: rounds on a busy machine are repeated, up to a limit, and the
// machine use of rounds that do not count is not reported.
func TestQuietestRounds(t *testing.T) {
	for name, c := range map[string]struct {
		shares  []time.Duration // of 100, round by round
		want    []int
		wantUse time.Duration
	}{
		"all quiet":        {[]time.Duration{1, 0, 5}, []int{1, 0, 2}, 6},
		"one busy":         {[]time.Duration{1, 30, 2, 3}, []int{0, 2, 3}, 6},
		"most busy":        {[]time.Duration{50, 40, 30, 20, 10, 1}, []int{5, 4, 3}, 31},
		"more than needed": {[]time.Duration{9, 1, 9, 2, 3}, []int{1, 3, 4}, 6},
	} {
		b := &bench{}
		next := 0
		selected, err := b.quietestRounds(3, func() error {
			if next == len(c.shares) {
				return errors.New("a round too many")
			}
			b.used.byOthers += c.shares[next]
			b.used.capacity += 100
			next++
			return nil
		})
		if err != nil || !slices.Equal(selected, c.want) {
			t.Errorf("%s: rounds %v count, want %v (%v)", name, selected, c.want, err)
		}
		if want := (machineUse{c.wantUse, 300}); b.used != want {
			t.Errorf("%s: machine use %v, want %v", name, b.used, want)
		}
	}
}
