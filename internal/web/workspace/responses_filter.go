package workspace

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// filterChip is a part of the filter, as a sentence.
type filterChip struct {
	Label  string // such as the question
	Phrase string
	Value  string
	Remove string // address of the list without it
	Wrong  string // why it cannot be used, or empty
}

// filterOp is an operator in the menu. The words depend on the type of the question.
type filterOp struct {
	Op, Text, Moment, List string
}

// filterQuestion is a question in the menu.
type filterQuestion struct {
	Key, Label string
	Ops        string // the operators that suit it, separated by spaces
	Words      string // moment, list or empty: which words the operators have
	Type       string // of the input for a value; empty: text
	List       string // ID of its suggestions, or empty
}

// operatorTexts are the operators in words.
var operatorTexts = map[string]string{
	form.Equals: "is", form.NotEquals: "is not", form.Contains: "contains", form.NotContains: "does not contain", form.Greater: "is more than", form.Less: "is less than",
	form.AtLeast: "is at least", form.AtMost: "is at most", form.Answered: "is answered", form.NotAnswered: "is not answered",
}

// momentTexts are the operators in words, for dates and times.
var momentTexts = map[string]string{
	form.Greater: "is after", form.Less: "is before", form.AtLeast: "is on or after", form.AtMost: "is on or before",
}

// listTexts are the operators in words, for answers that can be several options.
var listTexts = map[string]string{form.Contains: "includes", form.NotContains: "does not include"}

// wordsOf returns which words the operators have for a question.
func wordsOf(f *form.Field) string {
	switch {
	case f.IsMoment():
		return "moment"
	case f.IsList():
		return "list"
	}
	return ""
}

func operatorText(f *form.Field, op string) string {
	text := ""
	switch wordsOf(f) {
	case "moment":
		text = momentTexts[op]
	case "list":
		text = listTexts[op]
	}
	if text == "" {
		text = operatorTexts[op]
	}
	return text
}

const maxSuggestions = 60 // options of a question

// suggestion is the list of answers that the filter offers for a question.
type suggestion struct {
	ID      string
	Answers []string
}

// fillFilterMenu sets the questions and operators that the menu offers.
func (pages *Pages) fillFilterMenu(req *page.Request, p *responsesPage, fields []*form.Field) {
	for _, op := range form.Comparisons {
		p.Ops = append(p.Ops, filterOp{op, operatorTexts[op], momentTexts[op], listTexts[op]})
	}
	byID := map[string]*form.Field{}
	lists := map[string]string{} // by field ID
	for _, f := range fields {
		byID[f.ID] = f
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
	for _, c := range p.Columns {
		f := byID[c.ID]
		if f == nil {
			continue
		}
		_, part, _ := strings.Cut(c.Key, ".")
		q := filterQuestion{Key: c.Key, Label: c.Label, Ops: strings.Join(f.Comparisons(part), " "), Words: wordsOf(f), List: lists[c.ID]}
		switch {
		case f.IsMoment():
			q.Type = f.Traits().Input
		case f.IsNumeric():
			q.Type = "number"
		}
		p.Questions = append(p.Questions, q)
	}
}

// displayValue formats a stored answer as the list shows it.
func (pages *Pages) displayValue(req *page.Request, f *form.Field, part, is string) string {
	switch {
	case f.HasCountry(part):
		return pages.Site.Languages.CountryName(req.Language(), is)
	case f.IsBoolean():
		if answer, err := strconv.ParseBool(is); err == nil {
			return pages.cellText(req, answer)
		}
	case f.IsNumeric():
		if n, err := strconv.ParseFloat(is, 64); err == nil {
			return pages.cellText(req, n)
		}
	case f.Traits().DisplayLayout != "":
		return pages.formatAnswer(req, f, is)
	}
	for _, o := range f.Options {
		if o.Value == is {
			return o.Label
		}
	}
	return is
}

// fillChips describes the filter, except for the search text, which the page shows.
func (pages *Pages) fillChips(req *page.Request, p *responsesPage, q *responseQuery, wrong *store.FilterError) {
	add := func(chip filterChip, name string) {
		chip.Remove = q.with(p.Form.ID, func(query url.Values) { query.Del(name) })
		p.Chips = append(p.Chips, chip)
	}
	if days := q.kept.Get("days"); days == "1" {
		add(filterChip{Label: pages.Site.TranslateFor(req, "Submitted"), Value: pages.Site.TranslateFor(req, "today")}, "days")
	} else if n, err := strconv.Atoi(days); err == nil {
		add(filterChip{Label: pages.Site.TranslateFor(req, "Submitted"), Value: pages.Site.TranslateFor(req, "last %d days", n)}, "days")
	}
	if since := q.kept.Get("since"); since != "" {
		add(filterChip{Label: pages.Site.TranslateFor(req, "Submitted"), Phrase: pages.Site.TranslateFor(req, "from"), Value: since}, "since")
	}
	if until := q.kept.Get("until"); until != "" {
		add(filterChip{Label: pages.Site.TranslateFor(req, "Submitted"), Phrase: pages.Site.TranslateFor(req, "to"), Value: until}, "until")
	}
	if q.filter.Status != "" {
		add(filterChip{Label: pages.Site.TranslateFor(req, "Status"), Phrase: pages.Site.TranslateFor(req, "is"), Value: pages.Site.TranslateFor(req, statusLabels[string(q.filter.Status)])}, "status")
	}
	if q.filter.Starred {
		add(filterChip{Value: pages.Site.TranslateFor(req, "Starred")}, "starred")
	}
	remove := func(name, value string) string {
		return q.with(p.Form.ID, func(query url.Values) {
			query[name] = slices.DeleteFunc(query[name], func(other string) bool { return other == value })
		})
	}
	for _, tag := range q.filter.Tags {
		p.Chips = append(p.Chips, filterChip{Label: pages.Site.TranslateFor(req, "Tag"), Phrase: pages.Site.TranslateFor(req, "is"), Value: tag, Remove: remove("tag", tag)})
	}
	for i, c := range q.comparisons {
		chip := pages.conditionChip(req, p, q, c)
		chip.Remove = remove("where", formatCondition(c))
		if wrong != nil && wrong.Index == i {
			chip.Wrong = pages.Site.TranslateFor(req, "This value doesn’t match any answer to that question.")
		}
		p.Chips = append(p.Chips, chip)
	}
}

// conditionChip describes a condition on an answer.
func (pages *Pages) conditionChip(req *page.Request, p *responsesPage, q *responseQuery, c store.Comparison) filterChip {
	chip := filterChip{Label: c.Field, Phrase: pages.Site.TranslateFor(req, operatorTexts[c.Op]), Value: c.Value}
	for _, column := range p.Columns {
		if column.Key == c.Field {
			chip.Label = column.Label
		}
	}
	key, part, _ := strings.Cut(c.Field, ".")
	for _, f := range q.fields {
		if f.Key == key {
			chip.Phrase = pages.Site.TranslateFor(req, operatorText(f, c.Op))
			chip.Value = pages.displayValue(req, f, part, c.Value)
			break
		}
	}
	if !form.NeedsValue(c.Op) {
		chip.Phrase, chip.Value = "", chip.Phrase
	}
	return chip
}
