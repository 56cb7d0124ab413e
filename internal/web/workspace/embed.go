package workspace

import (
	"fmt"
	"html"
	"slices"
	"strings"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/theme"
	"formulary/internal/web/page"
)

// embedMode is a way to show a form on another site.
type embedMode struct {
	Mode        string
	Label, Help string // keys of translations
	Snippet     string // HTML for the site
}

// embedModeNames are the ways to embed a form, as embed.js calls them.
var embedModeNames = []string{"inline", "popup", "slide-in", "full-page"}

// embedLabels are the names of the ways on the page, and what they do.
var embedLabels = map[string]string{
	"inline": "Inline", "inline help": "Part of the page, as high as the form needs.",
	"popup": "Pop-up", "popup help": "A button opens the form in front of the page.",
	"slide-in": "Slide-in", "slide-in help": "A button in the corner of the window opens the form there.",
	"full-page": "Full page", "full-page help": "The form fills the window. Use it on an empty page.",
}

// embedModes lists the ways to embed a form, with snippets in its colors.
func (pages *Pages) embedModes(req *page.Request, address string, f form.FormInput) []embedMode {
	var list []embedMode
	for _, mode := range embedModeNames {
		list = append(list, embedMode{mode, embedLabels[mode], embedLabels[mode+" help"], pages.embedSnippet(req, address, mode, f)})
	}
	return list
}

// embedSnippet is the HTML that embeds a form. The inline one needs the least.
func (pages *Pages) embedSnippet(req *page.Request, address, mode string, f form.FormInput) string {
	var out strings.Builder
	add := func(name, value string) { fmt.Fprintf(&out, ` data-%s="%s"`, name, html.EscapeString(value)) }
	fmt.Fprintf(&out, `<script src="%s/embed.js"`, pages.Site.BaseURL)
	add("form", address)
	if mode != "inline" {
		add("mode", mode)
	}
	add("title", f.Title)
	if mode == "popup" || mode == "slide-in" {
		design := f.Definition.Design
		colors := theme.Light(design.Theme())
		add("button", pages.Site.TranslateFor(req, "Open form"))
		add("close", pages.Site.TranslateFor(req, "Close"))
		add("color", colors.Fill.String())
		add("ink", colors.OnFill.String())
	}
	return out.String() + ` async></script>`
}

// embedSample is a page that embeds a form as another site would.
type embedSample struct {
	page.Layout
	Embed *embedScript
	Mode  string
}

// embedScript has the attributes of the script that embeds the form.
type embedScript struct{ Address, Title, Color, Ink string }

// ShowEmbedSample shows a page that embeds the form, for the share page.
func (pages *Pages) ShowEmbedSample(req *page.Request) error {
	mode := req.PathValue("mode")
	f, err := pages.Store.Form(req.Context(), req.Owner(), req.PathValue("id"))
	if err != nil {
		return err
	}
	if f.Version == 0 || !slices.Contains(embedModeNames, mode) {
		return fault.NotFound
	}
	live, err := pages.currentForm(req, f)
	if err != nil {
		return err
	}
	design := live.Definition.Design
	colors := theme.Light(design.Theme())
	p := &embedSample{Mode: mode, Embed: &embedScript{f.ID, live.Title, colors.Fill.String(), colors.OnFill.String()}}
	p.Layout = page.Layout{TitleKey: "Your site", Public: true, Language: req.Language(), Look: page.NewLook(form.Design{}, nil), Style: "embed-sample.css", FrameAncestors: "'self'"}
	req.W.Header().Set("X-Frame-Options", "SAMEORIGIN")
	return pages.templates.Render(req, 200, "embed", p)
}
