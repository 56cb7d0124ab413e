package mail

import (
	"html/template"
	"strings"
	"testing"

	"formulary/internal/form"
	"formulary/internal/locale"
	"formulary/internal/theme"
)

// TestLooks: texts are readable in light and dark mode, in the workspace's look and in that of
// every mood.
func TestLooks(t *testing.T) {
	looks := map[string]look{"workspace": workspaceLook}
	for _, mood := range theme.Moods() {
		for _, brand := range []string{"", "#ffd400", "#b4532a", "#fdfdfc", "#0a0a0b"} {
			looks[string(mood)+" "+brand] = formLook(form.Design{Mood: string(mood), Brand: brand})
		}
	}
	for name, l := range looks {
		for scheme, p := range map[string]palette{"light": l.Light, "dark": l.Dark} {
			for pair, colors := range map[string][2]template.CSS{
				"text": {p.Ink, p.Sheet}, "soft text": {p.Soft, p.Sheet}, "link": {p.Link, p.Sheet}, "footer": {p.Foot, p.Ground}, "button": {p.OnButton, p.Button},
			} {
				ink, ok := theme.ParseColor(string(colors[0]))
				ground, ok2 := theme.ParseColor(string(colors[1]))
				if got := theme.Contrast(ink, ground); !ok || !ok2 || got < 4.5 {
					t.Errorf("%s, %s: %s of %s on %s has a contrast of %.2f", name, scheme, pair, colors[0], colors[1], got)
				}
			}
		}
	}
}

// Every color that is written into an element is replaced in dark mode.
func TestDarkMode(t *testing.T) {
	languages, err := locale.Load()
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewWriter(languages)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range append(samples, Receipt{FormTitle: "Order", Design: form.Design{Brand: "#b4532a", Mood: "bold"}, Answers: []Answer{{"Name", "Ada"}}}) {
		m, err := w.Write(kind, "en")
		if err != nil {
			t.Fatal(err)
		}
		head, body, ok := strings.Cut(m.HTML, "</style>")
		_, dark, found := strings.Cut(head, "@media (prefers-color-scheme: dark)")
		if !ok || !found {
			t.Fatalf("%s has no dark mode", kind.Name())
		}
		for _, element := range strings.SplitAfter(body, ">") {
			if !strings.Contains(element, "color: #") && !strings.Contains(element, "background: #") {
				continue
			}
			_, classes, _ := strings.Cut(element, `class="`)
			classes, _, _ = strings.Cut(classes, `"`)
			replaced := strings.Contains(dark, ".button a") && strings.HasPrefix(strings.TrimSpace(element), "<a href")
			for _, class := range strings.Fields(classes) {
				replaced = replaced || strings.Contains(dark, "."+class+" ") || strings.Contains(dark, "."+class+",")
			}
			if !replaced {
				t.Errorf("%s: %s", kind.Name(), element)
			}
		}
	}
}
