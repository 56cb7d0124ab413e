package form

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is a kind of question. Each is one file; the builder, the public page,
// the check of an HTML post and of a JSON call, and the schema come from it.
type Kind interface {
	// Name is how definitions spell it.
	Name() string
	// Properties are the names of the field's properties that mean something
	// for this kind, beside those that every field has.
	Properties() []string
	// Check says what is wrong with a field of this kind.
	Check(f *Field, wrong func(property, format string, args ...any))
	// Post takes an answer out of an HTML post, in the shape that JSON has.
	// nil is no answer.
	Post(f *Field, in url.Values) any
	// Answer checks an answer in the shape that JSON has and returns it as it
	// is stored. nil is no answer; an error is for the respondent to read.
	Answer(f *Field, value any) (any, error)
	// Schema is the JSON Schema of an answer, or nil for what is not answered.
	Schema(f *Field) map[string]any
}

// Kinds lists every kind in the order in which people choose from them.
var Kinds = []Kind{
	shortText{}, longText{}, email{}, webAddress{}, phone{},
	number{}, slider{}, rating{}, scale{},
	yesNo{}, consent{},
	singleChoice{}, multipleChoice{}, dropdown{}, ranking{}, matrix{},
	date{}, clock{}, dateTime{},
	name{}, address{}, country{},
	hidden{}, statement{}, pageBreak{},
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

// What respondents read. One message, one place.
var (
	errText    = errors.New("a text is expected")
	errNumber  = errors.New("a number is expected")
	errBoolean = errors.New("yes or no is expected")
	errList    = errors.New("a list is expected")
	errObject  = errors.New("an object is expected")
	errControl = errors.New("this contains characters that cannot be shown")
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

// posted is the text of a control, as an answer; empty is none.
func posted(f *Field, in url.Values) any {
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
		return fmt.Errorf("at most %d characters", most)
	}
	if f.MinLength != nil && n < *f.MinLength {
		return fmt.Errorf("at least %d characters", *f.MinLength)
	}
	return nil
}

// checkLengths checks the limits themselves.
func checkLengths(f *Field, most int, wrong func(property, format string, args ...any)) {
	if f.MaxLength != nil && (*f.MaxLength < 1 || *f.MaxLength > most) {
		wrong("max_length", "a number from 1 to %d", most)
	}
	if f.MinLength != nil && (*f.MinLength < 0 || f.MaxLength != nil && *f.MinLength > *f.MaxLength || *f.MinLength > most) {
		wrong("min_length", "a number from 0 to the maximum")
	}
}

func optionValues(options []Option) []string {
	values := make([]string, len(options))
	for i, o := range options {
		values[i] = o.Value
	}
	return values
}

// inOrder puts chosen values into the order of the form.
func inOrder(options []Option, chosen []string) []string {
	order := optionValues(options)
	slices.SortStableFunc(chosen, func(a, b string) int {
		return rank(order, a) - rank(order, b)
	})
	return chosen
}

func rank(order []string, value string) int {
	if i := slices.Index(order, value); i >= 0 {
		return i
	}
	return len(order) // what a person wrote themselves comes last
}
