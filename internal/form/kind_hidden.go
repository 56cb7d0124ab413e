package form

import "net/url"

// hidden is a value that the link sets and respondents do not see.
type hidden struct{}

func (hidden) Name() string                                             { return "hidden" }
func (hidden) Properties() []string                                     { return nil }
func (hidden) Check(*Field, func(property, format string, args ...any)) {}
func (hidden) ParseForm(f *Field, in url.Values) any                    { return formValue(f, in) }

func (hidden) Validate(f *Field, value any) (any, error) { return shortText{}.Validate(f, value) }
func (hidden) Schema(f *Field) map[string]any            { return textSchema(f, maxShortText) }

func (hidden) Traits() Traits { return Traits{Hidden: true, Sketch: "hidden"} }

func (hidden) Info() KindInfo {
	return KindInfo{"Hidden field", "Set by the link", "Layout and logic", "hidden", "parameter, UTM, tracking, source"}
}
