package form

import "time"

// Rule is a part of Validate that browsers check before they send an answer. A rule must
// accept every answer that Validate accepts; Validate may refuse more.
type Rule struct {
	Test    string // name of a test in form-check.js
	Value   any    // of a limit
	Problem error  // for respondents
}

// Rules are the rules for answers to a question, the most basic first.
func (f *Field) Rules() []Rule {
	if !f.TakesAnswer() || !f.IsVisible() {
		return nil
	}
	var list []Rule
	if f.Required {
		list = append(list, Rule{"required", f.HasPartControls(), errRequired})
	}
	if more := f.Traits().Rules; more != nil {
		list = append(list, more(f)...)
	}
	return list
}

// HasPartControls reports whether the controls of the question are named key.part instead of
// key.
func (f *Field) HasPartControls() bool {
	t := f.Traits()
	return f.Parts() != nil || t.Ordered || t.DateParts
}

// textRules are the rules of a text with limits. most is the limit of its kind.
func textRules(most int) func(*Field) []Rule {
	return func(f *Field) []Rule {
		most := most
		if f.MaxLength != nil {
			most = *f.MaxLength
		}
		list := []Rule{{"max_length", most, tooLong(most)}}
		if f.MinLength != nil {
			list = append(list, Rule{"min_length", *f.MinLength, tooShort(*f.MinLength)})
		}
		return list
	}
}

// patternRule is the rule of a text in a certain notation.
func patternRule(pattern string, problem error) func(*Field) []Rule {
	return func(*Field) []Rule { return []Rule{{"pattern", pattern, problem}} }
}

// steps is the value of the rule for numbers in steps.
type steps struct {
	From float64 `json:"from"`
	Step float64 `json:"step"`
}

func numberRules(f *Field) []Rule {
	list := []Rule{{"number", nil, errNumber}}
	from := 0.0
	if f.Min != nil {
		from = *f.Min
		list = append(list, Rule{"min", *f.Min, answerError("enter a number of %s or more", Decimal(*f.Min))})
	}
	if f.Max != nil {
		list = append(list, Rule{"max", *f.Max, answerError("enter a number of %s or less", Decimal(*f.Max))})
	}
	if f.Step != nil {
		list = append(list, Rule{"step", steps{from, *f.Step}, answerError("enter a nearby value, such as %s", "{number}")})
	}
	return list
}

// momentRules are the rules of dates and times.
func momentRules(format, displayFormat string) func(*Field) []Rule {
	return func(f *Field) []Rule {
		var list []Rule
		switch format { // the messages of Validate name the format of the API
		case dateTimeFormat:
			list = []Rule{{"date", nil, answerError("enter a valid date and time")}}
		case time.DateOnly:
			list = []Rule{{"date", nil, answerError("enter a valid date")}}
		}
		if f.Earliest != "" {
			list = append(list, Rule{"earliest", f.Earliest, answerError("enter %s or later", Moment{f.Earliest, format, displayFormat})})
		}
		if f.Latest != "" {
			list = append(list, Rule{"latest", f.Latest, answerError("enter %s or earlier", Moment{f.Latest, format, displayFormat})})
		}
		return list
	}
}

// choiceRules are the rules of options.
func choiceRules(f *Field) []Rule {
	var list []Rule
	if f.Other {
		list = append(list, Rule{"other", nil, errOther})
	}
	if f.MinPicks != nil {
		list = append(list, Rule{"min_picks", *f.MinPicks, answerError("choose at least %d options", *f.MinPicks)})
	}
	if f.MaxPicks != nil {
		list = append(list, Rule{"max_picks", *f.MaxPicks, tooManyPicks(*f.MaxPicks)})
	}
	return list
}

// partRules are the rules of an answer in parts, some of which a required question needs.
func partRules(problem error, needed func(*Field) []string) func(*Field) []Rule {
	return func(f *Field) []Rule {
		if !f.Required {
			return nil
		}
		return []Rule{{"parts", needed(f), problem}}
	}
}
