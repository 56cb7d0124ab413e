package workspace

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
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
	// scanBudget is how long one request searches; the page then asks for the next part.
	scanBudget = 120 * time.Millisecond
)

// responsesPage is the list of responses.
type responsesPage struct {
	formLayout
	Table       bool // a table; otherwise a list beside the response
	Columns     []responseColumn
	Rows        []responseRow
	Total       int64
	From, To    int64
	Search      string
	Oldest      bool
	Filtered    bool
	Chips       []filterChip
	Questions   []filterQuestion
	Ops         []filterOp
	Suggestions []suggestion
	Views       []viewLink
	All         string // address of the list of all responses
	View        *viewLink
	Changed     bool // the list differs from its view
	Marks       store.MarkTotals
	Days        []dayChoice
	Scan        *scanProgress // if the search is not complete
	First       string        // address of the first page of a search
	Prev        string
	Next        string
	Kept        url.Values      // the query without the page number
	Deleted     []string        // IDs that were just deleted
	Restorable  []string        // IDs that were deleted earlier and can be restored
	HasFiles    bool            // answers can be files
	SortLimit   int64           // if more responses match than can be sorted by an answer
	Terms       []string        // to highlight
	Detail      *responseDetail // the response beside the list; nil: none
	Retention   store.Retention
}

// scanProgress is how far a search through all responses is.
type scanProgress struct {
	Percent int
	Next    string // address of the next part
}

// dayChoice is a choice of the time in which responses were submitted.
type dayChoice struct {
	Days string
	Text string
}

// dayTexts are the choices, by the number of days.
var dayTexts = map[string]string{"1": "Today", "7": "Last 7 days", "30": "Last 30 days", "90": "Last 90 days", "365": "Last 365 days"}

func dayChoices() []dayChoice {
	var list []dayChoice
	for _, days := range []string{"1", "7", "30", "90", "365"} {
		list = append(list, dayChoice{days, dayTexts[days]})
	}
	return list
}

var responsesNotices = map[string]string{
	"restored":     "Responses restored.",
	"restored-one": "Response restored.",
	"nothing":      "Select at least one response.",
	"view-saved":   "View saved.",
	"view-deleted": "View deleted.",
	"view-name":    "Enter a name for the view, up to 60 characters.",
}

// Query is the filter of the list.
func (p *responsesPage) Query() string { return p.Kept.Encode() }

// Action is the address that the filters lead to.
func (p *responsesPage) Action() string { return "/forms/" + p.Form.ID + "/responses" }

// Export is the address of an export of the list.
func (p *responsesPage) Export(format string) string {
	query := url.Values{"format": {format}}
	for name, values := range p.Kept {
		query[name] = values
	}
	return "/forms/" + p.Form.ID + "/responses/export?" + query.Encode()
}

// Without returns the parts of the query that a form with the named controls repeats.
func (p *responsesPage) Without(names ...string) []parameter {
	var list []parameter
	for _, name := range keptParameters {
		for _, value := range p.Kept[name] {
			if !slices.Contains(names, name) {
				list = append(list, parameter{name, value})
			}
		}
	}
	return list
}

// Short formats a time in few words.
func (p *responsesPage) Short(t time.Time) string {
	if time.Since(t) < 48*time.Hour {
		return p.Ago(t)
	}
	return p.Date(t)
}

type parameter struct{ Name, Value string }

// link is the address of another page of the list.
func (p *responsesPage) link(number int64) string {
	query := url.Values{"page": {strconv.FormatInt(number, 10)}}
	for name, values := range p.Kept {
		query[name] = values
	}
	return responsesAddress(p.Form.ID, query)
}

// ShowResponses shows the list of responses.
func (pages *Pages) ShowResponses(req *page.Request) error {
	f, err := pages.Store.Form(req.Context(), req.Owner(), req.PathValue("id"))
	if err != nil {
		return err
	}
	p := &responsesPage{formLayout: pages.newFormLayout(f, "responses"), Days: dayChoices()}
	p.Script, p.Style = "responses.js", "responses.css"
	q, err := pages.readQuery(req, f.ID)
	wrong, isWrong := errors.AsType[*store.FilterError](err)
	if err != nil && !isWrong {
		return err
	}
	layout, err := pages.Store.ResponseLayout(req.Context(), req.Owner(), f.ID, req.User.ID)
	if err != nil {
		return err
	}
	p.Table, p.Kept = layout.Table, q.kept
	var list []form.Response
	if !isWrong { // a condition that cannot be true selects nothing
		if list, err = pages.readResponses(req, p, q); err != nil {
			return err
		}
	}
	if past := p.From > p.Total && p.Total > 0; past && p.Scan == nil { // responses were deleted since
		query := req.URL.Query()
		query.Set("page", strconv.FormatInt((p.Total-1)/responsesPerPage+1, 10))
		return req.Redirect(req.URL.Path + "?" + query.Encode())
	}
	// Read after the responses, so that the version of each response is there.
	if q.versions, err = pages.Store.Definitions(req.Context(), req.Owner(), f.ID); err != nil {
		return err
	}
	p.Search, p.Oldest, p.Filtered, p.Terms = q.filter.Search, q.filter.Oldest, q.isFiltered() || isWrong, q.terms()
	p.arrangeColumns(q.versions, layout)
	if err := pages.responseRows(req, p, q.versions, list); err != nil {
		return err
	}
	if len(list) > 0 && !p.Table {
		p.AddAssets([]string{"response.css"}) // responses.js imports the script
		if p.Detail, err = pages.responseDetail(req, f.ID, list[0].ID); err != nil && fault.Wrap(err).Code != fault.NotFoundInAccount {
			return err
		}
		p.Media = p.Media || p.Detail != nil && p.Detail.Media
	}
	if p.Marks, err = pages.Store.MarkTotals(req.Context(), req.Owner(), f.ID); err != nil {
		return err
	}
	pages.fillFilterMenu(req, p, q.fields)
	pages.fillChips(req, p, q, wrong)
	if err := pages.fillViews(req, p, q); err != nil {
		return err
	}
	if deleted := req.URL.Query().Get("deleted"); deleted != "" {
		p.Deleted = strings.Split(deleted, ",")
	} else if p.Restorable, err = pages.Store.DeletedResponses(req.Context(), req.Owner(), f.ID); err != nil {
		return err
	}
	if p.Retention, err = pages.Store.Retention(req.Context(), req.Owner(), f.ID); err != nil {
		return err
	}
	p.NoticeKey = responsesNotices[req.URL.Query().Get("done")]
	return pages.templates.Render(req, http.StatusOK, "responses", p)
}

// readResponses reads the responses on the page, and where the page is in the list. Lists
// without a filter have page numbers; a search continues behind a response.
func (pages *Pages) readResponses(req *page.Request, p *responsesPage, q *responseQuery) ([]form.Response, error) {
	by := sortedBy(q.kept.Get("by"), q.fields)
	if by.Key != "" && q.isFiltered() && p.Form.ResponseCount > store.MaxSorted {
		// Sorting reads all matches, so they must be few and found quickly.
		found, err := pages.Store.ScanResponses(req.Context(), req.Owner(), p.Form.ID, q.filter, store.Scan{Budget: scanBudget / 2})
		if err != nil {
			return nil, err
		}
		if found.Next != "" || found.Matches > store.MaxSorted {
			by, p.SortLimit = store.AnswerSort{}, store.MaxSorted
		}
	}
	if by.Key == "" && q.isFiltered() {
		q.kept.Del("by")
		return pages.scanPart(req, p, q)
	}
	number, err := strconv.ParseInt(req.URL.Query().Get("page"), 10, 32)
	if err != nil || number < 1 {
		number = 1
	}
	limits := store.Page{Limit: responsesPerPage, Offset: (number - 1) * responsesPerPage}
	filter := q.filter
	filter.By = by
	list, total, err := pages.Store.Responses(req.Context(), req.Owner(), p.Form.ID, filter, limits)
	if errors.Is(err, store.ErrTooManyToSort) {
		p.SortLimit = store.MaxSorted
		q.kept.Del("by")
		list, total, err = pages.Store.Responses(req.Context(), req.Owner(), p.Form.ID, q.filter, limits)
	}
	p.Total, p.From, p.To = total, limits.Offset+1, limits.Offset+int64(len(list))
	if number > 1 {
		p.Prev = p.link(number - 1)
	}
	if p.To < total {
		p.Next = p.link(number + 1)
	}
	return list, err
}
