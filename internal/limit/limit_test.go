package limit

import (
	"fmt"
	"net/netip"
	"testing"
	"time"
)

func TestLimiter(t *testing.T) {
	now := time.Unix(1_790_000_000, 0)
	l := New[string](10, time.Minute, func() time.Time { return now })
	for i := range 10 {
		if left, _, ok := l.Allow("a"); !ok || left != 9-i {
			t.Fatalf("event %d: %d left, %v", i, left, ok)
		}
	}
	left, wait, ok := l.Allow("a")
	if ok || left != 0 || wait != 6*time.Second || l.RetryAfter("a") != 6*time.Second {
		t.Errorf("the eleventh: %v, wait %v or %v", ok, wait, l.RetryAfter("a"))
	}
	if _, _, ok := l.Allow("b"); !ok || l.RetryAfter("b") != 0 {
		t.Error("another key was held up")
	}
	now = now.Add(6 * time.Second)
	if _, _, ok := l.Allow("a"); !ok {
		t.Error("nothing after six seconds")
	}
	if _, _, ok := l.Allow("a"); ok {
		t.Error("two after six seconds")
	}
	now = now.Add(time.Hour)
	if left, _, _ := l.Allow("a"); left != 9 {
		t.Errorf("after an hour there are %d left", left)
	}
	var none *Limiter[string]
	if _, _, ok := none.Allow("a"); !ok || none.RetryAfter("a") != 0 {
		t.Error("no limiter limits")
	}
}

// Keys that come once must not be kept for ever.
func TestLimiterForgets(t *testing.T) {
	now := time.Unix(1_790_000_000, 0)
	l := New[string](10, time.Minute, func() time.Time { return now })
	for i := range 500_000 {
		l.Allow(fmt.Sprint(i))
		now = now.Add(time.Millisecond)
	}
	kept := 0
	for i := range l.shards {
		kept += len(l.shards[i].full)
	}
	if kept > 3*shardCount*pruneAt {
		t.Errorf("%d keys are kept", kept)
	}
}

func TestNetwork(t *testing.T) {
	for text, want := range map[string]string{"192.0.2.7": "192.0.2.7", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::", "::1": "::"} {
		if got := ClientNetwork(netip.MustParseAddr(text)).String(); got != want {
			t.Errorf("%s counts as %s", text, got)
		}
	}
}
