package workspace

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// The filter compares an answer with a value. Users enter the value as the table shows
// it, or choose one of the suggestions.

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
	if filter.LabelMatches, err = pages.Store.MatchLabels(req.Context(), req.Owner(), formID, filter.Search, names); err != nil {
		return filter, kept, err
	}
	if kept.Get("where") == "" || kept.Get("is") == "" {
		return filter, kept, nil
	}
	versions, err := pages.Store.Definitions(req.Context(), req.Owner(), formID)
	if err != nil {
		return filter, kept, err
	}
	where, fields := kept.Get("where"), form.MergeQuestions(versions)
	is := pages.parseFilterValue(req, fields, where, kept.Get("is"))
	filter.Answers, err = pages.Store.AnswerFilters(req.Context(), req.Owner(), formID, map[string]string{where: is})
	if err == nil && isFreeText(fields, where) {
		filter.Answers[0] = filter.Answers[0].Within(is)
	}
	return filter, kept, err
}

const maxSuggestions = 60 // options of a question

// suggestion is the list of answers that the filter offers for a question.
type suggestion struct {
	ID      string
	Answers []string
}

// suggest sets the suggestions and the control of each column.
func (pages *Pages) suggest(req *page.Request, p *responsesPage, fields []*form.Field) {
	lists := map[string]string{} // by field ID
	types := map[string]string{}
	for _, f := range fields {
		if t := f.Traits(); t.TimeLayout != "" {
			types[f.ID] = t.Input
		}
		o := suggestion{ID: "offered-" + strconv.Itoa(len(p.Suggestions))}
		for _, option := range f.Options {
			o.Answers = append(o.Answers, option.Label)
		}
		if f.IsBoolean() {
			o.Answers = []string{pages.cellText(req, true), pages.cellText(req, false)}
		}
		if len(o.Answers) > 0 && len(o.Answers) <= maxSuggestions {
			p.Suggestions = append(p.Suggestions, o)
			lists[f.ID] = o.ID
		}
	}
	for i, c := range p.Columns {
		p.Columns[i].Type, p.Columns[i].List = types[c.ID], lists[c.ID]
	}
}

// displayValue formats a stored answer as the table shows it.
func (pages *Pages) displayValue(req *page.Request, fields []*form.Field, where, is string) string {
	key, _, _ := strings.Cut(where, ".")
	for _, f := range fields {
		switch {
		case f.Key != key || f.Traits().TimeLayout != "":
		case f.IsBoolean():
			if answer, err := strconv.ParseBool(is); err == nil {
				return pages.cellText(req, answer)
			}
		default:
			return pages.formatAnswer(req, f, is)
		}
	}
	return is
}

// isFreeText reports whether answers to a question are free text, which the filter
// matches in part.
func isFreeText(fields []*form.Field, where string) bool {
	key, part, _ := strings.Cut(where, ".")
	for _, f := range fields {
		if f.Key == key {
			return f.IsOpenText() && !f.HasCountry(part)
		}
	}
	return false
}

// parseFilterValue turns a value as the table shows it into a stored answer.
func (pages *Pages) parseFilterValue(req *page.Request, fields []*form.Field, where, is string) string {
	key, _, _ := strings.Cut(where, ".")
	same := func(shown string) bool { return form.SearchKey(shown) == form.SearchKey(strings.TrimSpace(is)) }
	for _, f := range fields {
		if f.Key != key {
			continue
		}
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
		case f.HasCountry(""):
			for _, c := range pages.Site.Languages.Countries(req.Language()) {
				if same(c.Name) {
					return c.Code
				}
			}
		}
	}
	return is
}

// describeFilter describes the filter, except for the search text, which the page shows.
func (pages *Pages) describeFilter(req *page.Request, p *responsesPage) {
	if p.Since != "" {
		p.Filters = append(p.Filters, pages.Site.TranslateFor(req, "From")+" "+p.Since)
	}
	if p.Until != "" {
		p.Filters = append(p.Filters, pages.Site.TranslateFor(req, "To")+" "+p.Until)
	}
	for _, c := range p.Columns {
		if c.Key == p.Where && p.Is != "" {
			p.Filters = append(p.Filters, c.Label+": "+p.Is)
		}
	}
}
