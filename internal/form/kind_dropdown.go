package form

import "net/url"

// dropdown is one of many options, in a select control.
type dropdown struct{}

func (dropdown) Name() string                          { return "dropdown" }
func (dropdown) Properties() []string                  { return []string{"options", "placeholder", "shuffle", "unit"} }
func (dropdown) ParseForm(f *Field, in url.Values) any { return formChoice(f, in) }

func (dropdown) Check(f *Field, invalid func(property, format string, args ...any)) {
	checkHasOptions(f, invalid)
}

func (dropdown) Validate(f *Field, value any) (any, error) { return validateSelection(f, value) }
func (dropdown) Schema(f *Field) map[string]any            { return choiceSchema(f) }

func (dropdown) Traits() Traits {
	return Traits{Summary: CountOptions, OptionLimits: true, Sketch: "dropdown", Example: exampleOption}
}

func (dropdown) Info() KindInfo {
	return KindInfo{"Dropdown", "Choose one option from a list", "Choices", "dropdown", "select, list, combo box, menu"}
}
