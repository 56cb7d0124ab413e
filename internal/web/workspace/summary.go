package workspace

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// summaryBudget is how long a request counts. With very many responses the page then shows
// what it has, and its script asks for the rest.
const summaryBudget = 100 * time.Millisecond

// summaryPage shows charts and totals of the responses that its filters select.
type summaryPage struct {
	responsesPage // the filters
	query         *responseQuery
	wrong         *store.FilterError // a condition that no response can fit
	zone          *time.Location
	country       func(f *form.Field, code string) string
	period        period
	now, before   *form.Summary // before: of the earlier period, or nil

	Responses int64
	Periods   []periodLink
	Compare   *comparePeriods
	Figures   []figure
	OverTime  overTime
	DropOff   *dropOff // nil: the filters are not about visits
	Sections  []questionSummary
	Cross     *crossTable
	Crossable []crossQuestion
}

// summaryParameters are the parts of the address beside the filters.
var summaryParameters = []string{"compare", "rows", "columns"}

// Action is the address that the filters lead to.
func (p *summaryPage) Action() string { return "/forms/" + p.Form.ID + "/summary" }

// Without returns the parts of the query that a form with the named controls repeats.
func (p *summaryPage) Without(names ...string) []parameter {
	list := p.responsesPage.Without(names...)
	for _, name := range summaryParameters {
		if value := p.Kept.Get(name); value != "" && !slices.Contains(names, name) {
			list = append(list, parameter{name, value})
		}
	}
	return list
}

// ShowSummary shows the summary of all versions of a form.
func (pages *Pages) ShowSummary(req *page.Request) error {
	p, err := pages.newSummary(req)
	if err != nil {
		return err
	}
	query := req.URL.Query()
	if query.Get("progress") != "" {
		return pages.sendSummary(req, p)
	}
	count := counting{budget: summaryBudget}
	switch {
	case query.Get("whole") != "":
		count.budget = 0
	case query.Has("budget"): // counts as little as possible, for tests
		count.budget = 1
	}
	if err := pages.fillSummary(req, p, count); err != nil {
		return err
	}
	return pages.templates.Render(req, http.StatusOK, "summary", p)
}

// newSummary reads the filters of the page.
func (pages *Pages) newSummary(req *page.Request) (*summaryPage, error) {
	f, err := pages.Store.Form(req.Context(), req.Owner(), req.PathValue("id"))
	if err != nil {
		return nil, err
	}
	p := &summaryPage{zone: page.LoadZone(req.User.TimeZone)}
	p.formLayout, p.responsesPage.Days = pages.newFormLayout(f, "summary"), dayChoices()
	p.Script, p.Style, p.Assets = "summary.js", "responses.css", []string{"summary.css"}
	pages.Site.SetLanguage(req, &p.Layout)
	p.country = func(f *form.Field, code string) string { return pages.countryName(req, f, code) }
	q, err := pages.readQuery(req, f.ID)
	if wrong, ok := errors.AsType[*store.FilterError](err); ok {
		p.wrong, err = wrong, nil
	}
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"order", "by", "column", "view"} { // of the list only
		q.kept.Del(name)
	}
	for _, name := range summaryParameters {
		if value := searchText(req.URL.Query().Get(name)); value != "" {
			q.kept.Set(name, value)
		}
	}
	q.tab, q.filter.Oldest = "summary", false
	p.query, p.Kept, p.All = q, q.kept, p.Action()
	p.Search, p.Filtered = q.filter.Search, q.isFiltered() || p.wrong != nil
	p.readPeriod(pages.Now())
	p.arrangeColumns(q.versions, store.ResponseLayout{})
	q.kept.Del("column")
	pages.fillFilterMenu(req, &p.responsesPage, q.fields)
	pages.fillChips(req, &p.responsesPage, q, p.wrong)
	p.hidePeriodChip()
	p.Marks, err = pages.Store.MarkTotals(req.Context(), req.Owner(), f.ID)
	return p, err
}

// hidePeriodChip removes the chip of the period, because the page shows all periods.
func (p *summaryPage) hidePeriodChip() {
	p.Chips = slices.DeleteFunc(p.Chips, func(chip filterChip) bool {
		address, err := url.Parse(chip.Remove)
		return err == nil && p.Kept.Has("days") && !address.Query().Has("days")
	})
}

// counting says how long a request may count, and whom to tell.
type counting struct {
	budget   time.Duration // 0: until all is counted
	progress func(float64) error
}

// fillSummary counts the responses and draws the page.
func (pages *Pages) fillSummary(req *page.Request, p *summaryPage, count counting) error {
	cross := p.readCross()
	if p.wrong != nil {
		p.now = form.NewSummary()
	} else if err := pages.countResponses(req, p, cross, count); err != nil {
		return err
	}
	p.Responses = p.now.Responses
	texts, err := pages.textAnswers(req, p)
	if err != nil {
		return err
	}
	if err := pages.addDropOff(req, p); err != nil {
		return err
	}
	p.addDays()
	for _, field := range p.query.fields {
		stats, before := p.now.Fields[field.ID], (*form.QuestionStats)(nil)
		if stats == nil {
			stats = &form.QuestionStats{}
		}
		if p.before != nil {
			if before = p.before.Fields[field.ID]; before == nil {
				before = &form.QuestionStats{}
			}
		}
		section := p.summarize(field, stats, before)
		section.addTexts(p, field, texts)
		p.Sections = append(p.Sections, section)
	}
	p.addFigures()
	p.showCross(cross)
	return nil
}

// countResponses counts the responses, and those of the earlier period.
func (pages *Pages) countResponses(req *page.Request, p *summaryPage, cross *form.CrossTab, count counting) error {
	began := time.Now()
	parts, done := 1.0, 0.0
	if p.Compare.On() {
		parts = 2
	}
	some := func(filter store.ResponseFilter, cross *form.CrossTab) (*form.Summary, error) {
		q := store.SummaryQuery{Filter: filter, Zone: p.zone, Cross: cross, Budget: count.budget}
		if count.budget > 0 {
			q.Budget = max(count.budget-time.Since(began), 1)
		}
		if count.progress != nil {
			q.Progress = func(share float64) error { return count.progress((done + share) / parts) }
		}
		s, err := pages.Store.SummarizeSome(req.Context(), req.Owner(), p.Form.ID, q)
		done += s.Done
		return s.Summary, err
	}
	var err error
	if p.query.isFiltered() {
		p.now, err = some(p.query.filter, cross)
	} else if p.now, err = pages.Store.Summary(req.Context(), req.Owner(), p.Form.ID); err == nil && cross != nil {
		_, err = some(p.query.filter, cross)
	} else {
		done = 1
	}
	if err == nil && p.Compare.On() {
		filter := p.query.filter
		filter.Since, filter.Until = p.period.before()
		p.before, err = some(filter, nil)
	}
	if err == nil && done < parts {
		p.Scan = &scanProgress{Percent: int(100 * done / parts), Next: p.query.with(p.Form.ID, func(query url.Values) { query.Set("whole", "1") })}
	}
	return err
}
