package form

import "slices"

// Traits are what the rest of the service needs to know about a kind, so that no other
// code compares the names of kinds. The zero value is right for a line of text.
type Traits struct {
	// The answer.

	Summary SummaryMode
	Chart   ChartStyle
	// Options are the answers to choose from where the definition does not list them.
	Options func(*Field) []Option
	// Parts are the columns that an answer, which is an object, fills in an export.
	Parts func(*Field) []Option
	// PartSeparator stands between the parts in a text; a comma if empty.
	PartSeparator string
	// Countries are the parts that hold the code of a country; "" is the whole answer.
	Countries []string
	// TimeLayout is how the answer, a date or time, is stored (see package time).
	TimeLayout string
	// DisplayLayout is how people read it, where that differs; also a key of the translations.
	DisplayLayout string
	// Link makes an address to follow out of an answer.
	Link func(answer string) string

	List    bool // the answer, or a part of it, can be a list
	Ordered bool // the list is all options, in the order that the respondent chose
	NPS     bool // answers from 0 to 10 have a net promoter score

	// The field.

	Fixed        []string // properties that have one value only, so that owners cannot set them
	OptionLimits bool     // options may have a cap
	NoDefault    bool     // the builder offers no default answer
	Calculated   bool     // the form works the answer out; nobody sends it
	Hidden       bool     // respondents never see it
	PageBreak    bool     // it begins a page

	// The control.

	Input     string // type of an HTML input for an answer, where it is not text
	Group     bool   // several controls, of which the question is the legend rather than the label
	Multiline bool   // a text of several lines
	Decimal   bool   // a number that is typed, with the decimal sign of the form's language
	Script    bool   // needs the page's script
	Sketch    string // how the builder draws it; empty: by its properties

	// ExtraSize estimates the bytes of HTML beside those of the options and rows.
	ExtraSize func(*Field) int
	// Example makes up an answer, in the shape that JSON has; nil: there is none.
	Example func(*Field, Sampler) any
}

// SummaryMode is a way to sum up answers.
type SummaryMode int

const (
	CountOnly         SummaryMode = iota // how many there are
	CountOptions                         // how often each was chosen
	Average                              // their average
	AverageAndOptions                    // both
)

// Averages says whether the summary has an average.
func (m SummaryMode) Averages() bool { return m == Average || m == AverageAndOptions }

// CountsOptions says whether the summary counts each option.
func (m SummaryMode) CountsOptions() bool { return m == CountOptions || m == AverageAndOptions }

// ChartStyle is how counts of options are drawn.
type ChartStyle int

const (
	Bars          ChartStyle = iota // a bar for each option, below each other
	Histogram                       // columns side by side, each with its label
	ColumnsIfMany                   // columns with an axis where bars would be too many
)

var noTraits Traits

// Traits are those of the field's kind.
func (f *Field) Traits() *Traits {
	if e := registry.byName[f.Kind]; e != nil {
		return &e.traits
	}
	return &noTraits
}

// HasCountry says whether the part of an answer is the code of a country; "" is the
// whole answer.
func (f *Field) HasCountry(part string) bool { return slices.Contains(f.Traits().Countries, part) }

// Parts are the columns that an answer fills in an export; nil is one.
func (f *Field) Parts() []Option {
	if parts := f.Traits().Parts; parts != nil {
		return parts(f)
	}
	return nil
}

// HasAnswer says whether the field has an answer at all.
func (f *Field) HasAnswer() bool {
	e := registry.byName[f.Kind]
	return e != nil && e.hasAnswer
}

// TakesAnswer says whether the field has an answer that respondents send.
func (f *Field) TakesAnswer() bool { return f.HasAnswer() && !f.Traits().Calculated }

// IsVisible says whether respondents can see the field at all.
func (f *Field) IsVisible() bool {
	t := f.Traits()
	return !t.Hidden && !(t.Calculated && f.Concealed)
}

func (f *Field) isBreak() bool { return f.Traits().PageBreak }

// jsonType is the type of an answer in its JSON Schema, if there is one only.
func (f *Field) jsonType() string {
	name, _ := KindOf(f.Kind).Schema(f)["type"].(string)
	return name
}

// IsNumeric says whether the field is answered with a number.
func (f *Field) IsNumeric() bool {
	name := f.jsonType()
	return name == "number" || name == "integer"
}

// IsBoolean says whether the field is answered with yes or no.
func (f *Field) IsBoolean() bool { return f.jsonType() == "boolean" }

// IsOpenText says whether the field is answered in people's own words.
func (f *Field) IsOpenText() bool {
	t := f.Traits()
	return f.HasAnswer() && t.Summary == CountOnly && t.TimeLayout == ""
}
