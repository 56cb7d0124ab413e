package public

import (
	"io/fs"
	"slices"
	"testing"

	"formulary/internal/form"
	"formulary/internal/web/page"
)

// Each question type has a template, and each template a type.
func TestKindTemplates(t *testing.T) {
	files, err := fs.Glob(templateFiles, "templates/kinds/*.html")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"templates/kinds/kind.html"} // shared by all
	for _, kind := range form.Kinds() {
		if !kind.Traits().PageBreak {
			want = append(want, "templates/kinds/"+kind.Name()+".html")
		}
	}
	slices.Sort(want)
	if !slices.Equal(files, want) {
		t.Errorf("templates:\n%v\nwant:\n%v", files, want)
	}
	site, err := page.New(page.Config{})
	if err != nil {
		t.Fatal(err)
	}
	templates, err := site.LoadTemplates(templateFiles, templateFunctions)
	if err != nil {
		t.Fatal(err)
	}
	formPage, err := templates.Lookup("form")
	if err != nil {
		t.Fatal(err)
	}
	if err := addKinds(formPage, nil); err != nil {
		t.Error(err)
	}
	if err := site.ParseTemplates(); err != nil {
		t.Error(err)
	}
}
