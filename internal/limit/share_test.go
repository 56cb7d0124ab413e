package limit

import (
	"fmt"
	"net/netip"
	"testing"
	"time"
)

// pass carries what is said on one node to all of them, as the database does.
func pass(nodes ...*Shared) (messages int) {
	for _, from := range nodes {
		for _, m := range from.Say() {
			messages++
			for _, to := range nodes {
				to.Hear(m)
			}
		}
	}
	return messages
}

func TestShared(t *testing.T) {
	now := time.Unix(1_790_000_000, 0)
	clock := func() time.Time { return now }
	a, b := NewShared(), NewShared()
	onA := New[string](10, time.Minute, clock).Share(a, "x")
	onB := New[string](10, time.Minute, clock).Share(b, "x")
	other := New[string](10, time.Minute, clock).Share(b, "y")
	for range 6 {
		onA.Take("k")
	}
	select {
	case <-a.Wake():
	default:
		t.Error("something happened and nobody is told")
	}
	pass(a, b)
	if left, _, ok := onB.Take("k"); !ok || left != 3 {
		t.Errorf("after six elsewhere and one here there are %d left", left)
	}
	onB.Return("k")
	if n := pass(a, b); n != 0 {
		t.Errorf("one taken and given back makes %d messages", n)
	}
	// Both at once let more through than there is; later it is paid back.
	for range 4 {
		onA.Take("k")
		onB.Take("k")
	}
	pass(a, b)
	if wait := onA.Wait("k"); wait != 30*time.Second || onB.Wait("k") != wait {
		t.Errorf("after 14 of 10 the wait is %v and %v", wait, onB.Wait("k"))
	}
	if _, _, ok := other.Take("k"); !ok || onB.Wait("l") != 0 {
		t.Error("another limiter, or another key, was counted along")
	}
	for _, wrong := range []string{"", "{}", `{"name":"x","taken":[{"key":3,"n":1}]}`, `{"name":"z","taken":[{"key":"k","n":1}]}`} {
		a.Hear(wrong)
	}
	if wait := onA.Wait("k"); wait != 30*time.Second {
		t.Errorf("nonsense was counted: %v", wait)
	}
	// Alone, nothing gathers.
	alone := New[string](10, time.Minute, clock).Share(nil, "x")
	alone.Take("k")
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
	a, b := NewShared(), NewShared()
	onA := New[pair](10, time.Minute, time.Now).Share(a, "x")
	onB := New[pair](10, time.Minute, time.Now).Share(b, "x")
	key := func(i int) pair {
		return pair{netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), fmt.Sprint("app_", i)}
	}
	const keys = 1000
	for i := range keys {
		onA.Take(key(i))
	}
	messages := a.Say()
	for _, m := range messages {
		if len(m) > 7900 {
			t.Errorf("a message has %d bytes", len(m))
		}
		b.Hear(m)
	}
	for i := range keys {
		if left, _, _ := onB.Take(key(i)); left != 8 {
			t.Fatalf("%v has %d left", key(i), left)
		}
	}
	t.Logf("%d keys in %d messages", keys, len(messages))
}
