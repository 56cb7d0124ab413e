package form

import "net/url"

// yesNo is a boolean.
type yesNo struct{}

func (yesNo) Name() string                                             { return "yes_no" }
func (yesNo) Properties() []string                                     { return nil }
func (yesNo) Check(*Field, func(property, format string, args ...any)) {}
func (yesNo) ParseForm(f *Field, in url.Values) any                    { return formBoolean(f, in) }

func (yesNo) Validate(_ *Field, value any) (any, error) {
	yes, ok := value.(bool)
	if !ok {
		return nil, errBoolean
	}
	return yes, nil
}

func (yesNo) Schema(*Field) map[string]any { return map[string]any{"type": "boolean"} }

// formBoolean reads a checkbox or a pair of radio buttons. Anything else stays text,
// which Validate rejects.
func formBoolean(f *Field, in url.Values) any {
	switch text := in.Get(f.Key); text {
	case "":
		return nil
	case "true", "yes", "on":
		return true
	case "false", "no":
		return false
	default:
		return text
	}
}

func (yesNo) Traits() Traits {
	return Traits{
		Summary: CountOptions,
		Options: func(*Field) []Option { return []Option{{Value: "true", Label: "Yes"}, {Value: "false", Label: "No"}} },
		Group:   true, Sketch: "yes_no",
		Example: func(_ *Field, s Sampler) any { return s.Dice.IntN(4) > 0 },
	}
}

func (yesNo) Info() KindInfo {
	return KindInfo{"Yes or no", "A yes or no answer", "Choices", "toggle", "boolean, true or false, switch"}
}
