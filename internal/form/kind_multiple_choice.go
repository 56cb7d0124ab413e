package form

import (
	"net/url"
	"strings"
)

// multipleChoice is any number of options.
type multipleChoice struct{}

func (multipleChoice) Name() string { return "multiple_choice" }
func (multipleChoice) Properties() []string {
	return []string{"options", "other", "shuffle", "unit", "min_picks", "max_picks"}
}

func (multipleChoice) Check(f *Field, invalid func(property, format string, args ...any)) {
	checkHasOptions(f, invalid)
	most := len(f.Options)
	if f.Other {
		most++
	}
	if f.MaxPicks != nil && (*f.MaxPicks < 1 || *f.MaxPicks > most) {
		invalid("max_picks", "enter a number from 1 to %d", most)
	}
	if f.MinPicks != nil && (*f.MinPicks < 0 || *f.MinPicks > most || f.MaxPicks != nil && *f.MinPicks > *f.MaxPicks) {
		invalid("min_picks", "enter a number from 0 to the maximum")
	}
}

// ParseForm ignores text for "other" if its box is not checked: the page keeps what was
// typed there, but does not show it.
func (multipleChoice) ParseForm(f *Field, in url.Values) any {
	var list []any
	for _, text := range in[f.Key] {
		switch text {
		case "":
		case otherValue:
			list = append(list, strings.TrimSpace(in.Get(f.Key+".other")))
		default:
			list = append(list, text)
		}
	}
	if list == nil {
		return nil
	}
	return list
}

func (multipleChoice) Validate(f *Field, value any) (any, error) {
	list, ok := value.([]any)
	if !ok {
		return nil, errList
	}
	most := len(f.Options)
	if f.Other {
		most++
	}
	if len(list) > most {
		return nil, tooManyPicks(most)
	}
	chosen, err := validateSelections(f, newLookup(f.Options, len(list)), list)
	if err != nil {
		return nil, err
	}
	switch n := len(chosen); {
	case n == 0:
		return nil, nil
	case f.MinPicks != nil && n < *f.MinPicks:
		return nil, answerError("choose at least %d options", *f.MinPicks)
	case f.MaxPicks != nil && n > *f.MaxPicks:
		return nil, tooManyPicks(*f.MaxPicks)
	}
	return chosen, nil
}

func tooManyPicks(most int) error {
	if most == 1 {
		return answerError("choose up to 1 option")
	}
	return answerError("choose up to %d options", most)
}

// validateSelections returns the selected values without duplicates in the order of the
// options, followed by at most one free text. Callers check the length of the list
// first.
func validateSelections(f *Field, options lookup, list []any) ([]string, error) {
	picked := make([]bool, len(options.options))
	own, count := "", 0
	for _, v := range list {
		text, ok := v.(string)
		if !ok {
			return nil, errText
		}
		if at := options.find(text); at >= 0 {
			if !picked[at] {
				picked[at] = true
				count++
			}
			continue
		}
		answer, err := freeText(f, text)
		if err != nil {
			return nil, err
		}
		switch text, _ := answer.(string); {
		case text == "" || text == own:
		case own != "":
			return nil, errChoice
		default:
			// The trimmed text may be one of the options.
			if at := options.find(text); at >= 0 {
				if !picked[at] {
					picked[at] = true
					count++
				}
				continue
			}
			own = text
			count++
		}
	}
	if count == 0 {
		return nil, nil
	}
	chosen := make([]string, 0, count)
	for at, is := range picked {
		if is {
			chosen = append(chosen, options.options[at].Value)
		}
	}
	if own != "" {
		chosen = append(chosen, own)
	}
	return chosen, nil
}

func (multipleChoice) Schema(f *Field) map[string]any {
	schema := map[string]any{"type": "array", "items": choiceSchema(f), "uniqueItems": true}
	if f.MinPicks != nil {
		schema["minItems"] = *f.MinPicks
	}
	if f.MaxPicks != nil {
		schema["maxItems"] = *f.MaxPicks
	}
	return schema
}

func (multipleChoice) Traits() Traits {
	return Traits{
		Summary: CountOptions, List: true, OptionLimits: true, Group: true, Rules: choiceRules,
		Example: func(f *Field, s Sampler) any { return []any{s.pick(f.Options), s.pick(f.Options)} },
	}
}

func (multipleChoice) Info() KindInfo {
	return KindInfo{"Multiple choice", "Choose one or more options", "Choices", "choices", "checkbox, multi-select, several answers"}
}
