package workspace

import (
	"errors"
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

// viewLink is a saved view of the list.
type viewLink struct {
	ID      string
	Name    string
	Address string
	Current bool
	Count   int64
	More    bool // there are more than Count, which were not counted
	Counted bool
}

// countBudget is how long a page counts the responses of its views; what is counted by then
// is shown.
const countBudget = 60 * time.Millisecond

// viewQuery is the query of the list that shows a view.
func viewQuery(v store.View) url.Values {
	f, query := v.Filter, url.Values{"view": {v.ID}}
	set := func(name, value string) {
		if value != "" {
			query.Set(name, value)
		}
	}
	set("search", f.Search)
	set("since", f.Since)
	set("until", f.Until)
	set("status", f.Status)
	if f.Days > 0 {
		set("days", strconv.FormatInt(f.Days, 10))
	}
	if f.Starred {
		set("starred", "1")
	}
	switch f.Sort {
	case "submitted_at":
		set("order", "oldest")
	case "", "-submitted_at":
	default:
		set("by", f.Sort)
	}
	for _, c := range f.Answers {
		query.Add("where", formatCondition(c))
	}
	for name, values := range map[string][]string{"tag": f.Tags, "column": f.Columns} {
		if len(values) > 0 {
			query[name] = values
		}
	}
	return query
}

// viewFilter is the view that shows a list with a query. The list need not be filtered: a
// view can also be an order, or columns.
func viewFilter(kept url.Values) store.ViewFilter {
	f := store.ViewFilter{
		Search: kept.Get("search"), Since: kept.Get("since"), Until: kept.Get("until"), Status: kept.Get("status"), Starred: kept.Get("starred") != "",
		Tags: kept["tag"], Sort: kept.Get("by"), Columns: kept["column"],
	}
	f.Days, _ = strconv.ParseInt(kept.Get("days"), 10, 32) // it may be missing
	if f.Sort == "" && kept.Get("order") == "oldest" {
		f.Sort = "submitted_at"
	}
	for _, text := range kept["where"] {
		if c, ok := parseCondition(text); ok {
			f.Answers = append(f.Answers, c)
		}
	}
	return f
}

// fillViews sets the views of the form, and which of them the list shows.
func (pages *Pages) fillViews(req *page.Request, p *responsesPage, q *responseQuery) error {
	p.All = responsesAddress(p.Form.ID, nil)
	views, err := pages.Store.Views(req.Context(), req.Owner(), p.Form.ID)
	if err != nil {
		return err
	}
	budget := countBudget
	for _, v := range views {
		query := viewQuery(v)
		link := viewLink{ID: v.ID, Name: v.Name, Address: responsesAddress(p.Form.ID, query), Current: q.kept.Get("view") == v.ID}
		changed := link.Current && query.Encode() != q.kept.Encode()
		if link.Current && !changed && p.Scan == nil {
			link.Count, link.Counted = p.Total, true
		} else if v.Filter.SelectsAll() {
			link.Count, link.Counted = p.Form.ResponseCount, true
		} else if budget > 0 {
			began := time.Now()
			if err := pages.countView(req, p, &link, viewCount{query, q.versions, budget}); err != nil {
				return err
			}
			budget -= time.Since(began)
		}
		if p.Views = append(p.Views, link); link.Current {
			p.View, p.Changed = &link, changed
		}
	}
	if p.View == nil {
		q.kept.Del("view") // it was deleted
	}
	return nil
}

// viewCount is how to count the responses of a view.
type viewCount struct {
	query    url.Values
	versions []*form.Definition
	budget   time.Duration
}

// countView counts the responses of a view, as far as the budget allows.
func (pages *Pages) countView(req *page.Request, p *responsesPage, link *viewLink, c viewCount) error {
	q, err := pages.parseQuery(req, p.Form.ID, c.query, c.versions)
	if _, ok := errors.AsType[*store.FilterError](err); ok { // a condition that no answer can fulfil
		link.Counted = true
		return nil
	}
	if err != nil {
		return err
	}
	link.Counted = true
	part, err := pages.Store.ScanResponses(req.Context(), req.Owner(), p.Form.ID, q.filter, store.Scan{Budget: c.budget})
	link.Count, link.More = part.Matches, part.Next != ""
	return err
}

// SaveView saves the filter, order and columns of the list as a view, or changes a view.
func (pages *Pages) SaveView(req *page.Request) error {
	id := req.PathValue("id")
	kept := keptQuery(req.Field("kept"))
	viewID, name := req.Field("view"), strings.TrimSpace(req.Field("name"))
	var v store.View
	var err error
	if viewID == "" {
		kept.Del("view")
		v, err = pages.Store.AddView(req.Context(), req.Owner(), store.View{FormID: id, Name: name, Filter: viewFilter(kept)}, store.IdempotencyKey{}, pages.Now())
	} else {
		v, err = pages.Store.UpdateView(req.Context(), req.Owner(), id, viewID, func(v *store.View) {
			if name != "" {
				v.Name = name
			}
			if req.Field("kept") != "" {
				v.Filter = viewFilter(kept)
			}
		}, pages.Now())
	}
	if isInvalidName(err) {
		kept.Set("done", "view-name")
		return req.Redirect(responsesAddress(id, kept))
	}
	if err != nil {
		return err
	}
	query := viewQuery(v)
	query.Set("done", "view-saved")
	return req.Redirect(responsesAddress(id, query))
}

func isInvalidName(err error) bool {
	if err == nil {
		return false
	}
	e := fault.Wrap(err)
	return e.Code == fault.Invalid && slices.ContainsFunc(e.Details, func(d fault.Detail) bool { return d.Field == "name" })
}

// DeleteView deletes a view; the responses stay.
func (pages *Pages) DeleteView(req *page.Request) error {
	id := req.PathValue("id")
	if err := pages.Store.DeleteView(req.Context(), req.Owner(), id, req.PathValue("view")); err != nil {
		return err
	}
	return req.Redirect("/forms/" + id + "/responses?done=view-deleted")
}
