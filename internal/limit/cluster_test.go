package limit

import (
	"fmt"
	"net/netip"
	"testing"
	"time"
)

// pass carries what is said on one node to all of them, as the database does.
func pass(nodes ...*Cluster) (messages int) {
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

func TestShared(t *testing.T) {
	now := time.Unix(1_790_000_000, 0)
	clock := func() time.Time { return now }
	a, b := NewCluster(), NewCluster()
	onA := New[string](10, time.Minute, clock).Join(a, "x")
	onB := New[string](10, time.Minute, clock).Join(b, "x")
	other := New[string](10, time.Minute, clock).Join(b, "y")
	for range 6 {
		onA.Allow("k")
	}
	select {
	case <-a.Pending():
	default:
		t.Error("something happened and nobody is told")
	}
	pass(a, b)
	if left, _, ok := onB.Allow("k"); !ok || left != 3 {
		t.Errorf("after six elsewhere and one here there are %d left", left)
	}
	onB.Refund("k")
	if n := pass(a, b); n != 0 {
		t.Errorf("one taken and given back makes %d messages", n)
	}
	// Both at once let more through than there is; later it is paid back.
	for range 4 {
		onA.Allow("k")
		onB.Allow("k")
	}
	pass(a, b)
	if wait := onA.RetryAfter("k"); wait != 30*time.Second || onB.RetryAfter("k") != wait {
		t.Errorf("after 14 of 10 the wait is %v and %v", wait, onB.RetryAfter("k"))
	}
	if _, _, ok := other.Allow("k"); !ok || onB.RetryAfter("l") != 0 {
		t.Error("another limiter, or another key, was counted along")
	}
	for _, wrong := range []string{"", "{}", `{"name":"x","taken":[{"key":3,"n":1}]}`, `{"name":"z","taken":[{"key":"k","n":1}]}`} {
		a.Receive(wrong)
	}
	if wait := onA.RetryAfter("k"); wait != 30*time.Second {
		t.Errorf("nonsense was counted: %v", wait)
	}
	// Alone, nothing gathers.
	alone := New[string](10, time.Minute, clock).Join(nil, "x")
	alone.Allow("k")
	if alone.shards[0].untold != nil || alone.shared != nil {
		t.Error("a limiter that nobody shares keeps what nobody asks for")
	}
}

// Many keys are told in several messages, none too long.
func TestSharedMany(t *testing.T) {
	type pair struct {
		Address netip.Addr
		Name    string
	}
	a, b := NewCluster(), NewCluster()
	onA := New[pair](10, time.Minute, time.Now).Join(a, "x")
	onB := New[pair](10, time.Minute, time.Now).Join(b, "x")
	key := func(i int) pair {
		return pair{netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), fmt.Sprint("app_", i)}
	}
	const keys = 1000
	for i := range keys {
		onA.Allow(key(i))
	}
	messages := a.Outgoing()
	for _, m := range messages {
		if len(m) > 7900 {
			t.Errorf("a message has %d bytes", len(m))
		}
		b.Receive(m)
	}
	for i := range keys {
		if left, _, _ := onB.Allow(key(i)); left != 8 {
			t.Fatalf("%v has %d left", key(i), left)
		}
	}
	t.Logf("%d keys in %d messages", keys, len(messages))
}
