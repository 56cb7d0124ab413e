// Package page has what all pages share: the request and who sent it, the layout,
// rendering, translations, sessions and static files. The packages next to it have the
// pages themselves. They import this package and never each other, so that a change to
// one group of pages cannot affect another.
package page

import (
	"context"
	"html/template"
	"log/slog"

	"formulary/internal/locale"
	"formulary/internal/store"
)

// Config is what a Site needs.
type Config struct {
	BaseURL string // of the installation, without a slash at the end
	Log     *slog.Logger
	// KeepsMails says that there is no mail server: administrators find mails on a page.
	KeepsMails bool
	// Spaces returns what a person can switch between.
	Spaces func(ctx context.Context, person, current string) (store.SpaceMenu, error)
}

// Site renders pages and errors, and serves static files. All groups of pages share one.
type Site struct {
	Config
	Languages locale.Languages

	static map[string]asset
	layout *template.Template // with the parts that all pages share; each page has a copy
	own    Templates          // the error page
	pages  []func() (*template.Template, error)
}

// New loads static files, translations and the layout.
func New(c Config) (*Site, error) {
	s := &Site{Config: c}
	var err error
	if s.static, err = loadStatic(); err != nil {
		return nil, err
	}
	if s.Languages, err = locale.Load(); err != nil {
		return nil, err
	}
	s.layout, err = template.New("").Funcs(s.functions()).ParseFS(templateFiles, "templates/layout.html", "templates/parts.html")
	if err != nil {
		return nil, err
	}
	if s.own, err = s.LoadTemplates(templateFiles, nil); err != nil {
		return nil, err
	}
	return s, nil
}

// TranslateFor returns a text in the language of the user.
func (s *Site) TranslateFor(req *Request, text string, args ...any) string {
	return s.Languages.Catalog(req.Language()).Translate(text, args...)
}
