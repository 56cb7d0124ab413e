package workspace

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// responseQuery is what the address of the list selects.
type responseQuery struct {
	kept        url.Values // the part of the query that links repeat
	filter      store.ResponseFilter
	comparisons []store.Comparison
	fields      []*form.Field // questions of all versions
	versions    []*form.Definition
	tab         string // another page with the same filters; empty: responses
}

// keptParameters are the parts of the address that describe a list; a view has them too.
var keptParameters = []string{"search", "days", "since", "until", "status", "starred", "tag", "where", "order", "by", "column", "view"}

const (
	maxDays      = 3660
	maxCondition = 2000 // bytes of a condition in the address
)

// readQuery reads the filter of the list from the address. A FilterError says which
// condition does not fit the questions.
func (pages *Pages) readQuery(req *page.Request, formID string) (*responseQuery, error) {
	versions, err := pages.Store.Definitions(req.Context(), req.Owner(), formID)
	if err != nil {
		return &responseQuery{kept: url.Values{}}, err
	}
	return pages.parseQuery(req, formID, req.URL.Query(), versions)
}

// parseQuery reads a filter of the list.
func (pages *Pages) parseQuery(req *page.Request, formID string, query url.Values, versions []*form.Definition) (*responseQuery, error) {
	q := &responseQuery{kept: url.Values{}, versions: versions, fields: form.MergeQuestions(versions)}
	for _, name := range keptParameters {
		for _, value := range query[name] {
			if value = searchText(value); value != "" && len(value) <= maxCondition {
				q.kept.Add(name, value)
			}
		}
	}
	if query.Has("sort") {
		q.kept.Del("by")
		q.kept.Del("order")
		switch sort := searchText(query.Get("sort")); sort {
		case "":
		case "oldest":
			q.kept.Set("order", sort)
		default:
			q.kept.Set("by", sort)
		}
	}
	q.filter = store.ResponseFilter{Search: q.kept.Get("search"), Oldest: q.kept.Get("order") == "oldest", Starred: q.kept.Get("starred") != "", Tags: q.kept["tag"]}
	if status, ok := form.ParseResponseStatus(q.kept.Get("status")); ok {
		q.filter.Status = status
	} else {
		q.kept.Del("status")
	}
	q.filter.Tags = q.filter.Tags[:min(len(q.filter.Tags), store.MaxFilterTags)]
	q.readTimes(page.LoadZone(req.User.TimeZone), pages.Now())
	pages.readConditions(req, q, query)
	names := map[string]string{}
	for _, c := range pages.Site.Languages.Countries(req.Language()) {
		names[c.Code] = c.Name
	}
	var err error
	if q.filter.LabelMatches, err = pages.Store.MatchLabels(req.Context(), req.Owner(), formID, q.filter.Search, names); err != nil {
		return q, err
	}
	q.filter.Answers, err = pages.Store.AnswerFilters(req.Context(), req.Owner(), formID, q.comparisons)
	return q, err
}

// readTimes reads the days between which responses were submitted.
func (q *responseQuery) readTimes(zone *time.Location, now time.Time) {
	day := func(name string) (time.Time, bool) {
		t, err := time.ParseInLocation(time.DateOnly, q.kept.Get(name), zone)
		if err != nil {
			q.kept.Del(name)
		}
		return t, err == nil
	}
	if t, ok := day("since"); ok {
		q.filter.Since = t
	}
	if t, ok := day("until"); ok {
		q.filter.Until = t.AddDate(0, 0, 1) // including the day
	}
	if n, err := strconv.Atoi(q.kept.Get("days")); err == nil && n > 0 && n <= maxDays {
		year, month, today := now.In(zone).Date()
		if since := time.Date(year, month, today-n+1, 0, 0, 0, 0, zone); since.After(q.filter.Since) {
			q.filter.Since = since
		}
		q.kept.Set("days", strconv.Itoa(n))
	} else {
		q.kept.Del("days")
	}
}

// readConditions reads the conditions on answers: those in the address, and one that was
// entered in the controls. Afterwards the address has all of them.
func (pages *Pages) readConditions(req *page.Request, q *responseQuery, query url.Values) {
	conditions := q.kept["where"]
	q.kept.Del("where")
	var list []store.Comparison
	for _, text := range conditions {
		c, ok := parseCondition(text)
		if value := searchText(query.Get("is")); !ok && value != "" { // an address of an earlier version
			c = pages.enteredCondition(req, q.fields, store.Comparison{Field: text, Value: value})
		} else if !ok {
			continue
		}
		list = append(list, c)
	}
	if field := searchText(query.Get("field")); field != "" {
		c := store.Comparison{Field: field, Op: query.Get("op"), Value: searchText(query.Get("value"))}
		if c.Value != "" || c.Op != "" && !form.NeedsValue(c.Op) {
			list = append(list, pages.enteredCondition(req, q.fields, c))
		}
	}
	for _, c := range list {
		if !form.NeedsValue(c.Op) {
			c.Value = ""
		}
		if text := formatCondition(c); !slices.Contains(q.kept["where"], text) {
			q.kept.Add("where", text)
			q.comparisons = append(q.comparisons, c)
		}
	}
}

// formatCondition returns a condition as it is in an address: key:operator:value.
func formatCondition(c store.Comparison) string { return c.Field + ":" + c.Op + ":" + c.Value }

// parseCondition reads a condition. The row of a matrix can contain colons, operators don't.
func parseCondition(text string) (store.Comparison, bool) {
	for at := range len(text) {
		if text[at] != ':' {
			continue
		}
		op, value, ok := strings.Cut(text[at+1:], ":")
		if ok && slices.Contains(form.Comparisons, op) {
			return store.Comparison{Field: text[:at], Op: op, Value: value}, true
		}
	}
	return store.Comparison{}, false
}

// enteredCondition turns a condition as people enter it into one as it is stored: the
// operator fits the question, and the value is that of an option rather than its label.
func (pages *Pages) enteredCondition(req *page.Request, fields []*form.Field, c store.Comparison) store.Comparison {
	key, part, _ := strings.Cut(c.Field, ".")
	for _, f := range fields {
		if f.Key != key {
			continue
		}
		if ops := f.Comparisons(part); !slices.Contains(ops, c.Op) {
			// The first operator suits the question best; with an option, that is "is".
			c.Op = ops[0]
			if slices.Contains(ops, form.Equals) && !f.IsOpenText() {
				c.Op = form.Equals
			}
		}
		if c.Op != form.Contains && c.Op != form.NotContains || f.IsList() {
			c.Value = pages.parseFilterValue(req, f, part, c.Value)
		}
		break
	}
	return c
}

// parseFilterValue turns a value as the list shows it into a stored answer.
func (pages *Pages) parseFilterValue(req *page.Request, f *form.Field, part, is string) string {
	same := func(shown string) bool { return form.SearchKey(shown) == form.SearchKey(strings.TrimSpace(is)) }
	for _, o := range f.Options {
		if o.Value == is {
			return is
		}
	}
	for _, o := range f.Options {
		if same(o.Label) {
			return o.Value
		}
	}
	switch {
	case f.IsBoolean():
		for _, answer := range []bool{true, false} {
			if same(pages.cellText(req, answer)) {
				return strconv.FormatBool(answer)
			}
		}
	case f.IsNumeric() || f.Traits().Calculated:
		return strings.Replace(is, pages.Site.TranslateFor(req, "."), ".", 1)
	case f.HasCountry(part):
		for _, c := range pages.Site.Languages.Countries(req.Language()) {
			if same(c.Name) {
				return c.Code
			}
		}
	}
	return is
}

// with returns the address of the list with a changed query. Pages start from the first.
func (q *responseQuery) with(formID string, change func(url.Values)) string {
	query := url.Values{}
	for name, values := range q.kept {
		query[name] = slices.Clone(values)
	}
	change(query)
	if q.tab != "" {
		return "/forms/" + formID + "/" + q.tab + "?" + query.Encode()
	}
	return responsesAddress(formID, query)
}

func responsesAddress(formID string, query url.Values) string {
	address := "/forms/" + formID + "/responses"
	if text := query.Encode(); text != "" {
		address += "?" + text
	}
	return address
}

// isFiltered reports whether the list leaves out responses.
func (q *responseQuery) isFiltered() bool { return !q.filter.Empty() }

// terms returns the texts to highlight.
func (q *responseQuery) terms() []string {
	var list []string
	if q.filter.Search != "" {
		list = append(list, q.filter.Search)
	}
	for _, c := range q.comparisons {
		if c.Op == form.Contains {
			list = append(list, c.Value)
		}
	}
	return list
}
