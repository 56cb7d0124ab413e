package form

import "net/url"

// dropdown is one of many answers, in a list that opens.
type dropdown struct{ choices }

func (dropdown) Name() string                     { return "dropdown" }
func (dropdown) Properties() []string             { return []string{"options", "placeholder", "shuffle"} }
func (dropdown) Post(f *Field, in url.Values) any { return postedChoice(f, in) }

func (dropdown) Check(f *Field, wrong func(property, format string, args ...any)) {
	needOptions(f, wrong)
}

func (dropdown) Answer(f *Field, value any) (any, error) { return oneOf(f, value) }
func (dropdown) Schema(f *Field) map[string]any          { return choiceSchema(f) }

// About is how owners know it.
func (dropdown) About() About {
	return About{"Dropdown", "Choose one option from a list", "Choices"}
}
