package limit

import (
	"fmt"
	"net/netip"
	"testing"
	"time"
)

// exchangeMessages delivers the messages of each node to all nodes, like NOTIFY does, and
// returns their number.
func exchangeMessages(nodes ...*Cluster) (messages int) {
	for _, from := range nodes {
		for _, m := range from.Outgoing() {
			messages++
			for _, to := range nodes {
				to.Receive(m)
			}
		}
	}
	return messages
}

// TestClusterSharesUsage shows that two nodes share the quota of a key, per limiter.
func TestClusterSharesUsage(t *testing.T) {
	now := time.Unix(1_790_000_000, 0)
	clock := func() time.Time { return now }
	a, b := NewCluster(), NewCluster()
	limiterA := New[string](10, time.Minute, clock).Join(a, "x")
	limiterB := New[string](10, time.Minute, clock).Join(b, "x")
	other := New[string](10, time.Minute, clock).Join(b, "y")
	for range 6 {
		limiterA.Allow("k")
	}
	select {
	case <-a.Pending():
	default:
		t.Error("no message is pending after an event")
	}
	exchangeMessages(a, b)
	if remaining, _, ok := limiterB.Allow("k"); !ok || remaining != 3 {
		t.Errorf("after 6 events on A and 1 on B: %d remaining, want 3", remaining)
	}
	limiterB.Refund("k")
	if n := exchangeMessages(a, b); n != 0 {
		t.Errorf("an event and its refund made %d messages, want 0", n)
	}
	// Without messages in between, both nodes together allow 14 of 10. The excess of 4
	// delays the next event: one event refills in 6 seconds.
	for range 4 {
		limiterA.Allow("k")
		limiterB.Allow("k")
	}
	exchangeMessages(a, b)
	if wait := limiterA.RetryAfter("k"); wait != 30*time.Second || limiterB.RetryAfter("k") != wait {
		t.Errorf("after 14 of 10 events: wait %v on A and %v on B, want 30s", wait, limiterB.RetryAfter("k"))
	}
	if _, _, ok := other.Allow("k"); !ok || limiterB.RetryAfter("l") != 0 {
		t.Error("another limiter or another key was affected")
	}
	for _, invalid := range []string{"", "{}", `{"name":"x","taken":[{"key":3,"n":1}]}`, `{"name":"z","taken":[{"key":"k","n":1}]}`} {
		a.Receive(invalid)
	}
	if wait := limiterA.RetryAfter("k"); wait != 30*time.Second {
		t.Errorf("invalid messages were counted: wait %v", wait)
	}
	// Without a cluster, no events are queued.
	single := New[string](10, time.Minute, clock).Join(nil, "x")
	single.Allow("k")
	if single.shards[0].unsent != nil || single.cluster != nil {
		t.Error("a limiter without a cluster queues events")
	}
}

// TestClusterSplitsMessages shows that many keys are sent in several messages, each below
// the limit of NOTIFY.
func TestClusterSplitsMessages(t *testing.T) {
	type pair struct {
		Address netip.Addr
		Name    string
	}
	a, b := NewCluster(), NewCluster()
	limiterA := New[pair](10, time.Minute, time.Now).Join(a, "x")
	limiterB := New[pair](10, time.Minute, time.Now).Join(b, "x")
	key := func(i int) pair {
		return pair{netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), fmt.Sprint("app_", i)}
	}
	const keys = 1000
	for i := range keys {
		limiterA.Allow(key(i))
	}
	messages := a.Outgoing()
	for _, m := range messages {
		if len(m) > 7900 {
			t.Errorf("a message has %d bytes, want at most 7900", len(m))
		}
		b.Receive(m)
	}
	for i := range keys {
		if remaining, _, _ := limiterB.Allow(key(i)); remaining != 8 {
			t.Fatalf("%v: %d remaining, want 8", key(i), remaining)
		}
	}
	t.Logf("%d keys in %d messages", keys, len(messages))
}
