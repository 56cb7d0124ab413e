package workspace

import (
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// Preview shows the draft, or a version, as respondents would see it.
func (pages *Pages) Preview(req *page.Request) error {
	f, err := pages.Store.Form(req.Context(), req.Owner(), req.PathValue("id"))
	if err != nil {
		return err
	}
	d, err := pages.Store.Draft(req.Context(), req.Owner(), f.ID)
	if err != nil {
		return err
	}
	draft := store.Version{Header: form.Header{Title: f.Title, Description: f.Description, Language: f.Language}, Definition: d}
	shown, err := pages.readVersion(req, f, "version", draft)
	if err != nil {
		return err
	}
	d = shown.Definition
	// A copy with choices that are not saved: stored definitions are shared.
	d = &form.Definition{Fields: d.Fields, Endings: d.Endings, Settings: d.Settings, Design: validDesign(d.Design, req.URL.Query())}
	return pages.ShowPreview(req, store.PublicForm{
		Owner: req.Owner(), ID: f.ID, Status: form.Open, Header: shown.Header, Availability: f.Availability, Definition: d,
	})
}
