package theme

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"sync"
	"testing"
)

// The cache returns what would be computed, and stays within its limit.
func TestCache(t *testing.T) {
	const limit = 10_000
	c := NewCache(limit)
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := range 100 {
				spec := Spec{Color{uint8(i % 25), uint8(worker)}, Moods()[i%8], Backgrounds()[i%4]}
				if got, want := c.Style(spec), NewStyle(spec); got != want {
					t.Errorf("%v: %s, want %s", spec, got.CSS, want.CSS)
				}
			}
		})
	}
	group.Wait()
	sum := 0
	for _, style := range c.styles {
		sum += len(style.CSS) + len(style.Hash) + cacheOverhead
	}
	if sum != c.bytes || sum > limit || sum == 0 {
		t.Errorf("%d bytes are cached, counted as %d, limit %d", sum, c.bytes, limit)
	}
	if c.Style(Spec{Brand: white, Mood: "unknown", Background: "unknown"}) != NewStyle(Spec{Brand: white, Mood: Plain}) {
		t.Error("an unknown mood is not plain")
	}
	if NewCache(10).Style(Spec{Brand: white}) != NewStyle(Spec{Brand: white}) {
		t.Error("a style that is larger than the cache differs")
	}
}

// Browsers apply a style only if the policy has the hash of its text.
func TestHash(t *testing.T) {
	style := NewStyle(Spec{Brand: Color{0xb4, 0x53, 0x2a}, Mood: Paper})
	sum := sha256.Sum256([]byte(style.CSS))
	if want := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; style.Hash != want || !strings.HasPrefix(style.CSS, ":root{--") {
		t.Errorf("hash %s of %s, want %s", style.Hash, style.CSS, want)
	}
}

// BenchmarkCache measures what a page costs whose theme is cached.
func BenchmarkCache(b *testing.B) {
	c := NewCache(1 << 20)
	for b.Loop() {
		c.Style(Spec{Brand: white, Mood: Bold})
	}
}
