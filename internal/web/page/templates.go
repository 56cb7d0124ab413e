package page

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/url"
	"path"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

//go:embed templates
var templateFiles embed.FS

// Templates are the pages of one package, each within the layout.
type Templates struct {
	site   *Site
	byName map[string]func() (*template.Template, error)
}

// LoadTemplates finds templates/*.html; a page has the name of its file. Each defines
// "page". parts.html, if there is one, is part of every page of the package. functions
// are those that only this package needs, or nil. A page is parsed when it is first shown,
// so that the service starts quickly.
func (s *Site) LoadTemplates(files fs.FS, functions template.FuncMap) (Templates, error) {
	list := Templates{s, map[string]func() (*template.Template, error){}}
	names, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		return list, err
	}
	shared, err := s.layout.Clone()
	if err != nil {
		return list, err
	}
	shared.Funcs(functions)
	if parts, err := fs.Glob(files, "templates/parts.html"); err != nil {
		return list, err
	} else if len(parts) > 0 {
		if _, err := shared.ParseFS(files, parts...); err != nil {
			return list, err
		}
	}
	for _, file := range names {
		name := strings.TrimSuffix(path.Base(file), ".html")
		if name == "layout" || name == "parts" {
			continue
		}
		list.byName[name] = sync.OnceValues(func() (*template.Template, error) {
			t, err := shared.Clone()
			if err != nil {
				return nil, err
			}
			return t.ParseFS(files, file)
		})
		s.pages = append(s.pages, list.byName[name])
	}
	return list, nil
}

// ParseTemplates parses the pages of all packages. Tests find mistakes with it.
func (s *Site) ParseTemplates() error {
	for _, parse := range s.pages {
		if _, err := parse(); err != nil {
			return err
		}
	}
	return nil
}

// Lookup returns a page, for a package that adds templates to it.
func (t Templates) Lookup(name string) (*template.Template, error) { return t.byName[name]() }

// execute renders a template of a page.
func (t Templates) execute(out io.Writer, name, part string, p Page) error {
	page, err := t.byName[name]()
	if err != nil {
		return err
	}
	return page.ExecuteTemplate(out, part, p)
}

// functions are those that all templates have.
func (s *Site) functions() template.FuncMap {
	icon := func(name string) string {
		return `<svg class="icon" aria-hidden="true"><use href="/static/icons.svg?v=` + s.static["icons.svg"].version + `#` + name + `"/></svg>`
	}
	return template.FuncMap{
		"static": func(name string) (string, error) {
			a, ok := s.static[name]
			if !ok {
				return "", fmt.Errorf("static file %s not found", name)
			}
			return "/static/" + name + "?v=" + a.version, nil
		},
		"absolute": func(path string) string { return s.BaseURL + path },
		"oembed": func(path string) string {
			return s.BaseURL + "/oembed?format=json&url=" + url.QueryEscape(s.BaseURL+path)
		},
		"icon":     func(name string) template.HTML { return template.HTML(icon(name)) },
		"tag":      tag,
		"isStyle":  func(file string) bool { return path.Ext(file) == ".css" },
		"sentence": Sentence,
		"problem": func(list FieldErrors, field string) template.HTML {
			if list[field] == "" {
				return ""
			}
			return template.HTML(`<p class="problem" id="problem-` + field + `" role="alert">` + icon("warn") +
				`<span>` + template.HTMLEscapeString(Sentence(list[field])) + `</span></p>`)
		},
		// invalid ties a control to its problem and focuses it.
		"invalid": func(list FieldErrors, field string) template.HTMLAttr {
			if list[field] == "" {
				return ""
			}
			return template.HTMLAttr(`aria-invalid="true" aria-describedby="problem-` + field + `" autofocus`)
		},
	}
}

// Sentence adds the capital and the full stop that messages are stored without.
func Sentence(message string) string {
	first, size := utf8.DecodeRuneInString(message)
	message = string(unicode.ToUpper(first)) + message[size:]
	if !strings.HasSuffix(message, ".") {
		message += "."
	}
	return message
}
