package limit

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"
)

// TestPersist shows that recorded events count after a restart, and that events that were
// only allowed do not.
func TestPersist(t *testing.T) {
	type pair struct {
		Address netip.Addr
		Name    string
	}
	now := time.Unix(1_790_000_000, 0)
	clock := func() time.Time { return now }
	stored := map[string]time.Time{}
	persistErr := error(nil)
	persist := func(_ context.Context, limiter, key string, cost time.Duration, now time.Time) error {
		if limiter != "x" {
			t.Errorf("stored for limiter %s", limiter)
		}
		until := stored[key]
		if until.Before(now) {
			until = now
		}
		stored[key] = until.Add(cost)
		return persistErr
	}
	key := pair{netip.MustParseAddr("192.0.2.1"), "app"}
	first := New[pair](10, time.Minute, clock).Persist("x", persist)
	for range 8 {
		first.Allow(key)
		if err := first.Record(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	first.Allow(key) // not recorded: the process ends before the attempt is checked
	next := New[pair](10, time.Minute, clock).Persist("x", persist)
	for text, until := range stored {
		if err := next.Restore(text, until); err != nil {
			t.Fatal(err)
		}
	}
	if remaining, _, ok := next.Allow(key); !ok || remaining != 1 {
		t.Errorf("after 8 events before the restart and 1 after it: %d remaining (%v), want 1", remaining, ok)
	}
	// Restoring older values does not take back newer events.
	next.Allow(key)
	for text, until := range stored {
		next.Restore(text, until)
	}
	if _, wait, ok := next.Allow(key); ok || wait != 6*time.Second {
		t.Errorf("11th event: allowed %v, wait %v", ok, wait)
	}
	if err := next.Restore("nonsense", now); err == nil {
		t.Error("an invalid key was restored")
	}
	persistErr = errors.New("database unavailable")
	if err := next.Record(t.Context(), key); !errors.Is(err, persistErr) {
		t.Errorf("event that could not be stored: got error %v", err)
	}
	var nilLimiter *Limiter[pair]
	if err := nilLimiter.Record(t.Context(), key); err != nil {
		t.Error(err)
	}
}
