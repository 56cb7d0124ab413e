package workspace

import (
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// EditResponse shows the answers of a response in the form's own controls, and saves them.
func (pages *Pages) EditResponse(req *page.Request) error {
	f, err := pages.Store.Form(req.Context(), req.Owner(), req.PathValue("id"))
	if err != nil {
		return err
	}
	r, err := pages.Store.Response(req.Context(), req.Owner(), f.ID, req.PathValue("response"))
	if err != nil {
		return err
	}
	v, err := pages.Store.Version(req.Context(), req.Owner(), f.ID, r.Version)
	if err != nil {
		return err
	}
	answers, err := r.Answers()
	if err != nil {
		return err
	}
	address := responseAddress(f.ID, r.ID)
	return pages.ShowEdit(req, page.ResponseEdit{
		Form:    store.PublicForm{Owner: req.Owner(), ID: f.ID, Status: form.Open, Version: r.Version, Header: v.Header, Availability: f.Availability, Definition: v.Definition},
		Answers: answers, Tag: r.AnswerTag(), Action: address + "/edit", Cancel: address,
		Save: func(answers map[string]any, seen string) error {
			// The form has validated them against the version that was answered.
			change := store.ResponseChange{
				Answers: func(*form.Definition, map[string]any) (map[string]any, error) { return answers, nil }, Seen: seen,
			}
			if _, err := pages.Store.UpdateAndMarkResponse(req.Context(), req.Owner(), store.ResponseKey{FormID: f.ID, ID: r.ID}, change, pages.Now()); err != nil {
				return err
			}
			return req.Redirect(address + "?done=edited")
		},
	})
}
