package workspace

import (
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"formulary/internal/account"
	"formulary/internal/chart"
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/theme"
	"formulary/internal/web/page"
)

const (
	formsPerPage  = 30
	sparklineDays = 30
)

// homePage is the list of forms.
type homePage struct {
	page.Layout
	Live       string // address of the stream that tells of new responses
	Forms      []listedForm
	Total      int64
	Search     string
	Status     string
	Sort       string
	Folder     string // that is shown; empty: all forms are
	Folders    []store.Folder
	Filtered   bool
	Prev, Next string // addresses, or empty
	Templates  []formTemplate
	Moods      []designOption  // of the first form
	Deleted    []store.Deleted // forms that can still be restored
}

// listedForm is a form in the list, with its latest responses.
type listedForm struct {
	form.Form
	Last      time.Time
	Sparkline template.HTML
	Mood      string
	Look      int  // number of the rule with the colors of its miniature
	OnBrand   bool // the page has the brand color
}

var homeSorts = map[string]store.FormSort{"": store.NewestFirst, "changed": "-updated_at", "title": "title", "oldest": "created_at"}

var homeNotices = map[string]string{
	"restored": "Form restored.",
	"joined":   "You joined the space.",
}

// Home lists the forms.
func (pages *Pages) Home(req *page.Request) error {
	query := req.URL.Query()
	number, err := strconv.ParseInt(query.Get("page"), 10, 32)
	if err != nil || number < 1 {
		number = 1
	}
	p := &homePage{
		Layout: page.Layout{TitleKey: "Forms", Section: "forms", Style: "home.css", Assets: []string{"mini.css", "live.js"}, Script: "home.js"}, Search: searchText(query.Get("search")), Status: query.Get("status"), Sort: query.Get("sort"),
		Folder:    searchText(query.Get("folder")),
		Templates: pages.formTemplates.list(req.Language()),
	}
	p.Filtered = p.Search != "" || p.Status != "" || p.Folder != ""
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
		if err := pages.Store.CloseExpiredFormsOf(req.Context(), req.Owner(), pages.Now()); err != nil {
			return err
		}
	}
	p.Live = pages.liveAddressOfAll(req.Owner())
	only := req.Access.FormList
	limits := store.Page{Limit: formsPerPage, Offset: (number - 1) * formsPerPage}
	forms, total, err := pages.Store.Forms(req.Context(), req.Owner(), store.FormFilter{Status: p.Status, Search: p.Search, Folder: p.Folder, Only: only}, sort, limits)
	if err != nil {
		return err
	}
	p.Total = total
	if err := pages.listForms(req, p, forms); err != nil {
		return err
	}
	if number > 1 {
		p.Prev = p.link(number - 1)
	}
	if number*formsPerPage < total {
		p.Next = p.link(number + 1)
	}
	p.NoticeKey = homeNotices[query.Get("done")]
	if p.Folders, err = pages.Store.Folders(req.Context(), req.Owner(), only); err != nil {
		return err
	}
	if p.Deleted, err = pages.deletedForms(req); err != nil {
		return err
	}
	if len(p.Forms) == 0 && !p.Filtered {
		pages.offerMoods(p)
	}
	return pages.templates.Render(req, http.StatusOK, "home", p)
}

// deletedForms lists the forms that the user can restore.
func (pages *Pages) deletedForms(req *page.Request) ([]store.Deleted, error) {
	if req.Access.Check(account.FormsWrite, "") != nil && req.Access.Forms == nil {
		return nil, nil
	}
	all, err := pages.Store.DeletedForms(req.Context(), req.Owner())
	return slices.DeleteFunc(all, func(f store.Deleted) bool { return req.Access.Check(account.FormsWrite, f.ID) != nil }), err
}

// offerMoods shows the moods for the first form.
func (pages *Pages) offerMoods(p *homePage) {
	var none form.Design
	for _, choice := range form.DesignChoices() {
		if choice.Name == "mood" {
			p.Moods = newDesignOptions(choice, none)
		}
	}
	style := theme.NewStyles(none.Theme(), ".mini-")
	p.Look = page.Look{Colors: template.CSS(style.CSS), Hash: style.Hash}
}

// link is the address of another page of the same list.
func (p *homePage) link(number int64) string {
	query := url.Values{"page": {strconv.FormatInt(number, 10)}}
	for name, value := range map[string]string{"search": p.Search, "status": p.Status, "sort": p.Sort, "folder": p.Folder} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return "/?" + query.Encode()
}

// FolderLink is the address of the list of a folder.
func (p *homePage) FolderLink(name string) string { return folderPath(name) }

// listForms adds the forms and their latest activity to the page.
func (pages *Pages) listForms(req *page.Request, p *homePage, forms []form.Form) error {
	ids := make([]string, len(forms))
	for i, f := range forms {
		ids[i] = f.ID
	}
	activity, err := pages.Store.FormActivity(req.Context(), req.Owner(), ids)
	if err != nil {
		return err
	}
	designs, err := pages.Store.Designs(req.Context(), req.Owner(), ids)
	if err != nil {
		return err
	}
	now := pages.Now().UTC()
	var rules []theme.Rule
	looks := map[theme.Spec]int{}
	for _, f := range forms {
		a := activity[f.ID]
		days := make([]int64, sparklineDays)
		for i := range days {
			days[i] = a.Days[now.AddDate(0, 0, i-sparklineDays+1).Format(time.DateOnly)]
		}
		sparkline := chart.Sparkline(days, pages.Site.TranslateFor(req, "Responses in the last %d days", sparklineDays))
		design := designs[f.ID]
		spec := design.Theme()
		look, known := looks[spec]
		if !known {
			look = len(rules)
			looks[spec] = look
			rules = append(rules, theme.Rule{Selector: ".look-" + strconv.Itoa(look), Spec: spec})
		}
		p.Forms = append(p.Forms, listedForm{f.At(now), a.Last, template.HTML(sparkline), string(spec.Mood), look, spec.Background == theme.Brand})
	}
	if len(rules) > 0 {
		style := pages.styles.Styles(rules)
		p.Layout.Look = page.Look{Colors: template.CSS(style.CSS), Hash: style.Hash}
	}
	return nil
}
