package web

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"formulary/internal/form"
)

// Only the file of a question type knows its name; other code uses traits.
func TestNobodyComparesKinds(t *testing.T) {
	var names []string
	for _, kind := range form.Kinds() {
		names = append(names, kind.Name())
	}
	name := `["'](` + strings.Join(names, "|") + `)["']`
	compared := regexp.MustCompile(`(?i)\bkind(\.name)?\b\)? *(===?|!==?) *` + name + `|eq \.Kind ` + name + `|switch [\w.]*\.Kind \{|\w+\{\}\)?\.Name\(\)`)
	for _, pattern := range []string{
		"*.go", "*/*.go", "*/static/*.js", "*/templates/*.html", "../api/*.go", "../store/*.go", "../db/*.go", "../respond/*.go", "../export/*.go", "../chart/*.go", "../cli/*.go", "../form/*.go",
	} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no such files (%v)", pattern, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
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
