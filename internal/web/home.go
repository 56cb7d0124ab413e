package web

import (
	"cmp"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"formulary/internal/chart"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
)

const (
	homePage  = 30
	sparkDays = 30
)

// formsPage is the list of one's forms.
type formsPage struct {
	layout
	Forms      []listedForm
	Total      int64
	Search     string
	Status     string
	Sort       string
	Filtered   bool
	Prev, Next string // addresses; empty: there is none
	Starters   []formTemplate
	Deleted    []store.Deleted // what can still be brought back
}

// listedForm is a form in the list, with what came in.
type listedForm struct {
	form.Form
	Last  time.Time
	Spark template.HTML
}

var homeSorts = map[string]store.FormSort{"": store.NewestFirst, "changed": "-updated_at", "title": "title", "oldest": "created_at"}

var homeNotices = map[string]string{
	"restored": "Form restored.",
}

func (web *Handler) home(v *pageRequest) error {
	query := v.r.URL.Query()
	page, err := strconv.ParseInt(query.Get("page"), 10, 32)
	if err != nil || page < 1 {
		page = 1
	}
	p := &formsPage{layout: layout{title: "Forms", Here: "forms"}, Search: searchText(query.Get("search")), Status: query.Get("status"), Sort: query.Get("sort"), Starters: web.starters.in(web.viewerLanguage(v))}
	p.Filtered = p.Search != "" || p.Status != ""
	switch form.Status(p.Status) {
	case form.Draft, form.Open, form.Closed:
	default:
		p.Status = ""
	}
	sort, ok := homeSorts[p.Sort]
	if !ok {
		sort, p.Sort = store.NewestFirst, ""
	}
	if p.Status != "" {
		if err := web.Store.CloseExpiredFormsOf(v.ctx(), v.owner(), web.Now()); err != nil {
			return err
		}
	}
	forms, total, err := web.Store.Forms(v.ctx(), v.owner(), store.FormFilter{Status: p.Status, Search: p.Search}, sort, store.Page{Limit: homePage, Offset: (page - 1) * homePage})
	if err != nil {
		return err
	}
	p.Total = total
	if err := web.listForms(v, p, forms); err != nil {
		return err
	}
	link := func(to int64) string {
		kept := url.Values{"page": {strconv.FormatInt(to, 10)}}
		for name, value := range map[string]string{"search": p.Search, "status": p.Status, "sort": p.Sort} {
			if value != "" {
				kept.Set(name, value)
			}
		}
		return "/?" + kept.Encode()
	}
	if page > 1 {
		p.Prev = link(page - 1)
	}
	if page*homePage < total {
		p.Next = link(page + 1)
	}
	p.notice = homeNotices[query.Get("done")]
	if p.Deleted, err = web.Store.DeletedForms(v.ctx(), v.owner()); err != nil {
		return err
	}
	return web.render(v, http.StatusOK, "home", p)
}

// listForms adds to each form when its responses came.
func (web *Handler) listForms(v *pageRequest, p *formsPage, forms []form.Form) error {
	ids := make([]string, len(forms))
	for i, f := range forms {
		ids[i] = f.ID
	}
	activity, err := web.Store.FormActivity(v.ctx(), v.owner(), ids)
	if err != nil {
		return err
	}
	now := web.Now().UTC()
	for _, f := range forms {
		a := activity[f.ID]
		days := make([]int64, sparkDays)
		for i := range days {
			days[i] = a.Days[now.AddDate(0, 0, i-sparkDays+1).Format(time.DateOnly)]
		}
		p.Forms = append(p.Forms, listedForm{f.At(now), a.Last, template.HTML(chart.Sparkline(days, web.translateFor(v, "Responses in the last %d days", sparkDays)))})
	}
	return nil
}

// translateFor says something to whoever is looking.
func (web *Handler) translateFor(v *pageRequest, text string, args ...any) string {
	return web.languages.of(web.viewerLanguage(v)).translate(text, args...)
}

// createForm makes a form out of nothing, or out of one of the starters.
func (web *Handler) createForm(v *pageRequest) error {
	language := web.viewerLanguage(v)
	plan := form.FormInput{
		Header: form.Header{Title: cmp.Or(v.field("title"), web.translateFor(v, "Untitled form")), Language: language}, Availability: form.Availability{Sites: form.AnySite},
		Definition: &form.Definition{Fields: []*form.Field{}},
	}
	if name := v.field("template"); name != "" {
		var ok bool
		if plan, ok = web.starters.plan(language, name); !ok {
			return fault.New(fault.NotFoundInAccount, "That template doesn’t exist.")
		}
	}
	if err := plan.Normalize(); err != nil {
		return err
	}
	f, err := web.Store.CreateFormFrom(v.ctx(), v.owner(), plan, store.IdempotencyKey{}, web.Now())
	if err != nil {
		return err
	}
	return web.redirect(v, "/forms/"+f.ID+"/build")
}

func (web *Handler) duplicateForm(v *pageRequest) error {
	f, err := web.Store.DuplicateForm(v.ctx(), v.owner(), v.r.PathValue("id"), store.IdempotencyKey{}, web.Now())
	if err != nil {
		return err
	}
	return web.redirect(v, "/forms/"+f.ID+"/build")
}

func (web *Handler) deleteForm(v *pageRequest) error {
	id := v.r.PathValue("id")
	if err := web.Store.DeleteForm(v.ctx(), v.owner(), id, 0, web.Now()); err != nil {
		return err
	}
	return web.redirect(v, "/#deleted")
}

func (web *Handler) restoreForm(v *pageRequest) error {
	if _, err := web.Store.RestoreForm(v.ctx(), v.owner(), v.r.PathValue("id"), web.Now()); err != nil {
		return err
	}
	return web.redirect(v, "/?done=restored")
}

func (web *Handler) closeForm(v *pageRequest) error {
	id := v.r.PathValue("id")
	if _, err := web.Store.CloseForm(v.ctx(), v.owner(), id, 0, web.Now()); err != nil && fault.Wrap(err).Code != fault.FormNotOpen {
		return err
	}
	return web.redirect(v, "/forms/"+id+"/share?done=closed")
}

func (web *Handler) reopenForm(v *pageRequest) error {
	id := v.r.PathValue("id")
	_, err := web.Store.ReopenForm(v.ctx(), v.owner(), id, 0, web.Now())
	if list, other := newProblems(err); err != nil && other == nil {
		return web.sharing(v, http.StatusUnprocessableEntity, list)
	}
	if err != nil && fault.Wrap(err).Code != fault.FormNotOpen {
		return err
	}
	return web.redirect(v, "/forms/"+id+"/share?done=opened")
}
