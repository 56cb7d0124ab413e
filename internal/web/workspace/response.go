package workspace

import (
	"net/http"
	"slices"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// responsePage is one response.
type responsePage struct {
	formLayout
	Response form.Response
	Answers  []shownAnswer
	Newer    string
	Older    string
	HasFiles bool
}

type shownAnswer struct {
	Label string
	Text  string
	Link  string // if the answer is a web or email address
	Files []shownFile
}

// ShowResponse shows one response.
func (pages *Pages) ShowResponse(req *page.Request) error {
	f, err := pages.Store.Form(req.Context(), req.Owner(), req.PathValue("id"))
	if err != nil {
		return err
	}
	r, err := pages.Store.Response(req.Context(), req.Owner(), f.ID, req.PathValue("response"))
	if err != nil {
		return err
	}
	d, err := pages.Store.Definition(req.Context(), req.Owner(), f.ID, r.Version)
	if err != nil {
		return err
	}
	answers, err := r.Answers()
	if err != nil {
		return err
	}
	var rows map[string]store.File
	if d.HasFiles() {
		if rows, err = pages.fileRows(req, r); err != nil {
			return err
		}
	}
	p := &responsePage{formLayout: pages.newFormLayout(f, "responses"), Response: r}
	texts := d.NewInterpolator(func(other *form.Field, key string) string { return pages.formatAnswer(req, other, answers[key]) })
	for _, field := range d.Fields {
		answer, ok := answers[field.Key]
		if !ok || !field.HasAnswer() {
			continue
		}
		a := shownAnswer{Label: texts.Text(field.Label, nil), Text: pages.formatAnswer(req, field, answer)}
		if a.Label == "" {
			a.Label = field.Key
		}
		if link := field.Traits().Link; link != nil {
			a.Link = link(a.Text)
		}
		if field.Traits().Files {
			a.Files = pages.shownFiles(req, answer, rows)
			p.HasFiles = p.HasFiles || len(a.Files) > 0
			p.Media = p.Media || slices.ContainsFunc(a.Files, func(f shownFile) bool { return f.Player != "" })
		}
		p.Answers = append(p.Answers, a)
	}
	p.Newer, p.Older, err = pages.Store.Neighbors(req.Context(), req.Owner(), r)
	if err != nil {
		return err
	}
	return pages.templates.Render(req, http.StatusOK, "response", p)
}
