package page

import (
	"strings"
	"testing"

	"formulary/internal/theme"
)

// The canvas gets the look of a page at rest, limited to itself.
func TestCanvasStyle(t *testing.T) {
	css := minifyCSS([]byte(`@layer base, paper, night;
@layer base { :root { --gap: 1rem; } body { margin: 0; } button, .button:not(a, b) { color: red; } button:hover { color: blue; } .cover { block-size: 3vw; &:focus { outline: 0; } & svg { fill: none; } } }
@layer paper { .question { gap: 2rem; } @media (max-width: 40rem) { .choice { gap: 0; } } @media print { .choice { gap: 1rem; } } }
@layer night { .question { gap: 3rem; } }`))
	want := `@layer canvas{@scope (.canvas) to (.tools){@layer base,paper,night;` +
		`@layer base{:scope{--gap:1rem}:scope{margin:0}.button:not(a,b){color:red}.cover{block-size:3cqi;& svg{fill:none}}}` +
		`@layer paper{.question{gap:2rem}@container (max-width:40rem){.choice{gap:0}}}}}`
	if got := string(newCanvasStyle(theme.Paper, css)); got != want {
		t.Errorf("canvas style:\n%s\nwant\n%s", got, want)
	}
	files, err := loadStatic()
	if err != nil {
		t.Fatal(err)
	}
	for _, mood := range theme.Moods() {
		file, ok := files[canvasName(formStyleSheet(mood))]
		css := string(file.content)
		if !ok || strings.Count(css, "{") != strings.Count(css, "}") || strings.Contains(css, ":root") || len(css) > 9500 {
			t.Errorf("%s: style of the canvas with %d bytes: %.300s", mood, len(css), css)
		}
	}
}
