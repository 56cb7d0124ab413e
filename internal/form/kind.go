package form

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is a kind of question. Each is one file; the builder, the public page,
// the check of an HTML post and of a JSON call, and the schema come from it.
type Kind interface {
	// Name is how definitions spell it.
	Name() string
	// About is how owners know it.
	About() KindInfo
	// Properties are the names of the field's properties that mean something
	// for this kind, beside those that every field has.
	Properties() []string
	// Check says what is wrong with a field of this kind.
	Check(f *Field, invalid func(property, format string, args ...any))
	// ParseForm takes an answer out of an HTML post, in the shape that JSON has.
	// nil is no answer.
	ParseForm(f *Field, in url.Values) any
	// Validate checks an answer in the shape that JSON has and returns it as it
	// is stored. nil is no answer; an error is for the respondent to read.
	Validate(f *Field, value any) (any, error)
	// Schema is the JSON Schema of an answer, or nil for what is not answered.
	Schema(f *Field) map[string]any
	// Parts are the columns that an answer fills in an export; nil is one.
	Parts(f *Field) []Option
	// SummaryMode is how many answers are summed up.
	SummaryMode() SummaryMode
}

// FixedProperties are the properties of a kind that can have one value only, so that there is
// nothing to choose.
func FixedProperties(k Kind) []string {
	if f, ok := k.(interface{ fixed() []string }); ok {
		return f.fixed()
	}
	return []string{}
}

// KindInfo is what an owner reads when choosing a kind.
type KindInfo struct {
	Title       string
	Description string
	Group       string // Text, Numbers, Choices, Dates, People, Form
}

// SummaryMode is a way to sum up answers.
type SummaryMode int

const (
	CountOnly         SummaryMode = iota // how many there are
	CountOptions                         // how often each was chosen
	Average                              // their average
	AverageAndOptions                    // both
)

// What most kinds have in common; a kind embeds one of these.
type (
	words         struct{}
	choices       struct{}
	numbers       struct{}
	numberChoices struct{}
)

func (words) Parts(*Field) []Option            { return nil }
func (choices) Parts(*Field) []Option          { return nil }
func (numbers) Parts(*Field) []Option          { return nil }
func (numberChoices) Parts(*Field) []Option    { return nil }
func (words) SummaryMode() SummaryMode         { return CountOnly }
func (choices) SummaryMode() SummaryMode       { return CountOptions }
func (numbers) SummaryMode() SummaryMode       { return Average }
func (numberChoices) SummaryMode() SummaryMode { return AverageAndOptions }

// Kinds lists every kind in the order in which people choose from them.
var Kinds = []Kind{
	shortText{}, longText{}, email{}, webAddress{}, phone{},
	number{}, slider{}, rating{}, scale{},
	yesNo{}, consent{},
	singleChoice{}, multipleChoice{}, dropdown{}, ranking{}, matrix{},
	date{}, clock{}, dateTime{},
	name{}, address{}, country{},
	hidden{}, calculated{}, statement{}, pageBreak{},
}

var kindsByName = func() map[string]Kind {
	byName := map[string]Kind{}
	for _, k := range Kinds {
		byName[k.Name()] = k
	}
	return byName
}()

// KindOf finds a kind by its name, or returns nil.
func KindOf(name string) Kind { return kindsByName[name] }

// AnswerError is what is wrong with an answer, for respondents to read. The format is
// English, and the key under which other languages have their own.
type AnswerError struct {
	Format string
	Args   []any
}

func answerError(format string, args ...any) error { return &AnswerError{format, args} }

func (p *AnswerError) Error() string { return fmt.Sprintf(p.Format, p.Args...) }

// What respondents read. One message, one place.
var (
	errText     = answerError("enter some text")
	errNumber   = answerError("enter a number")
	errBoolean  = answerError("choose yes or no")
	errList     = answerError("provide a list")
	errObject   = answerError("provide an object")
	errRequired = answerError("answer this question")
	errUnknown  = answerError("this question is not part of the form")
	errControl  = answerError("remove characters that cannot be displayed")
)

// asText reads a trimmed text; an empty one is no answer.
func asText(value any) (string, error) {
	text, ok := value.(string)
	if !ok {
		return "", errText
	}
	text = strings.TrimSpace(text)
	if !utf8.ValidString(text) {
		return "", errControl
	}
	return text, nil
}

// asLine is asText without line breaks and other control characters.
func asLine(value any) (string, error) {
	text, err := asText(value)
	if err == nil && strings.ContainsFunc(text, unicode.IsControl) {
		return "", errControl
	}
	return text, err
}

// textFrom is the text as an answer: the value itself, where nothing was to be changed.
func textFrom(value any, text string) any {
	if value == text {
		return value
	}
	return text
}

// formValue is the text of a control, as an answer; empty is none.
func formValue(f *Field, in url.Values) any {
	if text := strings.TrimSpace(in.Get(f.Key)); text != "" {
		return text
	}
	return nil
}

// lengthWithin checks a text against the field's limits and the kind's own.
func lengthWithin(f *Field, text string, most int) error {
	n := utf8.RuneCountInString(text)
	if f.MaxLength != nil {
		most = *f.MaxLength
	}
	if n > most {
		return tooLong(most)
	}
	if f.MinLength != nil && n < *f.MinLength {
		if *f.MinLength == 1 {
			return answerError("enter at least 1 character")
		}
		return answerError("enter at least %d characters", *f.MinLength)
	}
	return nil
}

func tooLong(most int) error {
	if most == 1 {
		return answerError("enter no more than 1 character")
	}
	return answerError("enter no more than %d characters", most)
}

// checkLengths checks the limits themselves.
func checkLengths(f *Field, most int, invalid func(property, format string, args ...any)) {
	if f.MaxLength != nil && (*f.MaxLength < 1 || *f.MaxLength > most) {
		invalid("max_length", "enter a number from 1 to %d", most)
	}
	if f.MinLength != nil && (*f.MinLength < 0 || f.MaxLength != nil && *f.MinLength > *f.MaxLength || *f.MinLength > most) {
		invalid("min_length", "enter a number from 0 to the maximum")
	}
}

// hasOption says whether one of the options is the value.
func hasOption(options []Option, value string) bool { return newLookup(options, 1).find(value) >= 0 }

func optionValues(options []Option) []string {
	values := make([]string, len(options))
	for i, o := range options {
		values[i] = o.Value
	}
	return values
}
