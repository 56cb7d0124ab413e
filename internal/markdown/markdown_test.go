package markdown

import (
	"fmt"
	"html/template"
	"runtime"
	"strings"
	"testing"
)

// allocatedBy returns how many bytes a function allocates.
func allocatedBy(work func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	work()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// Syntax beyond the limits is escaped; other texts do not change.
func TestMarkdownIsLimited(t *testing.T) {
	for _, text := range []string{
		"", "# Title\n\nSome *words*, a [link](https://example.com) and `code`.\n\n> > A quote\n\n- one\n  - two\n\n1. a\n2. b\n\n" + strings.Repeat("-", 80) + "\n\n| a | b |\n|---|---|\n| c | d |\n",
		strings.Repeat("A paragraph with *three* [marks] `in` it.\n\n", 200),
	} {
		if got := limitSyntax(text); got != text {
			t.Errorf("%.60q became %.60q", text, got)
		}
	}
	marks := func(text string) int {
		count := 0
		for _, c := range strings.ReplaceAll(strings.ReplaceAll(text, "\\\\", ""), "\\[", "") {
			if c == '[' {
				count++
			}
		}
		return count
	}
	if got := marks(limitSyntax(strings.Repeat("[", 20_000))); got != maxInlineSyntax {
		t.Errorf("%d brackets are left", got)
	}
	// Escaped syntax stays escaped.
	if got := limitSyntax(strings.Repeat("\\[", 10_000)); got != strings.Repeat("\\[", 10_000) {
		t.Errorf("escaped brackets: %.40q", got)
	}
	if got := limitSyntax(strings.Repeat("> ", 10_000)); strings.Count(got, "\\>") != 1 || strings.Index(got, "\\>") != 2*maxNesting {
		t.Errorf("quotes: %.60q", got)
	}
	m := New()
	html, err := m.Render(strings.Repeat("1. > ", 4000))
	if err != nil || strings.Count(string(html), "<blockquote>") > maxNesting {
		t.Errorf("%d quotes (%v)", strings.Count(string(html), "<blockquote>"), err)
	}
}

// Texts are rendered once, and the cache is bounded.
func TestMarkdownIsCached(t *testing.T) {
	m := New()
	text := strings.Repeat("Some *words*. ", 1000)
	first, err := m.RenderCached(text)
	if err != nil {
		t.Fatal(err)
	}
	var again template.HTML
	if bytes := allocatedBy(func() { again, _ = m.RenderCached(text) }); again != first || bytes > int64(len(text)) {
		t.Errorf("rendered again with %d bytes", bytes)
	}
	for i := range 1000 {
		m.cache.put(fmt.Sprint(i), template.HTML(strings.Repeat("x", 20_000)))
	}
	size := 0
	for text, html := range m.cache.texts {
		size += len(text) + len(html)
	}
	if size > maxRenderedBytes || len(m.cache.texts) < 100 {
		t.Errorf("%d texts of %d bytes", len(m.cache.texts), size)
	}
}
