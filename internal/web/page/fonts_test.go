package page

import (
	"regexp"
	"strings"
	"testing"
)

// On Linux, the generic serif looks like Times, so every list of serif fonts names one that
// does not.
func TestSerifFonts(t *testing.T) {
	css, err := staticFiles.ReadFile("static/form.css")
	if err != nil {
		t.Fatal(err)
	}
	lists := regexp.MustCompile(`[^:;{}]*, serif[;}\s]`).FindAllString(string(css), -1)
	if len(lists) < 2 {
		t.Fatalf("found %q", lists)
	}
	for _, list := range lists {
		if !strings.Contains(list, "Noto Serif") || !strings.Contains(list, "DejaVu Serif") {
			t.Errorf("%s has no font for Linux", list)
		}
	}
}
