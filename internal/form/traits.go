package form

import "slices"

// Traits describe a kind to the rest of the service, so that no other code compares
// names of kinds. The zero value suits a line of text.
type Traits struct {
	// Answer.

	Summary SummaryMode
	Chart   ChartStyle
	// Options returns the options that the definition does not list.
	Options func(*Field) []Option
	// Parts returns the export columns of an answer that is an object.
	Parts func(*Field) []Option
	// PartSeparator separates the parts in text; a comma if empty.
	PartSeparator string
	// Countries names the parts that contain a country code; "" is the whole answer.
	Countries []string
	// TimeLayout is the stored format of a date or time (see package time).
	TimeLayout string
	// DisplayLayout is the displayed format, if different; also a translation key.
	DisplayLayout string
	// Link returns the link target of an answer.
	Link func(answer string) string

	Email   bool // the answer is an email address
	Person  bool // the answer is the name of a person
	Files   bool // the answer can be uploaded files; the kind is a FileKind
	List    bool // the answer or a part of it can be a list
	Ordered bool // the list is options in the order of the respondent
	NPS     bool // answers from 0 to 10 have a Net Promoter Score

	// Field.

	FixedProperties []string // properties with a fixed value that owners cannot set
	OptionLimits    bool     // options may have a limit, points and a price
	OptionPoints    bool     // options may have points, but no limit and no price
	Pictures        bool     // options have pictures
	NoDefault       bool     // the builder offers no default answer
	Calculated      bool     // the answer is computed and cannot be submitted
	Hidden          bool     // respondents never see it
	PageBreak       bool     // it starts a page

	// Control.

	Input     string // type of the HTML input if it is not text
	Group     bool   // several controls: the question is their legend, not a label
	DateParts bool   // a control for each part of a date
	Multiline bool   // text of several lines
	Decimal   bool   // typed number with the decimal sign of the form's language
	Script    bool   // needs the page's script
	Asset     string // name of the script and the style sheet that only this kind needs
	Sketch    string // drawing in the builder; empty: depends on the properties

	// Rules returns the rules that browsers check, beside that a required question needs an
	// answer.
	Rules func(*Field) []Rule
	// ExtraSize estimates the HTML beside options and rows, in bytes.
	ExtraSize func(*Field) int
	// Example generates an answer as decoded JSON; nil if there is none.
	Example func(*Field, Sampler) any
}

// SummaryMode is a way to summarize answers.
type SummaryMode int

const (
	CountOnly         SummaryMode = iota // number of answers
	CountOptions                         // number of answers per option
	Average                              // average of the answers
	AverageAndOptions                    // both
)

// Averages reports whether the summary has an average.
func (m SummaryMode) Averages() bool { return m == Average || m == AverageAndOptions }

// CountsOptions reports whether the summary counts each option.
func (m SummaryMode) CountsOptions() bool { return m == CountOptions || m == AverageAndOptions }

// ChartStyle is how the counts of options are drawn.
type ChartStyle int

const (
	Bars          ChartStyle = iota // a horizontal bar per option
	Histogram                       // columns side by side, each with its label
	ColumnsIfMany                   // columns with an axis if there are too many for bars
)

var noTraits Traits

// Traits returns the traits of the field's kind.
func (f *Field) Traits() *Traits {
	if e := registry.byName[f.Kind]; e != nil {
		return &e.traits
	}
	return &noTraits
}

// HasCountry reports whether the part of an answer is a country code; "" is the whole
// answer.
func (f *Field) HasCountry(part string) bool { return slices.Contains(f.Traits().Countries, part) }

// Parts returns the export columns of an answer; nil means one column.
func (f *Field) Parts() []Option {
	if parts := f.Traits().Parts; parts != nil {
		return parts(f)
	}
	return nil
}

// HasAnswer reports whether the field has an answer at all.
func (f *Field) HasAnswer() bool {
	e := registry.byName[f.Kind]
	return e != nil && e.hasAnswer
}

// TakesAnswer reports whether respondents submit an answer to the field.
func (f *Field) TakesAnswer() bool { return f.HasAnswer() && !f.Traits().Calculated }

// IsVisible reports whether respondents can see the field at all.
func (f *Field) IsVisible() bool {
	t := f.Traits()
	return !t.Hidden && !(t.Calculated && f.Concealed)
}

func (f *Field) isBreak() bool { return f.Traits().PageBreak }

// jsonType returns the type in the JSON Schema of an answer, or "" if it has several. It
// does not depend on the rows of a matrix. They are left out, because pages ask for the
// type once for each row.
func (f *Field) jsonType() string {
	if len(f.Rows) > 0 {
		rowless := *f
		rowless.Rows = nil
		f = &rowless
	}
	name, _ := KindOf(f.Kind).Schema(f)["type"].(string)
	return name
}

// IsNumeric reports whether answers are numbers.
func (f *Field) IsNumeric() bool {
	name := f.jsonType()
	return name == "number" || name == "integer"
}

// IsBoolean reports whether answers are booleans.
func (f *Field) IsBoolean() bool { return f.jsonType() == "boolean" }

// IsOpenText reports whether answers are free text.
func (f *Field) IsOpenText() bool {
	t := f.Traits()
	return f.HasAnswer() && t.Summary == CountOnly && t.TimeLayout == "" && !t.Files
}

// IsList reports whether the answer or a part of it is a list. Some kinds have lists only
// with some properties.
func (f *Field) IsList() bool { return f.Traits().List && f.jsonType() != "string" }
