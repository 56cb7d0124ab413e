package outbox

import (
	"testing"
	"time"

	"formulary/internal/store"
)

// Attempts follow after 10 s, 1 min, 5 min, then longer, for three days.
func TestSchedule(t *testing.T) {
	c := &Config{}
	created := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	now := created
	var waits []time.Duration
	for attempt := int64(1); ; attempt++ {
		at, again := c.retryAt(attempt, created, now)
		if !again {
			break
		}
		waits = append(waits, at.Sub(now))
		now = at
	}
	for i, want := range []time.Duration{10 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute} {
		if waits[i] < want || waits[i] > want*11/10 {
			t.Errorf("attempt %d follows after %v, want %v", i+2, waits[i], want)
		}
	}
	if age := now.Sub(created); age < 70*time.Hour || age > maxAge {
		t.Errorf("the last attempt is after %v", age)
	}
}

// Digests are sent at the full hour, or in the morning of the owner's time zone.
func TestDigestTime(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		when        store.Frequency
		first, want string
	}{
		{store.NotifyHourly, "2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z"},
		{store.NotifyHourly, "2026-05-01T10:59:59Z", "2026-05-01T11:00:00Z"},
		{store.NotifyDaily, "2026-05-01T05:59:00Z", "2026-05-01T06:00:00Z"},
		{store.NotifyDaily, "2026-05-01T06:00:00Z", "2026-05-02T06:00:00Z"},
		{store.NotifyDaily, "2026-10-24T20:00:00Z", "2026-10-25T07:00:00Z"}, // clocks change
	} {
		first, err := time.Parse(time.RFC3339, c.first)
		if err != nil {
			t.Fatal(err)
		}
		if got := digestTime(c.when, first, berlin).UTC().Format(time.RFC3339); got != c.want {
			t.Errorf("%s, %s: %s, want %s", c.when, c.first, got, c.want)
		}
	}
}
