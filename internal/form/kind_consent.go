package form

import "net/url"

// consent is a checkbox below a text. If it is required, it must be checked.
type consent struct{}

func (consent) Name() string                                             { return "consent" }
func (consent) Properties() []string                                     { return []string{"text"} }
func (consent) Check(*Field, func(property, format string, args ...any)) {}
func (consent) ParseForm(f *Field, in url.Values) any                    { return formBoolean(f, in) }

func (consent) Validate(f *Field, value any) (any, error) {
	yes, ok := value.(bool)
	switch {
	case !ok:
		return nil, errBoolean
	case f.Required && !yes:
		return nil, nil // an unchecked box is no answer
	}
	return yes, nil
}

func (consent) Schema(f *Field) map[string]any {
	if f.Required {
		return map[string]any{"type": "boolean", "const": true}
	}
	return map[string]any{"type": "boolean"}
}

func (consent) Traits() Traits {
	return Traits{
		Summary: CountOptions,
		Options: func(*Field) []Option {
			return []Option{{Value: "true", Label: "Agreed"}, {Value: "false", Label: "Not agreed"}}
		},
		Group: true, NoDefault: true, Sketch: "checkbox",
		Example: func(*Field, Sampler) any { return true },
	}
}

func (consent) Info() KindInfo {
	return KindInfo{"Consent", "A checkbox with text to agree to", "Choices", "consent", "checkbox, terms, agree, privacy, GDPR"}
}
