package workspace

import (
	"os"
	"strings"
	"testing"

	"formulary/internal/form"
)

// The builder has a drawing for each question type.
func TestKindSketches(t *testing.T) {
	script, err := os.ReadFile("../page/static/builder-controls.js")
	if err != nil {
		t.Fatal(err)
	}
	_, sketches, _ := strings.Cut(string(script), "const sketches = {\n")
	sketches, _, _ = strings.Cut(sketches, "\n};")
	for _, kind := range form.Kinds() {
		if sketch := kind.Traits().Sketch; sketch != "" && !strings.Contains("\n"+sketches, "\n  "+sketch+": ") {
			t.Errorf("%s is drawn as %s, which builder-controls.js does not have", kind.Name(), sketch)
		}
	}
}
