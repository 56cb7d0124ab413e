package chart

import (
	"slices"
	"strings"
	"testing"
)

// TestTruncate shows that a truncated text fits and is never cut within a character.
func TestTruncate(t *testing.T) {
	if got := truncate("short", 10, 100); got != "short" {
		t.Errorf("text that fits was changed to %q", got)
	}
	for _, text := range []string{strings.Repeat("word ", 40), strings.Repeat("漢字", 40), strings.Repeat("é", 80), strings.Repeat("👩‍🚒", 30), "e\u0301" + strings.Repeat("\u0301", 300)} {
		for maxWidth := 0.0; maxWidth < 120; maxWidth++ {
			got := truncate(text, 10, maxWidth)
			if got == text {
				continue
			}
			head := strings.TrimSuffix(got, "…")
			if !strings.HasPrefix(text, head) || measure(head, 10) > maxWidth {
				t.Fatalf("%q at width %v: got %q", text, maxWidth, got)
			}
			if next := []rune(text[len(head):]); isCombining(next[0]) || strings.HasSuffix(head, "\u200d") {
				t.Fatalf("%q is cut within a character: %q", text, got)
			}
		}
	}
	if latin, cjk := truncate(strings.Repeat("a", 90), 10, 100), truncate(strings.Repeat("漢", 90), 10, 100); len([]rune(latin)) <= len([]rune(cjk)) {
		t.Errorf("%q is not longer than %q", latin, cjk)
	}
}

// TestWrap shows where lines break: at spaces, between CJK characters, and within words
// that are longer than a line.
func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text     string
		maxWidth float64
		maxLines int
		want     []string
	}{
		{"", 100, 2, nil},
		{"one two", 100, 2, []string{"one two"}},
		{"one two three four", 50, 3, []string{"one two", "three four"}},
		{"one two three four", 50, 1, []string{"one two…"}},
		{"漢字漢字漢字", 42, 3, []string{"漢字漢字", "漢字"}},
		{"incomprehensibility", 60, 9, []string{"incompreh", "ensibility"}},
	} {
		got := wrap(c.text, 10, c.maxWidth, c.maxLines)
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

// TestDirection shows that the first text with letters decides the direction, and that
// text in the other direction is isolated.
func TestDirection(t *testing.T) {
	rows := []Row{{"نعم", 3, .75, ""}, {"Maybe", 1, .25, ""}}
	svg := Bars(rows, "هل تأتي؟", formatPlain)
	for _, want := range []string{`direction="rtl"`, "\u2068Maybe\u2069", `<rect class="chart-bar" x="80"`} {
		if !strings.Contains(svg, want) {
			t.Errorf("right-to-left title: no %s in %s", want, svg)
		}
	}
	svg = Bars(rows, "Will you come?", formatPlain)
	for _, want := range []string{`direction="ltr"`, "\u2068نعم\u2069"} {
		if !strings.Contains(svg, want) {
			t.Errorf("left-to-right title: no %s in %s", want, svg)
		}
	}
	if svg := Bars(rows, "2026", formatPlain); !strings.Contains(svg, `direction="rtl"`) {
		t.Error("a title without letters decided the direction")
	}
}
