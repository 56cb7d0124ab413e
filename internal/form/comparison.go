package form

import "slices"

// Operators that compare answers when responses are filtered. They mean what they mean in
// conditions.
const (
	Equals      = "equals"
	NotEquals   = "not_equals"
	Contains    = "contains"
	NotContains = "not_contains"
	Greater     = "greater"
	Less        = "less"
	AtLeast     = "at_least"
	AtMost      = "at_most"
	Answered    = "answered"
	NotAnswered = "not_answered"
)

// Comparisons lists all operators.
var Comparisons = []string{Equals, NotEquals, Contains, NotContains, Greater, Less, AtLeast, AtMost, Answered, NotAnswered}

// NeedsValue reports whether an operator compares an answer with a value.
func NeedsValue(op string) bool { return op != Answered && op != NotAnswered }

// Comparisons returns the operators that make sense for the answer to a field, or for a
// part of it, the most useful first.
func (f *Field) Comparisons(part string) []string {
	t := f.Traits()
	var list []string
	switch {
	case t.Files:
	case f.IsBoolean():
		list = []string{Equals}
	case f.IsNumeric():
		list = []string{AtLeast, AtMost, Equals, NotEquals, Greater, Less}
	case t.Calculated: // a number or a text
		list = []string{AtLeast, AtMost, Equals, NotEquals, Greater, Less, Contains, NotContains}
	case t.TimeLayout != "":
		list = []string{AtLeast, AtMost, Equals, NotEquals, Greater, Less}
	case f.IsList() && (len(f.Rows) == 0 || f.Several):
		list = []string{Contains, NotContains}
	case f.HasCountry(part):
		list = []string{Equals, NotEquals}
	case len(f.Options) > 0 && !f.Other:
		list = []string{Equals, NotEquals}
	case len(f.Options) > 0:
		list = []string{Equals, NotEquals, Contains, NotContains}
	default:
		list = []string{Contains, NotContains, Equals, NotEquals}
	}
	return append(slices.Clip(list), Answered, NotAnswered)
}

// IsMoment reports whether answers are dates or times, which are earlier or later rather
// than less or more.
func (f *Field) IsMoment() bool { return f.Traits().TimeLayout != "" }
