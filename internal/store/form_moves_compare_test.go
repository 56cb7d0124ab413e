package store

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Read in parts of any size, two lists differ in the keys that one of them does not have, and in
// those with different texts.
func TestDifferences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.MapOfN(rapid.StringMatching(`[a-e]{1,2}`), rapid.SampledFrom([]string{"x", "y"}), 0, 12)
		from, to, limit := rows.Draw(t, "from"), rows.Draw(t, "to"), rapid.IntRange(1, 5).Draw(t, "limit")
		after := func(all map[string]string, key rowKey) (list []rowText) {
			for _, name := range slices.Sorted(maps.Keys(all)) {
				if name > key[0] && len(list) < limit {
					list = append(list, rowText{rowKey{name}, all[name]})
				}
			}
			return list
		}
		var got, want []string
		last, more := rowKey{}, true
		for more {
			var different []rowKey
			before := last
			different, last, more = differences(after(from, last), after(to, last), limit)
			if more && last[0] <= before[0] {
				t.Fatalf("no progress after %q", last)
			}
			for _, key := range different {
				got = append(got, key[0])
			}
		}
		for name := range from {
			if text, ok := to[name]; !ok || text != from[name] {
				want = append(want, name)
			}
		}
		for name := range to {
			if _, ok := from[name]; !ok {
				want = append(want, name)
			}
		}
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}
