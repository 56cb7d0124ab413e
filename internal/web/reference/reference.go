// Package reference is the API reference for developers, rendered from the OpenAPI
// document: an overview, a page for each operation, and an explorer that sends requests
// from these pages. It knows the API only from the document, so the two cannot differ.
package reference

import (
	"embed"
	"html/template"
	"sync"

	"formulary/internal/web/page"
)

//go:embed templates
var templateFiles embed.FS

// Config is what the reference needs.
type Config struct {
	Site     *page.Site
	Document func() []byte // the OpenAPI document
	Explorer string        // client_id of the application that sends requests from these pages
}

// Pages handles the requests of the reference.
type Pages struct {
	Config
	templates page.Templates
	// reference reads the document when it is first needed: few people open these pages.
	reference func() (*reference, error)
}

// New loads the pages.
func New(c Config) (*Pages, error) {
	pages := &Pages{Config: c}
	pages.reference = sync.OnceValues(func() (*reference, error) { return newReference(c.Document(), c.Site.BaseURL) })
	var err error
	pages.templates, err = c.Site.LoadTemplates(templateFiles, template.FuncMap{"inline": inline})
	return pages, err
}
