package web

import (
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"formulary/internal/form"
)

// Every kind has a template of its own, and every template a kind.
func TestKindTemplates(t *testing.T) {
	files, err := fs.Glob(templateFiles, "templates/kinds/*.html")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"templates/kinds/kind.html"} // what they share
	for _, kind := range form.Kinds() {
		if !kind.Traits().PageBreak {
			want = append(want, "templates/kinds/"+kind.Name()+".html")
		}
	}
	slices.Sort(want)
	if !slices.Equal(files, want) {
		t.Errorf("templates:\n%v\nwant:\n%v", files, want)
	}
	if _, err := loadPages(map[string]asset{}, "", nil); err != nil {
		t.Error(err)
	}
}

// The builder can draw every kind: its sketch is one that the script has.
func TestKindSketches(t *testing.T) {
	script, err := os.ReadFile("static/builder-canvas.js")
	if err != nil {
		t.Fatal(err)
	}
	_, sketches, _ := strings.Cut(string(script), "const sketches = {\n")
	sketches, _, _ = strings.Cut(sketches, "\n};")
	for _, kind := range form.Kinds() {
		if sketch := kind.Traits().Sketch; sketch != "" && !strings.Contains("\n"+sketches, "\n  "+sketch+": ") {
			t.Errorf("%s is drawn as %s, which builder-canvas.js does not have", kind.Name(), sketch)
		}
	}
}

// Only the file of a kind knows its name; everything else asks for traits.
func TestNobodyComparesKinds(t *testing.T) {
	var names []string
	for _, kind := range form.Kinds() {
		names = append(names, kind.Name())
	}
	name := `["'](` + strings.Join(names, "|") + `)["']`
	compared := regexp.MustCompile(`(?i)\bkind(\.name)?\b\)? *(===?|!==?) *` + name + `|eq \.Kind ` + name + `|switch [\w.]*\.Kind \{|\w+\{\}\)?\.Name\(\)`)
	for _, pattern := range []string{
		"*.go", "static/*.js", "templates/*.html", "../api/*.go", "../store/*.go", "../db/*.go", "../respond/*.go", "../export/*.go", "../chart/*.go", "../cli/*.go", "../form/*.go",
	} {
		for _, file := range sourceFiles(t, pattern) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range compared.FindAll(content, -1) {
				t.Errorf("%s: %s; use a trait of the kind", file, found)
			}
		}
	}
}
