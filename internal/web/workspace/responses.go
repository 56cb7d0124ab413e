package workspace

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

const (
	responsesPerPage = 25
	defaultShown     = 5 // columns, unless the user chose some
)

// responsesPage is the table of responses.
type responsesPage struct {
	formLayout
	Columns     []responseColumn
	Rows        []responseRow
	Total       int64
	From, To    int64
	Search      string
	Since       string
	Until       string
	Oldest      bool
	Where       string // key of the column to filter by
	Is          string // answer to filter by
	Filtered    bool
	Suggestions []suggestion
	Prev        string
	Next        string
	Kept        url.Values // the query without the page number
	Deleted     []string   // IDs that were just deleted
	Filters     []string   // descriptions of the filter
	Restorable  []string   // IDs that were deleted earlier and can be restored
	SortLimit   int64      // if more responses match than can be sorted by an answer
}

type responseColumn struct {
	form.Column
	Type   string // of a control for such an answer; empty: text
	List   string // ID of its suggestions, or empty
	Shown  bool
	Sorted string // ascending, descending; empty: not sorted by this column
	Sort   string // address of the table sorted by this column, or empty
}

type responseRow struct {
	ID          string
	SubmittedAt time.Time
	Cells       []string
}

// Query is the filter of the table.
func (p *responsesPage) Query() string { return p.Kept.Encode() }

// Export is the address of an export of the table.
func (p *responsesPage) Export(format string) string {
	query := url.Values{"format": {format}}
	for name, values := range p.Kept {
		query[name] = values
	}
	return "/forms/" + p.Form.ID + "/responses/export?" + query.Encode()
}

// responseQuery reads the filter of the table from the address. It also returns the part
// of the query that links keep.
func (pages *Pages) responseQuery(req *page.Request, formID string) (store.ResponseFilter, url.Values, error) {
	query := req.URL.Query()
	kept := url.Values{}
	for _, name := range []string{"search", "since", "until", "where", "is", "order", "by", "column"} {
		for _, value := range query[name] {
			if value = searchText(value); value != "" {
				kept.Add(name, value)
			}
		}
	}
	filter := store.ResponseFilter{Search: kept.Get("search"), Oldest: kept.Get("order") == "oldest"}
	zone := page.LoadZone(req.User.TimeZone)
	if day, err := time.ParseInLocation(time.DateOnly, kept.Get("since"), zone); err == nil {
		filter.Since = day
	}
	if day, err := time.ParseInLocation(time.DateOnly, kept.Get("until"), zone); err == nil {
		filter.Until = day.AddDate(0, 0, 1) // including the day
	}
	names := map[string]string{}
	for _, c := range pages.Site.Languages.Countries(req.Language()) {
		names[c.Code] = c.Name
	}
	var err error
	if filter.Meant, err = pages.Store.MatchLabels(req.Context(), req.Owner(), formID, filter.Search, names); err != nil {
		return filter, kept, err
	}
	if kept.Get("where") == "" || kept.Get("is") == "" {
		return filter, kept, nil
	}
	versions, err := pages.Store.Definitions(req.Context(), req.Owner(), formID)
	if err != nil {
		return filter, kept, err
	}
	where, asked := kept.Get("where"), form.MergeQuestions(versions)
	is := pages.parseFilterValue(req, asked, where, kept.Get("is"))
	filter.Answers, err = pages.Store.AnswerFilters(req.Context(), req.Owner(), formID, map[string]string{where: is})
	if err == nil && isFreeText(asked, where) {
		filter.Answers[0] = filter.Answers[0].Within(is)
	}
	return filter, kept, err
}

// ShowResponses shows the table of responses.
func (pages *Pages) ShowResponses(req *page.Request) error {
	f, err := pages.Store.Form(req.Context(), req.Owner(), req.PathValue("id"))
	if err != nil {
		return err
	}
	p := &responsesPage{formLayout: pages.newFormLayout(f, "responses")}
	p.Wide, p.Script = true, "responses.js"
	filter, kept, err := pages.responseQuery(req, f.ID)
	if _, ok := errors.AsType[*store.FilterError](err); ok {
		p.Problems, err = page.Problems{"is": fault.Messagef("This value doesn’t match any answer to that question.")}, nil
	}
	if err != nil {
		return err
	}
	number, err := strconv.ParseInt(req.URL.Query().Get("page"), 10, 32)
	if err != nil || number < 1 {
		number = 1
	}
	versions, err := pages.Store.Definitions(req.Context(), req.Owner(), f.ID)
	if err != nil {
		return err
	}
	fields := form.MergeQuestions(versions)
	filter.By = sortedBy(kept.Get("by"), fields)
	offset := (number - 1) * responsesPerPage
	list, total, err := pages.Store.Responses(req.Context(), req.Owner(), f.ID, filter, store.Page{Limit: responsesPerPage, Offset: offset})
	if errors.Is(err, store.ErrTooManyToSort) {
		p.SortLimit = store.MaxSorted
		filter.By = store.AnswerSort{}
		kept.Del("by")
		list, total, err = pages.Store.Responses(req.Context(), req.Owner(), f.ID, filter, store.Page{Limit: responsesPerPage, Offset: offset})
	}
	if err != nil {
		return err
	}
	if offset >= total && total > 0 { // responses were deleted since
		query := req.URL.Query()
		query.Set("page", strconv.FormatInt((total-1)/responsesPerPage+1, 10))
		return req.Redirect(req.URL.Path + "?" + query.Encode())
	}
	p.Total, p.From, p.To, p.Kept = total, min(offset+1, total), offset+int64(len(list)), kept
	p.Search, p.Since, p.Until, p.Oldest, p.Where, p.Is = kept.Get("search"), kept.Get("since"), kept.Get("until"), filter.Oldest, kept.Get("where"), pages.displayValue(req, fields, kept.Get("where"), kept.Get("is"))
	p.Filtered = p.Search != "" || p.Since != "" || p.Until != "" || p.Where != ""
	// Read after the responses, so that the version of each response is there.
	if versions, err = pages.Store.Definitions(req.Context(), req.Owner(), f.ID); err != nil {
		return err
	}
	if err := pages.responseRows(req, p, versions, list); err != nil {
		return err
	}
	pages.suggest(req, p, fields)
	pages.describeFilter(req, p)
	link := func(to int64) string {
		query := url.Values{"page": {strconv.FormatInt(to, 10)}}
		for name, values := range kept {
			query[name] = values
		}
		return "/forms/" + f.ID + "/responses?" + query.Encode()
	}
	if number > 1 {
		p.Prev = link(number - 1)
	}
	if offset+responsesPerPage < total {
		p.Next = link(number + 1)
	}
	if deleted := req.URL.Query().Get("deleted"); deleted != "" {
		p.Deleted = strings.Split(deleted, ",")
	} else if p.Restorable, err = pages.Store.DeletedResponses(req.Context(), req.Owner(), f.ID); err != nil {
		return err
	}
	switch req.URL.Query().Get("done") {
	case "restored":
		p.NoticeKey = "Responses restored."
	case "restored-one":
		p.NoticeKey = "Response restored."
	case "nothing":
		p.NoticeKey = "Select at least one response."
	}
	return pages.templates.Render(req, http.StatusOK, "responses", p)
}

// responseRows fills the columns that are shown.
func (pages *Pages) responseRows(req *page.Request, p *responsesPage, versions []*form.Definition, list []form.Response) error {
	columns := form.Columns(versions)
	shown := p.chosenColumns(columns)
	if len(shown) == 0 && len(versions) > 0 {
		shown = defaultColumns(columns, versions[len(versions)-1].ByID())
	}
	unsorted := p.unsorted()
	for _, c := range columns {
		column := responseColumn{Column: c, Shown: shown[c.Key]}
		if column.Shown {
			p.sorting(&column, unsorted)
		}
		p.Columns = append(p.Columns, column)
	}
	for _, r := range list {
		answers, err := r.Answers()
		if err != nil {
			return err
		}
		fields := versions[r.Version-1].ByID()
		row := responseRow{ID: r.ID, SubmittedAt: r.SubmittedAt}
		for _, c := range p.Columns {
			if c.Shown {
				row.Cells = append(row.Cells, pages.cell(req, c.Column, fields[c.ID], answers))
			}
		}
		p.Rows = append(p.Rows, row)
	}
	return nil
}
