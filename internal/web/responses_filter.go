package web

import (
	"strconv"
	"strings"

	"formulary/internal/form"
)

// The filter asks what an answer is. It takes what the table shows, and offers what
// there is to choose from.

const maxSuggestions = 60 // options of a question

// suggestion are the answers to choose from in the filter.
type suggestion struct {
	ID      string
	Answers []string
}

// suggest says of each column what it may be filtered by.
func (web *Handler) suggest(v *pageRequest, p *responsesPage, fields []*form.Field) {
	lists := map[string]string{} // by the ids of the questions
	types := map[string]string{}
	for _, f := range fields {
		if t := f.Traits(); t.TimeLayout != "" {
			types[f.ID] = t.Input
		}
		o := suggestion{ID: "offered-" + strconv.Itoa(len(p.Offered))}
		for _, option := range f.Options {
			o.Answers = append(o.Answers, option.Label)
		}
		if f.IsBoolean() {
			o.Answers = []string{web.cellText(v, true), web.cellText(v, false)}
		}
		if len(o.Answers) > 0 && len(o.Answers) <= maxSuggestions {
			p.Offered = append(p.Offered, o)
			lists[f.ID] = o.ID
		}
	}
	for i, c := range p.Columns {
		p.Columns[i].Type, p.Columns[i].List = types[c.ID], lists[c.ID]
	}
}

// displayValue is a stored answer as the table shows it.
func (web *Handler) displayValue(v *pageRequest, fields []*form.Field, where, is string) string {
	key, _, _ := strings.Cut(where, ".")
	for _, f := range fields {
		switch {
		case f.Key != key || f.Traits().TimeLayout != "":
		case f.IsBoolean():
			if answer, err := strconv.ParseBool(is); err == nil {
				return web.cellText(v, answer)
			}
		default:
			return web.formatAnswer(v, f, is)
		}
	}
	return is
}

// isFreeText says whether a question is answered in people's own words, of which a part
// is enough to find them.
func isFreeText(fields []*form.Field, where string) bool {
	key, part, _ := strings.Cut(where, ".")
	for _, f := range fields {
		if f.Key == key {
			return f.IsOpenText() && !f.HasCountry(part)
		}
	}
	return false
}

// parseFilterValue is the answer that somebody means who writes what the table shows.
func (web *Handler) parseFilterValue(v *pageRequest, fields []*form.Field, where, is string) string {
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
				if same(web.cellText(v, answer)) {
					return strconv.FormatBool(answer)
				}
			}
		case f.IsNumeric() || f.Traits().Calculated:
			return strings.Replace(is, web.translateFor(v, "."), ".", 1)
		case f.HasCountry(""):
			for _, c := range web.languages.countriesIn(web.viewerLanguage(v)) {
				if same(c.Value) {
					return c.Name
				}
			}
		}
	}
	return is
}

// describeFilter says by what the table is filtered, beside what the search says itself.
func (web *Handler) describeFilter(v *pageRequest, p *responsesPage) {
	if p.Since != "" {
		p.Told = append(p.Told, web.translateFor(v, "From")+" "+p.Since)
	}
	if p.Until != "" {
		p.Told = append(p.Told, web.translateFor(v, "To")+" "+p.Until)
	}
	for _, c := range p.Columns {
		if c.Key == p.Where && p.Is != "" {
			p.Told = append(p.Told, c.Label+": "+p.Is)
		}
	}
}
