package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"formulary/internal/cli/clitest"
	"formulary/internal/form"
	"formulary/internal/theme"
)

// maxPageBytes is the limit for a page of ten questions with its styles and scripts,
// uncompressed.
const maxPageBytes = 30_000

// maxLoadedBytes is the limit for everything that such a page loads until it is answered,
// compressed.
const maxLoadedBytes = 25_000

// tenQuestions is a typical form.
const tenQuestions = `{"fields": [
	{"kind": "name", "label": "What is your name?", "required": true},
	{"kind": "email", "label": "Your e-mail address", "help": "We write to you once, with the programme.", "required": true},
	{"kind": "phone", "label": "Your telephone number"},
	{"key": "coming", "kind": "yes_no", "label": "Are you coming to the summer party?", "required": true},
	{"kind": "number", "label": "How many people do you bring?", "min": 0, "max": 20, "show_if": {"field": "coming", "op": "equals", "value": true}},
	{"kind": "single_choice", "label": "What would you like to eat?", "options": [{"label": "Meat"}, {"label": "Fish"}, {"label": "Vegetables"}], "other": true},
	{"kind": "multiple_choice", "label": "Which days suit you?", "options": [{"label": "Friday"}, {"label": "Saturday"}, {"label": "Sunday"}, {"label": "Monday"}]},
	{"kind": "date", "label": "When do you arrive?"},
	{"kind": "rating", "label": "How did you like the last party?"},
	{"kind": "long_text", "label": "Is there anything else?"}]}`

// TestPageWeight: a form loads quickly in every mood, even on a slow connection.
func TestPageWeight(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, mood := range theme.Moods() {
		definition := strings.TrimSuffix(tenQuestions, "}") + `, "design": {"brand": "#b4532a", "mood": "` + string(mood) + `"}}`
		weighForm(t, s, publishForm(t, s, form.Header{Title: "Summer party", Description: "Friday to Monday, behind the old mill."}, definition))
	}
	oneAtATime := strings.TrimSuffix(tenQuestions, "}") + `, "design": {"layout": "one_at_a_time", "mood": "bold"}}`
	weighForm(t, s, publishForm(t, s, form.Header{Title: "Summer party"}, oneAtATime))
}

func weighForm(t *testing.T, s *clitest.Service, path string) {
	t.Helper()
	b := openTab(t, s.URL)
	b.wantStatus(b.open(path), 200)
	type part struct {
		Name string  `json:"name"`
		Size float64 `json:"decodedBodySize"`
		Sent float64 `json:"encodedBodySize"`
	}
	const loaded = `[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].map((e) => e.toJSON())`
	parts := run(b, chromedp.Evaluate[[]part](loaded))
	var sum, sent float64
	names := ""
	for _, p := range parts {
		name, _, _ := strings.Cut(strings.TrimPrefix(p.Name, s.URL), "?")
		t.Logf("%6.0f %s", p.Size, name)
		if p.Size == 0 {
			t.Errorf("%s has no size", name)
		}
		sum += p.Size
		names += name + " "
	}
	// Make sure that all parts were found.
	for _, want := range []string{path, ".css", ".js"} {
		if !strings.Contains(names, want) {
			t.Errorf("there is no %s among %s", want, names)
		}
	}
	if sum > maxPageBytes {
		t.Errorf("the page has %.0f bytes, more than %d", sum, maxPageBytes)
	}
	// The first touch loads the rest; it ends with the rules and the styles for what is kept.
	run(b, chromedp.Evaluate[any](`document.querySelector("form").dispatchEvent(new Event("pointerdown")), null`))
	b.wait(`["/rules", "form-keep.css"].every((name) => performance.getEntriesByType("resource").some((e) => e.name.includes(name)))`)
	for _, p := range run(b, chromedp.Evaluate[[]part](loaded)) {
		sent += p.Sent
	}
	t.Logf("%6.0f bytes when opened, %.0f compressed in all", sum, sent)
	if sent > maxLoadedBytes || sent < 5000 {
		t.Errorf("the page loads %.0f bytes in all, compressed, want less than %d", sent, maxLoadedBytes)
	}
}
