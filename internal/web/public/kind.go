package public

import (
	"fmt"
	"html/template"
	"io/fs"
	"strings"

	"formulary/internal/form"
)

// templateFunctions are those that only public pages need.
var templateFunctions = template.FuncMap{"through": wholeNumbers}

// addKinds adds a template for each question type to the page of a form. Other pages do
// without them, because each page has its own copy of what it shares.
func addKinds(page *template.Template, more fs.FS) error {
	for _, files := range []fs.FS{templateFiles, more} {
		if files == nil {
			continue
		}
		if _, err := page.ParseFS(files, "templates/kinds/*.html"); err != nil {
			return err
		}
	}
	for _, kind := range form.Kinds() {
		if page.Lookup("kind-"+kind.Name()) == nil && !kind.Traits().PageBreak {
			return fmt.Errorf("question type %s has no template", kind.Name())
		}
	}
	_, err := page.Parse(kindChooser(form.Kinds()))
	return err
}

// kindChooser is the source of the template "kind", which calls the template of a
// question's type. html/template escapes a template for the place where it is called, so
// the names must be known when it is parsed.
func kindChooser(kinds []form.Kind) string {
	var out strings.Builder
	out.WriteString(`{{define "kind"}}`)
	keyword := "if"
	for _, kind := range kinds {
		if !kind.Traits().PageBreak {
			fmt.Fprintf(&out, `{{%s eq .Kind %q}}{{template %q .}}`, keyword, kind.Name(), "kind-"+kind.Name())
			keyword = "else if"
		}
	}
	out.WriteString(`{{end}}{{end}}`)
	return out.String()
}

// wholeNumbers lists the whole numbers from one to another, for stars and scales.
func wholeNumbers(from, to *float64) []int {
	var list []int
	for n := int(*from); n <= int(*to); n++ {
		list = append(list, n)
	}
	return list
}
