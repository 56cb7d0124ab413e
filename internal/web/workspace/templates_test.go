package workspace

import (
	"testing"

	"formulary/internal/web/page"
)

// Pages are parsed when they are first shown, so mistakes are found here.
func TestTemplates(t *testing.T) {
	site, err := page.New(page.Config{})
	if err == nil {
		_, err = site.LoadTemplates(templateFiles, nil)
	}
	if err == nil {
		err = site.ParseTemplates()
	}
	if err != nil {
		t.Fatal(err)
	}
}
