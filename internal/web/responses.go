package web

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
)

const (
	responsesPerPage = 25
	shownColumns     = 5 // when nobody has chosen any
)

// responsesPage is what came in, as a table.
type responsesPage struct {
	formPage
	Columns  []responseColumn
	Rows     []responseRow
	Total    int64
	From, To int64
	Search   string
	Since    string
	Until    string
	Oldest   bool
	Where    string // key of a column
	Is       string // its answer
	Filtered bool
	Offered  []suggestion
	Prev     string
	Next     string
	Kept     url.Values // the query, without the page
	Deleted  []string   // ids that can be brought back
	Told     []string   // what the filter is
	Bin      []string   // deleted before, and still to be brought back
	TooMany  int64      // so many could be sorted by an answer
}

type responseColumn struct {
	form.Column
	Type   string // of a control for such an answer; empty: text
	List   string // id of what is offered; empty: nothing
	Shown  bool
	Sorted string // ascending, descending; empty: not by this one
	Sort   string // address of the page sorted by it, or the other way; empty: it cannot be
}

type responseRow struct {
	ID          string
	SubmittedAt time.Time
	Cells       []string
}

// Query is the page's filter for another address.
func (p *responsesPage) Query() string { return p.Kept.Encode() }

// Export is the address of a file of what the table shows.
func (p *responsesPage) Export(format string) string {
	query := url.Values{"format": {format}}
	for name, values := range p.Kept {
		query[name] = values
	}
	return "/forms/" + p.Form.ID + "/responses/export?" + query.Encode()
}

// responseQuery reads the filter of the table out of the address.
func (web *Handler) responseQuery(v *pageRequest, formID string) (store.ResponseFilter, url.Values, error) {
	query := v.r.URL.Query()
	kept := url.Values{}
	for _, name := range []string{"search", "since", "until", "where", "is", "order", "by", "column"} {
		for _, value := range query[name] {
			if value = searchText(value); value != "" {
				kept.Add(name, value)
			}
		}
	}
	filter := store.ResponseFilter{Search: kept.Get("search"), Oldest: kept.Get("order") == "oldest"}
	zone := zoneOf(v.user.TimeZone)
	if day, err := time.ParseInLocation(time.DateOnly, kept.Get("since"), zone); err == nil {
		filter.Since = day
	}
	if day, err := time.ParseInLocation(time.DateOnly, kept.Get("until"), zone); err == nil {
		filter.Until = day.AddDate(0, 0, 1) // the day itself too
	}
	names := map[string]string{}
	for _, c := range web.languages.countriesIn(web.viewerLanguage(v)) {
		names[c.Name] = c.Value
	}
	var err error
	if filter.Meant, err = web.Store.MatchLabels(v.ctx(), v.owner(), formID, filter.Search, names); err != nil {
		return filter, kept, err
	}
	if kept.Get("where") == "" || kept.Get("is") == "" {
		return filter, kept, nil
	}
	versions, err := web.Store.Definitions(v.ctx(), v.owner(), formID)
	if err != nil {
		return filter, kept, err
	}
	where, asked := kept.Get("where"), form.MergeQuestions(versions)
	is := web.parseFilterValue(v, asked, where, kept.Get("is"))
	filter.Answers, err = web.Store.AnswerFilters(v.ctx(), v.owner(), formID, map[string]string{where: is})
	if err == nil && isFreeText(asked, where) {
		filter.Answers[0] = filter.Answers[0].Within(is)
	}
	return filter, kept, err
}

func (web *Handler) showResponses(v *pageRequest) error {
	f, err := web.Store.Form(v.ctx(), v.owner(), v.r.PathValue("id"))
	if err != nil {
		return err
	}
	p := &responsesPage{formPage: web.formPageOf(v, f, "responses")}
	p.Wide, p.Script = true, "responses.js"
	filter, kept, err := web.responseQuery(v, f.ID)
	if _, ok := errors.AsType[*store.FilterError](err); ok {
		p.problems, err = problems{"is": fault.Messagef("This value doesn’t match any answer to that question.")}, nil
	}
	if err != nil {
		return err
	}
	page, err := strconv.ParseInt(v.r.URL.Query().Get("page"), 10, 32)
	if err != nil || page < 1 {
		page = 1
	}
	versions, err := web.Store.Definitions(v.ctx(), v.owner(), f.ID)
	if err != nil {
		return err
	}
	fields := form.MergeQuestions(versions)
	filter.By = sortedBy(kept.Get("by"), fields)
	offset := (page - 1) * responsesPerPage
	list, total, err := web.Store.Responses(v.ctx(), v.owner(), f.ID, filter, store.Page{Limit: responsesPerPage, Offset: offset})
	if errors.Is(err, store.ErrTooManyToSort) {
		p.TooMany = store.MaxSorted
		filter.By = store.AnswerSort{}
		kept.Del("by")
		list, total, err = web.Store.Responses(v.ctx(), v.owner(), f.ID, filter, store.Page{Limit: responsesPerPage, Offset: offset})
	}
	if err != nil {
		return err
	}
	if offset >= total && total > 0 { // the last page has moved
		query := v.r.URL.Query()
		query.Set("page", strconv.FormatInt((total-1)/responsesPerPage+1, 10))
		return web.redirect(v, v.r.URL.Path+"?"+query.Encode())
	}
	p.Total, p.From, p.To, p.Kept = total, min(offset+1, total), offset+int64(len(list)), kept
	p.Search, p.Since, p.Until, p.Oldest, p.Where, p.Is = kept.Get("search"), kept.Get("since"), kept.Get("until"), filter.Oldest, kept.Get("where"), web.displayValue(v, fields, kept.Get("where"), kept.Get("is"))
	p.Filtered = p.Search != "" || p.Since != "" || p.Until != "" || p.Where != ""
	// Read after them, so that what they answered is there.
	if versions, err = web.Store.Definitions(v.ctx(), v.owner(), f.ID); err != nil {
		return err
	}
	if err := web.responseRows(v, p, versions, list); err != nil {
		return err
	}
	web.suggest(v, p, fields)
	web.describeFilter(v, p)
	link := func(to int64) string {
		query := url.Values{"page": {strconv.FormatInt(to, 10)}}
		for name, values := range kept {
			query[name] = values
		}
		return "/forms/" + f.ID + "/responses?" + query.Encode()
	}
	if page > 1 {
		p.Prev = link(page - 1)
	}
	if offset+responsesPerPage < total {
		p.Next = link(page + 1)
	}
	if deleted := v.r.URL.Query().Get("deleted"); deleted != "" {
		p.Deleted = strings.Split(deleted, ",")
	} else if p.Bin, err = web.Store.DeletedResponses(v.ctx(), v.owner(), f.ID); err != nil {
		return err
	}
	switch v.r.URL.Query().Get("done") {
	case "restored":
		p.notice = "Responses restored."
	case "restored-one":
		p.notice = "Response restored."
	case "nothing":
		p.notice = "Select at least one response."
	}
	return web.render(v, http.StatusOK, "responses", p)
}

// sortedBy reads the order of the table: the key of a question, with a minus in front
// for the other way.
func sortedBy(text string, fields []*form.Field) store.AnswerSort {
	text, down := strings.CutPrefix(text, "-")
	key, part, _ := strings.Cut(text, ".")
	for _, f := range fields {
		if f.Key == key && (part == "" || slices.ContainsFunc(f.Parts(), func(p form.Option) bool { return p.Value == part })) {
			return store.AnswerSort{Key: key, Part: part, Numbers: f.IsNumeric(), Down: down}
		}
	}
	return store.AnswerSort{}
}

// sorting says how a column takes part in the order, and what a click on it asks for.
func (p *responsesPage) sorting(c *responseColumn, unsorted string) {
	by := c.Key
	switch p.Kept.Get("by") {
	case c.Key:
		c.Sorted, by = "ascending", "-"+c.Key
	case "-" + c.Key:
		c.Sorted, by = "descending", ""
	}
	c.Sort = unsorted
	if by != "" {
		c.Sort += "by=" + url.QueryEscape(by)
	}
}

// maxShown bounds the columns of the table: each has a link that names all of them.
const maxShown = 100

// chosenColumns are the columns that the address names. Links repeat those alone, not
// whatever else an address may say.
func (p *responsesPage) chosenColumns(columns []form.Column) map[string]bool {
	asked := map[string]bool{}
	for _, key := range p.Kept["column"] {
		asked[key] = true
	}
	shown := map[string]bool{}
	var kept []string
	for _, c := range columns {
		if asked[c.Key] && len(kept) < maxShown {
			kept, shown[c.Key] = append(kept, c.Key), true
		}
	}
	if p.Kept.Del("column"); len(kept) > 0 {
		p.Kept["column"] = kept
	}
	return shown
}

// unsorted is the address of the table without an order, for sorting to add one.
func (p *responsesPage) unsorted() string {
	query := maps.Clone(p.Kept)
	query.Del("by")
	address := "/forms/" + p.Form.ID + "/responses?" + query.Encode()
	if len(query) > 0 {
		address += "&"
	}
	return address
}

// defaultColumns are the columns to begin with: what everybody is asked comes before
// what only some are.
func defaultColumns(columns []form.Column, fields map[string]*form.Field) map[string]bool {
	shown := map[string]bool{}
	for _, always := range []bool{true, false} {
		for _, c := range columns {
			f := fields[c.ID]
			if len(shown) < shownColumns && (f != nil && f.ShowIf == nil) == always {
				shown[c.Key] = true
			}
		}
	}
	return shown
}

// responseRows writes the answers into the columns that were chosen.
func (web *Handler) responseRows(v *pageRequest, p *responsesPage, versions []*form.Definition, list []form.Response) error {
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
				row.Cells = append(row.Cells, web.cell(v, c.Column, fields[c.ID], answers))
			}
		}
		p.Rows = append(p.Rows, row)
	}
	return nil
}

// responsePage is one response, to read.
type responsePage struct {
	formPage
	Response form.Response
	Answers  []answered
	Newer    string
	Older    string
	Kept     string
}

type answered struct {
	Label string
	Text  string
	Link  string // where the answer is the address of a page or a mailbox
}

func (web *Handler) showResponse(v *pageRequest) error {
	f, err := web.Store.Form(v.ctx(), v.owner(), v.r.PathValue("id"))
	if err != nil {
		return err
	}
	r, err := web.Store.Response(v.ctx(), v.owner(), f.ID, v.r.PathValue("response"))
	if err != nil {
		return err
	}
	d, err := web.Store.Definition(v.ctx(), v.owner(), f.ID, r.Version)
	if err != nil {
		return err
	}
	answers, err := r.Answers()
	if err != nil {
		return err
	}
	p := &responsePage{formPage: web.formPageOf(v, f, "responses"), Response: r}
	pipes := d.NewInterpolator(func(other *form.Field, key string) string { return web.formatAnswer(v, other, answers[key]) })
	for _, field := range d.Fields {
		answer, ok := answers[field.Key]
		if !ok || !field.HasAnswer() {
			continue
		}
		a := answered{Label: pipes.Text(field.Label, nil), Text: web.formatAnswer(v, field, answer)}
		if a.Label == "" {
			a.Label = field.Key
		}
		if link := field.Traits().Link; link != nil {
			a.Link = link(a.Text)
		}
		p.Answers = append(p.Answers, a)
	}
	p.Newer, p.Older, err = web.Store.Neighbors(v.ctx(), v.owner(), r)
	if err != nil {
		return err
	}
	return web.render(v, http.StatusOK, "response", p)
}

// deleteResponses removes what was ticked; for a while it can be brought back.
func (web *Handler) deleteResponses(v *pageRequest) error {
	id := v.r.PathValue("id")
	ids := v.r.PostForm["response"]
	query, err := url.ParseQuery(v.field("kept"))
	if err != nil {
		query = url.Values{}
	}
	if len(ids) == 0 || len(ids) > responsesPerPage {
		query.Set("done", "nothing")
		return web.redirect(v, "/forms/"+id+"/responses?"+query.Encode())
	}
	if _, err := web.Store.DeleteResponsesWithUndo(v.ctx(), v.owner(), id, ids, web.Now()); err != nil {
		return err
	}
	query.Set("deleted", strings.Join(ids, ","))
	return web.redirect(v, "/forms/"+id+"/responses?"+query.Encode())
}

func (web *Handler) restoreResponses(v *pageRequest) error {
	id := v.r.PathValue("id")
	n, err := web.Store.RestoreResponses(v.ctx(), v.owner(), id, v.r.PostForm["response"], web.Now())
	if err != nil {
		return err
	}
	done := "restored"
	if n == 1 {
		done = "restored-one"
	}
	return web.redirect(v, "/forms/"+id+"/responses?done="+done)
}
