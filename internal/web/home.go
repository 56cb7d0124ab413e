package web

import (
	"net/http"
	"strconv"

	"formulary/internal/form"
	"formulary/internal/store"
)

const homePage = 50

// formsPage is the list of one's forms.
type formsPage struct {
	layout
	Forms      []form.Form
	Total      int64
	Page       int64
	Prev, Next int64 // 0: there is none
}

func (web *Web) home(v *visit) error {
	page, err := strconv.ParseInt(v.r.URL.Query().Get("page"), 10, 32)
	if err != nil || page < 1 {
		page = 1
	}
	forms, total, err := web.Store.Forms(v.ctx(), v.person.ID, store.FormFilter{}, store.NewestFirst, homePage, (page-1)*homePage)
	if err != nil {
		return err
	}
	p := &formsPage{layout: layout{Title: "Forms", Here: "forms"}, Forms: forms, Total: total, Page: page, Prev: page - 1}
	if page*homePage < total {
		p.Next = page + 1
	}
	return web.render(v, http.StatusOK, "home", p)
}
