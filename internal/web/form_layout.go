package web

import "formulary/internal/form"

// formPage is a page of the workspace about one form; its tabs lead to the others.
type formPage struct {
	layout
	Form form.Form
	Tab  string // build, share, responses, summary
	Link string // address of the public page
}

func (web *Handler) formPageOf(v *pageRequest, f form.Form, tab string) formPage {
	f = f.At(web.Now())
	return formPage{
		layout: layout{Title: f.Title, Here: "forms"}, Form: f, Tab: tab,
		Link: web.BaseURL + "/f/" + f.Address(),
	}
}
