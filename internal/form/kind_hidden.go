package form

import "net/url"

// hidden comes with the link, and the respondent does not see it.
type hidden struct{}

func (hidden) Name() string                                             { return "hidden" }
func (hidden) Properties() []string                                     { return nil }
func (hidden) Check(*Field, func(property, format string, args ...any)) {}
func (hidden) ParseForm(f *Field, in url.Values) any                    { return formValue(f, in) }

func (hidden) Validate(f *Field, value any) (any, error) { return shortText{}.Validate(f, value) }
func (hidden) Schema(f *Field) map[string]any            { return textSchema(f, maxShortText) }

func (hidden) Traits() Traits { return Traits{Hidden: true, Sketch: "hidden"} }

// About is how owners know it.
func (hidden) About() KindInfo {
	return KindInfo{"Hidden field", "Set by the link", "Layout and logic"}
}
