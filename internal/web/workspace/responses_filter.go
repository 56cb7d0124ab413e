package workspace

import (
	"strconv"
	"strings"

	"formulary/internal/form"
	"formulary/internal/web/page"
)

// filterChip is a part of the filter, as a sentence.
type filterChip struct {
	Label  string // such as the question
	Phrase string
	Value  string
	Remove string // address of the list without it
	Wrong  string // why it cannot be used, or empty
	Edit   *chipEdit
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
		if o.Answers = pages.suggestedAnswers(req, f); len(o.Answers) > 0 {
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
		p.Questions = append(p.Questions, filterQuestion{Key: c.Key, Label: c.Label, Ops: strings.Join(f.Comparisons(part), " "), Words: wordsOf(f), List: lists[c.ID], Type: inputType(f)})
	}
}

// suggestedAnswers returns the answers that the filter offers for a question, if they are few.
func (pages *Pages) suggestedAnswers(req *page.Request, f *form.Field) []string {
	var list []string
	if f.IsBoolean() {
		return []string{pages.cellText(req, true), pages.cellText(req, false)}
	}
	if len(f.Options) <= maxSuggestions {
		for _, option := range f.Options {
			list = append(list, option.Label)
		}
	}
	return list
}

// inputType is the type of the input for an answer; empty: text.
func inputType(f *form.Field) string {
	switch {
	case f.IsMoment():
		return f.Traits().Input
	case f.IsNumeric():
		return "number"
	}
	return ""
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
