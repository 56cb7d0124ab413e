package form

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"formulary/internal/fault"
)

// Kind is a kind of question. Each is one file here and one template in
// web/templates/kinds; everything else in the service reads what it needs from these
// methods. Adding a kind means those two files and a line in builtinKinds.
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
	// Traits are the differences to a question that is answered with a line of text.
	Traits() Traits
}

// KindInfo is what an owner reads when choosing a kind.
type KindInfo struct {
	Title       string
	Description string
	Group       string // Text, Numbers, Choices, Dates, People, Form
}

// builtinKinds are in the order in which people choose from them.
var builtinKinds = []Kind{
	shortText{}, longText{}, email{}, webAddress{}, phone{},
	number{}, slider{}, rating{}, scale{},
	yesNo{}, consent{},
	singleChoice{}, multipleChoice{}, dropdown{}, ranking{}, matrix{},
	date{}, clock{}, dateTime{},
	name{}, address{}, country{},
	hidden{}, calculated{}, statement{}, pageBreak{},
}

// kindEntry is a kind with what would otherwise be worked out for every answer.
type kindEntry struct {
	Kind
	traits    Traits
	hasAnswer bool
}

type kindRegistry struct {
	list   []Kind
	byName map[string]*kindEntry
}

var registry = newRegistry(builtinKinds)

func newRegistry(kinds []Kind) *kindRegistry {
	r := &kindRegistry{byName: map[string]*kindEntry{}}
	for _, k := range kinds {
		r.add(k)
	}
	return r
}

func (r *kindRegistry) add(k Kind) {
	r.list = append(r.list, k)
	r.byName[k.Name()] = &kindEntry{k, k.Traits(), k.Schema(&Field{}) != nil}
}

// Register adds a kind that is defined in another package. It must be called before
// anything else in this package is used, for example in TestMain: the registry has no lock.
func Register(k Kind) { registry.add(k) }

// Kinds lists every kind in the order in which people choose from them.
func Kinds() []Kind { return registry.list }

// KindOf finds a kind by its name, or returns nil.
func KindOf(name string) Kind {
	if e := registry.byName[name]; e != nil {
		return e.Kind
	}
	return nil
}

// answerError is what is wrong with an answer, for respondents to read.
func answerError(format string, args ...any) error { return fault.Messagef(format, args...) }

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
