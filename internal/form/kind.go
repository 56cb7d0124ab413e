package form

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"formulary/internal/fault"
)

// Kind is a question type. Each has one file here and one template in
// web/public/templates/kinds; all other code uses these methods. Adding a kind means
// those two files and a line in builtinKinds.
type Kind interface {
	// Name is the name of the kind in definitions.
	Name() string
	// Info describes the kind to owners.
	Info() KindInfo
	// Properties returns the names of the properties that apply to this kind, beside
	// those of every field.
	Properties() []string
	// Check reports what is wrong with a field of this kind.
	Check(f *Field, invalid func(property, format string, args ...any))
	// ParseForm reads an answer from a form post and returns it like decoded JSON. nil
	// is no answer.
	ParseForm(f *Field, in url.Values) any
	// Validate checks an answer (decoded JSON) and returns it as stored. nil is no
	// answer. Respondents see the error.
	Validate(f *Field, value any) (any, error)
	// Schema is the JSON Schema of an answer, or nil for kinds without answers.
	Schema(f *Field) map[string]any
	// Traits are the differences from a question that is answered with one line of
	// text.
	Traits() Traits
}

// KindInfo is what owners read when they choose a kind.
type KindInfo struct {
	Title       string
	Description string
	Group       string // heading in the list of kinds, such as Text
	Icon        string // name in static/kinds.svg
	Synonyms    string // other words that find the kind, with commas
}

// builtinKinds are in the order in which the builder lists them.
var builtinKinds = []Kind{
	shortText{}, longText{}, email{}, webAddress{}, phone{},
	number{}, slider{}, rating{}, scale{},
	yesNo{}, consent{},
	singleChoice{}, multipleChoice{}, dropdown{}, pictureChoice{}, ranking{}, matrix{},
	date{}, clock{}, dateTime{},
	name{}, address{}, country{},
	upload{}, signature{},
	hidden{}, calculated{}, statement{}, pageBreak{},
}

// kindEntry caches the traits of a kind.
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

// Register adds a kind from another package. Call it before anything else in this
// package is used, for example in TestMain: the registry has no lock.
func Register(k Kind) { registry.add(k) }

// Kinds lists all kinds in the order in which the builder shows them.
func Kinds() []Kind { return registry.list }

// KindOf finds a kind by its name, or returns nil.
func KindOf(name string) Kind {
	if e := registry.byName[name]; e != nil {
		return e.Kind
	}
	return nil
}

// answerError creates an error about an answer, for respondents.
func answerError(format string, args ...any) error { return fault.Messagef(format, args...) }

// Errors that several kinds share.
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

// asText returns the trimmed text; an empty one is no answer.
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

// textFrom returns text as an answer. It reuses value if both are equal, which saves an
// allocation.
func textFrom(value any, text string) any {
	if value == text {
		return value
	}
	return text
}

// formValue returns the text of a control as an answer; an empty text is none.
func formValue(f *Field, in url.Values) any {
	if text := strings.TrimSpace(in.Get(f.Key)); text != "" {
		return text
	}
	return nil
}

// lengthWithin checks a text against the limits of the field and of its kind.
func lengthWithin(f *Field, text string, most int) error {
	n := utf8.RuneCountInString(text)
	if f.MaxLength != nil {
		most = *f.MaxLength
	}
	if n > most {
		return tooLong(most)
	}
	if f.MinLength != nil && n < *f.MinLength {
		return tooShort(*f.MinLength)
	}
	return nil
}

func tooShort(least int) error {
	if least == 1 {
		return answerError("enter at least 1 character")
	}
	return answerError("enter at least %d characters", least)
}

func tooLong(most int) error {
	if most == 1 {
		return answerError("enter no more than 1 character")
	}
	return answerError("enter no more than %d characters", most)
}

// checkLengths validates the limits themselves.
func checkLengths(f *Field, most int, invalid func(property, format string, args ...any)) {
	if f.MaxLength != nil && (*f.MaxLength < 1 || *f.MaxLength > most) {
		invalid("max_length", "enter a number from 1 to %d", most)
	}
	if f.MinLength != nil && (*f.MinLength < 0 || f.MaxLength != nil && *f.MinLength > *f.MaxLength || *f.MinLength > most) {
		invalid("min_length", "enter a number from 0 to the maximum")
	}
}

// hasOption reports whether value is one of the options.
func hasOption(options []Option, value string) bool { return newLookup(options, 1).find(value) >= 0 }

func optionValues(options []Option) []string {
	values := make([]string, len(options))
	for i, o := range options {
		values[i] = o.Value
	}
	return values
}
