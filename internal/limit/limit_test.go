package limit

import (
	"fmt"
	"net/netip"
	"testing"
	"time"
)

// TestLimiter shows that a key can use its quota at once, then gets one event per
// window/quota, and that a nil limiter allows everything.
func TestLimiter(t *testing.T) {
	now := time.Unix(1_790_000_000, 0)
	l := New[string](10, time.Minute, func() time.Time { return now })
	for i := range 10 {
		if remaining, _, ok := l.Allow("a"); !ok || remaining != 9-i {
			t.Fatalf("event %d: %d remaining, allowed: %v", i, remaining, ok)
		}
	}
	remaining, wait, ok := l.Allow("a")
	if ok || remaining != 0 || wait != 6*time.Second {
		t.Errorf("11th event: allowed %v, %d remaining, wait %v; want a wait of 6s", ok, remaining, wait)
	}
	if got := l.RetryAfter("a"); got != 6*time.Second {
		t.Errorf("RetryAfter is %v, want 6s", got)
	}
	if _, _, ok := l.Allow("b"); !ok || l.RetryAfter("b") != 0 {
		t.Error("another key was limited")
	}
	now = now.Add(6 * time.Second)
	if _, _, ok := l.Allow("a"); !ok {
		t.Error("no event after 6 seconds")
	}
	if _, _, ok := l.Allow("a"); ok {
		t.Error("two events after 6 seconds")
	}
	now = now.Add(time.Hour)
	if remaining, _, _ := l.Allow("a"); remaining != 9 {
		t.Errorf("after an hour: %d remaining, want 9", remaining)
	}
	var nilLimiter *Limiter[string]
	if _, _, ok := nilLimiter.Allow("a"); !ok || nilLimiter.RetryAfter("a") != 0 {
		t.Error("a nil limiter limits")
	}
}

// TestLimiterPrunesKeys shows that keys that are used once are deleted again.
func TestLimiterPrunesKeys(t *testing.T) {
	now := time.Unix(1_790_000_000, 0)
	l := New[string](10, time.Minute, func() time.Time { return now })
	for i := range 500_000 {
		l.Allow(fmt.Sprint(i))
		now = now.Add(time.Millisecond)
	}
	keyCount := 0
	for i := range l.shards {
		keyCount += len(l.shards[i].fullAt)
	}
	if keyCount > 3*shardCount*minPruneSize {
		t.Errorf("%d keys are stored, want at most %d", keyCount, 3*shardCount*minPruneSize)
	}
}

// TestClientNetwork shows that IPv6 addresses count per /64.
func TestClientNetwork(t *testing.T) {
	for text, want := range map[string]string{"192.0.2.7": "192.0.2.7", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::", "::1": "::"} {
		if got := ClientNetwork(netip.MustParseAddr(text)).String(); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
