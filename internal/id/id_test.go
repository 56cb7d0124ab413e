package id

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestIDs(t *testing.T) {
	now := time.UnixMilli(1_790_000_000_123)
	rapid.Check(t, func(t *rapid.T) {
		u := UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "bytes"))
		v := UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "others"))
		text := u.String(Form)
		back, ok := Parse(Form, text)
		if !ok || back != u || len(text) != 30 {
			t.Fatalf("%v is written %s and read %v", u, text, back)
		}
		if slices.Compare(u[:], v[:]) != strings.Compare(text, v.String(Form)) {
			t.Fatal("the text does not sort like the bits")
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`(frm_)?[0-9a-zA-Z]{24,28}`).Draw(t, "text")
		if u, ok := Parse(Form, text); ok && u.String(Form) != text {
			t.Fatalf("%s was read and is written %s", text, u.String(Form))
		}
	})
	id := NewUUID(now)
	if !id.Time().Equal(now) || id[6]>>4 != 7 || id[8]>>6 != 2 {
		t.Errorf("%x is not a UUIDv7 of %v", id, now)
	}
}

// IDs sort by their ticks, contain the millisecond, and are in the time range that
// First starts.
func TestTicks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(0, rapid.Int64Range(0, 1<<62).Draw(t, "nanoseconds"))
		tick := NewTick(at)
		id, carried := tick.ID(Response)
		next, _ := (tick + 1).ID(Response)
		if again, _ := tick.ID(Response); id >= next || id == again {
			t.Fatalf("%s, then %s; again %s", id, next, again)
		}
		if !carried.Equal(at.Truncate(time.Millisecond)) {
			t.Fatalf("%s carries %s", at, carried)
		}
		if id < First(Response, at) || id >= First(Response, at.Add(time.Millisecond)) {
			t.Fatalf("%s is not of its millisecond", id)
		}
		if NewTick(at.Add(time.Microsecond)) <= tick {
			t.Fatal("a microsecond later is the same tick")
		}
		if u, ok := Parse(Response, id); !ok || u[6]>>4 != 7 || u[8]>>6 != 2 {
			t.Fatalf("%s is no UUIDv7", id)
		}
	})
}

// Whatever the clock does, the next ID sorts after the last one, and its time does not
// go back.
func TestNext(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		last, lastTime := "", time.Time{}
		clock := int64(1_790_000_000_000)
		for _, step := range rapid.SliceOfN(rapid.Int64Range(-3, 3), 1, 200).Draw(t, "steps") {
			clock += step
			id, at := Next(Form, time.UnixMilli(clock), last)
			if id <= last || at.Before(lastTime) {
				t.Fatalf("%s (%v) after %s (%v)", id, at, last, lastTime)
			}
			last, lastTime = id, at
		}
	})
	// This is true even if the random part overflows.
	full := UUID{0, 0, 0, 0, 0, 1, 0x7f, 0xff, 0xbf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}.String(Form)
	if id, at := Next(Form, time.UnixMilli(1), full); id <= full || at.UnixMilli() != 2 {
		t.Errorf("after the last of a millisecond comes %s at %v", id, at)
	}
}
