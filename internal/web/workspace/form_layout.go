package workspace

import (
	"formulary/internal/form"
	"formulary/internal/web/page"
)

// formLayout is the layout of pages about one form; its tabs link to the others.
type formLayout struct {
	page.Layout
	Form form.Form
	Tab  string // build, flow, design, share, connect, responses, summary
	Part string // of the tab connect: notify, webhooks
	Link string // of the public page
	Live string // address of the stream that tells of new responses
}

func (pages *Pages) newFormLayout(f form.Form, tab string) formLayout {
	f = f.At(pages.Now())
	return formLayout{
		Layout: page.Layout{Title: f.Title, Section: "forms", Bar: true}, Form: f, Tab: tab,
		Link: pages.Site.BaseURL + "/f/" + f.Address(), Live: liveAddress(f.ID, f.ResponseCount),
	}
}
