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
	HasFiles    bool       // answers can be files
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
	Cells       []responseCell
}

// responseCell is an answer in the table.
type responseCell struct {
	Text  string
	Files []shownFile // of which the table shows pictures
}

var responsesNotices = map[string]string{
	"restored":     "Responses restored.",
	"restored-one": "Response restored.",
	"nothing":      "Select at least one response.",
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

// link is the address of another page of the table.
func (p *responsesPage) link(number int64) string {
	query := url.Values{"page": {strconv.FormatInt(number, 10)}}
	for name, values := range p.Kept {
		query[name] = values
	}
	return "/forms/" + p.Form.ID + "/responses?" + query.Encode()
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
	if number > 1 {
		p.Prev = p.link(number - 1)
	}
	if offset+responsesPerPage < total {
		p.Next = p.link(number + 1)
	}
	if deleted := req.URL.Query().Get("deleted"); deleted != "" {
		p.Deleted = strings.Split(deleted, ",")
	} else if p.Restorable, err = pages.Store.DeletedResponses(req.Context(), req.Owner(), f.ID); err != nil {
		return err
	}
	p.NoticeKey = responsesNotices[req.URL.Query().Get("done")]
	return pages.templates.Render(req, http.StatusOK, "responses", p)
}
