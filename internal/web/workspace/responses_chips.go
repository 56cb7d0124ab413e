package workspace

import (
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// chipEdit is the form in a chip that changes this part of the filter.
type chipEdit struct {
	Rest    []parameter // the other parts of the filter
	Field   string      // key of the question; empty: not about an answer
	Ops     []filterChoice
	Name    string // of the control
	Label   string
	Type    string // of the input; empty: text
	Value   string
	Choices []filterChoice // if the control is a list
}

type filterChoice struct {
	Value, Text string
	Selected    bool
}

// without returns the query of the list without one value, or without a parameter if the
// value is empty.
func (q *responseQuery) without(name, value string) []parameter {
	var list []parameter
	for other, values := range q.kept {
		for _, v := range values {
			if other != name || value != "" && v != value {
				list = append(list, parameter{other, v})
			}
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name+list[i].Value < list[j].Name+list[j].Value })
	return list
}

// markChip is a part of the filter that is not about an answer.
type markChip struct{ name, label, value string }

// markEdit is how to change such a part; nil: it can only be removed.
func (pages *Pages) markEdit(req *page.Request, p *responsesPage, q *responseQuery, c markChip) *chipEdit {
	e := &chipEdit{Name: c.name, Label: c.label, Value: c.value, Rest: q.without(c.name, "")}
	choose := func(value, text string) {
		e.Choices = append(e.Choices, filterChoice{value, text, value == c.value})
	}
	switch c.name {
	case "since", "until":
		e.Type = "date"
	case "days":
		for _, choice := range p.Days {
			choose(choice.Days, pages.Site.TranslateFor(req, choice.Text))
		}
	case "status":
		for _, status := range form.ResponseStatuses {
			choose(string(status), pages.Site.TranslateFor(req, statusLabels[string(status)]))
		}
	case "tag":
		e.Rest = q.without(c.name, c.value)
		for _, tag := range p.Marks.Tags {
			choose(tag.Name, tag.Name)
		}
	default:
		return nil
	}
	return e
}

// fillChips describes the filter, except for the search text, which the page shows.
func (pages *Pages) fillChips(req *page.Request, p *responsesPage, q *responseQuery, wrong *store.FilterError) {
	add := func(chip filterChip, name string) {
		chip.Remove = q.with(p.Form.ID, func(query url.Values) { query.Del(name) })
		chip.Edit = pages.markEdit(req, p, q, markChip{name, chip.Label, q.kept.Get(name)})
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
		label := pages.Site.TranslateFor(req, "Tag")
		p.Chips = append(p.Chips, filterChip{Label: label, Phrase: pages.Site.TranslateFor(req, "is"), Value: tag, Remove: remove("tag", tag), Edit: pages.markEdit(req, p, q, markChip{"tag", label, tag})})
	}
	for i, c := range q.comparisons {
		chip := pages.conditionChip(req, p, q, c)
		chip.Remove = remove("where", formatCondition(c))
		chip.Edit.Rest = q.without("where", formatCondition(c))
		if wrong != nil && wrong.Index == i {
			chip.Wrong = pages.Site.TranslateFor(req, "This value doesn’t match any answer to that question.")
		}
		p.Chips = append(p.Chips, chip)
	}
}

// conditionChip describes a condition on an answer.
func (pages *Pages) conditionChip(req *page.Request, p *responsesPage, q *responseQuery, c store.Comparison) filterChip {
	edit := &chipEdit{Field: c.Field, Name: "value", Label: pages.Site.TranslateFor(req, "Answer"), Value: c.Value}
	chip := filterChip{Label: c.Field, Phrase: pages.Site.TranslateFor(req, operatorTexts[c.Op]), Value: c.Value, Edit: edit}
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
			for _, op := range f.Comparisons(part) {
				edit.Ops = append(edit.Ops, filterChoice{op, pages.Site.TranslateFor(req, operatorText(f, op)), op == c.Op})
			}
			edit.Type = inputType(f)
			if edit.Type == "" {
				edit.Value = chip.Value
			}
			for _, answer := range pages.suggestedAnswers(req, f) {
				edit.Choices = append(edit.Choices, filterChoice{answer, answer, answer == chip.Value})
			}
			break
		}
	}
	if !form.NeedsValue(c.Op) {
		chip.Phrase, chip.Value = "", chip.Phrase
	}
	return chip
}
