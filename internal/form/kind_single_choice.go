package form

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

// singleChoice is one of several options, shown as radio buttons.
type singleChoice struct{}

func (singleChoice) Name() string                          { return "single_choice" }
func (singleChoice) Properties() []string                  { return []string{"options", "other", "shuffle", "unit"} }
func (singleChoice) ParseForm(f *Field, in url.Values) any { return formChoice(f, in) }

func (singleChoice) Check(f *Field, invalid func(property, format string, args ...any)) {
	checkHasOptions(f, invalid)
}

func (singleChoice) Validate(f *Field, value any) (any, error) { return validateSelection(f, value) }
func (singleChoice) Schema(f *Field) map[string]any            { return choiceSchema(f) }

// otherValue is what the page submits for "other"; the text is in key.other.
const otherValue = "_other"

const maxOther = 500

var (
	errChoice = answerError("choose one of the options")
	errOther  = answerError("enter your answer for “Other”")
)

func checkHasOptions(f *Field, invalid func(property, format string, args ...any)) {
	if len(f.Options) == 0 {
		invalid("options", "add at least one option")
	}
	if hasOption(f.Options, otherValue) {
		invalid("options", "%q is reserved; choose another value", otherValue)
	}
}

func formChoice(f *Field, in url.Values) any {
	own := strings.TrimSpace(in.Get(f.Key + ".other"))
	switch text := in.Get(f.Key); {
	case text == otherValue:
		return own
	case text != "":
		return text
	case f.Other && own != "": // text without the selection
		return own
	}
	return nil
}

func validateSelection(f *Field, value any) (any, error) {
	text, ok := value.(string)
	if !ok {
		return nil, errText
	}
	if hasOption(f.Options, text) {
		return value, nil
	}
	return freeText(f, text)
}

// freeText validates an answer that is not among the options.
func freeText(f *Field, text string) (any, error) {
	if !f.Other {
		if text == "" {
			return nil, nil
		}
		return nil, errChoice
	}
	text, err := asLine(text)
	switch {
	case err != nil:
		return nil, err
	case text == "":
		return nil, errOther
	case utf8.RuneCountInString(text) > maxOther:
		return nil, tooLong(maxOther)
	}
	return text, nil
}

func choiceSchema(f *Field) map[string]any {
	if f.Other {
		return map[string]any{"type": "string", "minLength": 1, "maxLength": maxOther}
	}
	return map[string]any{"type": "string", "enum": optionValues(f.Options)}
}

func (singleChoice) Traits() Traits {
	return Traits{Summary: CountOptions, OptionLimits: true, Group: true, Rules: choiceRules, Example: exampleOption}
}

func (singleChoice) Info() KindInfo {
	return KindInfo{"Single choice", "Choose one option", "Choices", "choice", "radio, select, poll, one answer"}
}
