package limit

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"
)

// What was recorded counts in the next life of a limiter; what was given back or only
// taken does not.
func TestPersist(t *testing.T) {
	type pair struct {
		Address netip.Addr
		Name    string
	}
	now := time.Unix(1_790_000_000, 0)
	clock := func() time.Time { return now }
	stored := map[string]time.Time{}
	broken := error(nil)
	keep := func(_ context.Context, limiter, key string, cost time.Duration, now time.Time) error {
		if limiter != "x" {
			t.Errorf("kept for %s", limiter)
		}
		until := stored[key]
		if until.Before(now) {
			until = now
		}
		stored[key] = until.Add(cost)
		return broken
	}
	key := pair{netip.MustParseAddr("192.0.2.1"), "app"}
	first := New[pair](10, time.Minute, clock).Persist("x", keep)
	for range 8 {
		first.Allow(key)
		if err := first.Record(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	first.Allow(key) // not recorded: the service is killed before the guess is checked
	next := New[pair](10, time.Minute, clock).Persist("x", keep)
	for text, until := range stored {
		if err := next.Restore(text, until); err != nil {
			t.Fatal(err)
		}
	}
	if left, _, ok := next.Allow(key); !ok || left != 1 {
		t.Errorf("after 8 of 10 in an earlier life and one now, %d are left (%v)", left, ok)
	}
	// Knowing more already, a limiter does not forget it.
	next.Allow(key)
	for text, until := range stored {
		next.Restore(text, until)
	}
	if _, wait, ok := next.Allow(key); ok || wait != 6*time.Second {
		t.Errorf("the eleventh: %v, wait %v", ok, wait)
	}
	if err := next.Restore("nonsense", now); err == nil {
		t.Error("nonsense was restored")
	}
	broken = errors.New("out of reach")
	if err := next.Record(t.Context(), key); !errors.Is(err, broken) {
		t.Errorf("a guess that could not be kept: %v", err)
	}
	var none *Limiter[pair]
	if err := none.Record(t.Context(), key); err != nil {
		t.Error(err)
	}
}
