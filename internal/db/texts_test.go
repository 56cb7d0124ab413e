package db

import (
	"strings"
	"testing"
)

// Texts stay what they were while others are added, small ones and large ones.
func TestTexts(t *testing.T) {
	var texts Texts
	var got [500]string
	want := func(i int) string { return strings.Repeat(string(rune('a'+i%26)), i*i%997+i/498*70_000) }
	for i := range got {
		raw := []byte(want(i))
		texts.Into(&got[i]).set(raw)
		clear(raw)
	}
	for i := range got {
		if got[i] != want(i) {
			t.Fatalf("text %d changed", i)
		}
	}
}
