package chart

import (
	"slices"
	"strings"
	"testing"
)

func TestCut(t *testing.T) {
	if got := cut("short", 10, 100); got != "short" {
		t.Errorf("what fits is %q", got)
	}
	for _, text := range []string{strings.Repeat("word ", 40), strings.Repeat("漢字", 40), strings.Repeat("é", 80), strings.Repeat("👩‍🚒", 30), "e\u0301" + strings.Repeat("\u0301", 300)} {
		for room := 0.0; room < 120; room++ {
			got := cut(text, 10, room)
			if got == text {
				continue
			}
			rest := strings.TrimSuffix(got, "…")
			if !strings.HasPrefix(text, rest) || measure(rest, 10) > room {
				t.Fatalf("%q in %v is %q", text, room, got)
			}
			if next := []rune(text[len(rest):]); joins(next[0]) || strings.HasSuffix(rest, "\u200d") {
				t.Fatalf("%q is cut within a character: %q", text, got)
			}
		}
	}
	if latin, cjk := cut(strings.Repeat("a", 90), 10, 100), cut(strings.Repeat("漢", 90), 10, 100); len([]rune(latin)) <= len([]rune(cjk)) {
		t.Errorf("%q is not longer than %q", latin, cjk)
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text string
		room float64
		most int
		want []string
	}{
		{"", 100, 2, nil},
		{"one two", 100, 2, []string{"one two"}},
		{"one two three four", 50, 3, []string{"one two", "three four"}},
		{"one two three four", 50, 1, []string{"one two…"}},
		{"漢字漢字漢字", 42, 3, []string{"漢字漢字", "漢字"}},
		{"incomprehensibility", 60, 9, []string{"incompreh", "ensibility"}},
	} {
		got := wrap(c.text, 10, c.room, c.most)
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, not %q", c.text, got, c.want)
		}
	}
}

func TestDirection(t *testing.T) {
	rows := []Row{{"نعم", 3, .75, ""}, {"Maybe", 1, .25, ""}}
	svg := Bars(rows, "هل تأتي؟", plain)
	if !strings.Contains(svg, `direction="rtl"`) || !strings.Contains(svg, "\u2068Maybe\u2069") || !strings.Contains(svg, `<rect class="chart-bar" fill="currentColor" x="80"`) {
		t.Errorf("not mirrored: %s", svg)
	}
	svg = Bars(rows, "Will you come?", plain)
	if !strings.Contains(svg, `direction="ltr"`) || !strings.Contains(svg, "\u2068نعم\u2069") {
		t.Errorf("mirrored: %s", svg)
	}
	if svg := Bars(rows, "2026", plain); !strings.Contains(svg, `direction="rtl"`) {
		t.Error("a title without letters decides")
	}
}
