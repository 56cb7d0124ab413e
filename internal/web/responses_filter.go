package web

import (
	"slices"
	"strconv"
	"strings"

	"formulary/internal/form"
)

// The filter asks what an answer is. It takes what the table shows, and offers what
// there is to choose from.

const maxOffered = 60 // options of a question

// offered are the answers to choose from in the filter.
type offered struct {
	ID      string
	Answers []string
}

// typeOf is the control that suits an answer, where it is not a line of text.
var typeOf = map[string]string{"date": "date", "time": "time", "datetime": "datetime-local"}

// offer says of each column what it may be filtered by.
func (web *Web) offer(v *visit, p *responsesPage, fields []*form.Field) {
	lists := map[string]string{} // by the ids of the questions
	types := map[string]string{}
	for _, f := range fields {
		types[f.ID] = typeOf[f.Kind]
		o := offered{ID: "offered-" + strconv.Itoa(len(p.Offered))}
		for _, option := range f.Options {
			o.Answers = append(o.Answers, option.Label)
		}
		if f.Kind == "yes_no" || f.Kind == "consent" {
			o.Answers = []string{web.cellText(v, true), web.cellText(v, false)}
		}
		if len(o.Answers) > 0 && len(o.Answers) <= maxOffered {
			p.Offered = append(p.Offered, o)
			lists[f.ID] = o.ID
		}
	}
	for i, c := range p.Columns {
		p.Columns[i].Type, p.Columns[i].List = types[c.ID], lists[c.ID]
	}
}

// shownAs is a stored answer as the table shows it.
func (web *Web) shownAs(v *visit, fields []*form.Field, where, is string) string {
	key, _, _ := strings.Cut(where, ".")
	for _, f := range fields {
		switch {
		case f.Key != key || typeOf[f.Kind] != "":
		case f.Kind == "yes_no" || f.Kind == "consent":
			if answer, err := strconv.ParseBool(is); err == nil {
				return web.cellText(v, answer)
			}
		default:
			return web.tell(v, f, is)
		}
	}
	return is
}

// inWords says whether a question is answered in people's own words, of which a part
// is enough to find them.
func inWords(fields []*form.Field, where string) bool {
	key, part, _ := strings.Cut(where, ".")
	for _, f := range fields {
		if f.Key == key {
			return part != "country" && slices.Contains([]string{"short_text", "long_text", "email", "url", "phone", "name", "address", "hidden"}, f.Kind)
		}
	}
	return false
}

// meant is the answer that somebody means who writes what the table shows.
func (web *Web) meant(v *visit, fields []*form.Field, where, is string) string {
	key, _, _ := strings.Cut(where, ".")
	same := func(shown string) bool { return form.Fold(shown) == form.Fold(strings.TrimSpace(is)) }
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
		switch f.Kind {
		case "yes_no", "consent":
			for _, answer := range []bool{true, false} {
				if same(web.cellText(v, answer)) {
					return strconv.FormatBool(answer)
				}
			}
		case "number", "slider", "calculated":
			return strings.Replace(is, web.say(v, "."), ".", 1)
		case "country":
			for _, c := range web.languages.countriesIn(web.viewerLanguage(v)) {
				if same(c.Value) {
					return c.Name
				}
			}
		}
	}
	return is
}

// tellFilter says by what the table is filtered, beside what the search says itself.
func (web *Web) tellFilter(v *visit, p *responsesPage) {
	if p.Since != "" {
		p.Told = append(p.Told, web.say(v, "From")+" "+p.Since)
	}
	if p.Until != "" {
		p.Told = append(p.Told, web.say(v, "Until")+" "+p.Until)
	}
	for _, c := range p.Columns {
		if c.Key == p.Where && p.Is != "" {
			p.Told = append(p.Told, c.Label+": "+p.Is)
		}
	}
}
