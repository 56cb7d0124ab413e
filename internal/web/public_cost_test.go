package web

import (
	"fmt"
	"html/template"
	"runtime"
	"strings"
	"testing"

	"formulary/internal/form"
	"formulary/internal/store"
)

// allocatedBy is how many bytes the function allocates.
func allocatedBy(work func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	work()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// Forms that are remembered for the time without a database are counted in bytes.
func TestLastKnownIsBoundedInBytes(t *testing.T) {
	definition := func() *form.Definition {
		d := &form.Definition{}
		for i := range 100 {
			d.Fields = append(d.Fields, &form.Field{Key: fmt.Sprintf("f%d", i), Kind: "statement", Text: strings.Repeat("x", 10_000)})
		}
		return d
	}
	var known fallbackForms
	for i := range 100 {
		known.put(fmt.Sprint(i), store.PublicForm{Definition: definition()})
	}
	var size int64
	for _, entry := range known.forms {
		size += entry.form.Definition.Size()
	}
	if size > maxFallbackForms || len(known.forms) < 10 {
		t.Errorf("%d forms of %d bytes are kept", len(known.forms), size)
	}
	if _, ok := known.get("99"); !ok {
		t.Error("the last one is not known")
	}
	for range 10 { // again and again is no more
		known.put("99", store.PublicForm{Definition: definition()})
	}
	if known.size > maxFallbackForms || known.size < size/2 {
		t.Errorf("counted as %d bytes", known.size)
	}
	huge := definition()
	for range 20 {
		huge.Fields = append(huge.Fields, definition().Fields...)
	}
	if known.put("huge", store.PublicForm{Definition: huge}); known.size > maxFallbackForms {
		t.Errorf("with a huge one %d bytes", known.size)
	}
	if _, ok := known.get("huge"); ok {
		t.Error("one form takes the place of all others")
	}
}

// Texts that are too hard to read as Markdown stay text in part; others do not change.
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
	// A backslash of the owner's does not set free what is behind it.
	if got := limitSyntax(strings.Repeat("\\[", 10_000)); got != strings.Repeat("\\[", 10_000) {
		t.Errorf("escaped brackets: %.40q", got)
	}
	if got := limitSyntax(strings.Repeat("> ", 10_000)); strings.Count(got, "\\>") != 1 || strings.Index(got, "\\>") != 2*maxNesting {
		t.Errorf("quotes: %.60q", got)
	}
	m := newMarkdown()
	html, err := m.render(strings.Repeat("1. > ", 4000))
	if err != nil || strings.Count(string(html), "<blockquote>") > maxNesting {
		t.Errorf("%d quotes (%v)", strings.Count(string(html), "<blockquote>"), err)
	}
}

// What owners wrote is drawn once, and kept within bounds.
func TestMarkdownIsKept(t *testing.T) {
	m := newMarkdown()
	text := strings.Repeat("Some *words*. ", 1000)
	first, err := m.renderCached(text)
	if err != nil {
		t.Fatal(err)
	}
	var again template.HTML
	if bytes := allocatedBy(func() { again, _ = m.renderCached(text) }); again != first || bytes > 4096 {
		t.Errorf("drawn again with %d bytes", bytes)
	}
	for i := range 1000 {
		m.drawn.put(fmt.Sprint(i), template.HTML(strings.Repeat("x", 20_000)))
	}
	size := 0
	for text, html := range m.drawn.texts {
		size += len(text) + len(html)
	}
	if size > maxRenderedBytes || len(m.drawn.texts) < 100 {
		t.Errorf("%d texts of %d bytes", len(m.drawn.texts), size)
	}
}

// A policy keeps out what would be more than a site.
func TestPolicyKeepsToSites(t *testing.T) {
	a := &fillSession{form: store.PublicForm{
		Offer: form.Availability{Sites: "https://a.example https://b.example;script-src-elem"},
		Definition: &form.Definition{Endings: []*form.Ending{
			{Redirect: "https://good.example/x"}, {Redirect: "https://good.example/y"}, {Redirect: "https://x;script-src-elem/"}, {Redirect: "https://x;script-src-elem;/"}, {Redirect: "https://x,y/"},
		}},
	}}
	l := a.layout()
	got := policy(&l)
	if !strings.Contains(got, "form-action 'self' https://good.example; ") || !strings.HasSuffix(got, "frame-ancestors 'self' https://a.example") || strings.Contains(got, "elem") || strings.Contains(got, ",") {
		t.Errorf("the policy is %s", got)
	}
	// Whatever else comes to the header.
	l.formAction = "https://c.example;script-src-elem https://d.example app:"
	if got := policy(&l); !strings.Contains(got, "form-action 'self' https://d.example app:; ") {
		t.Errorf("the policy is %s", got)
	}
}

// A page that never ends, ends.
func TestPageBuffer(t *testing.T) {
	var out pageBuffer
	var err error
	for err == nil {
		_, err = out.Write(make([]byte, 1<<20))
	}
	if err != errPageTooLarge || out.Len() > maxPage {
		t.Errorf("%d bytes, %v", out.Len(), err)
	}
}

// What was sent for a control is looked up in a set when it is much.
func TestSentValues(t *testing.T) {
	q := &question{Field: &form.Field{Key: "k"}, posted: map[string][]string{"k": {"a", "b"}, "k.r": {}}}
	for i := range 100 {
		q.posted["k.r"] = append(q.posted["k.r"], fmt.Sprint(i))
	}
	if !q.Chosen("b") || q.Chosen("c") || q.chosen != nil {
		t.Error("a few values")
	}
	if !q.ChosenIn("r", "99") || q.ChosenIn("r", "100") || len(q.chosen["k.r"]) != 100 {
		t.Error("many values")
	}
}
