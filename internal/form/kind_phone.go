package form

import (
	"fmt"
	"net/url"
	"strings"
)

// phone is a phone number in any common notation.
type phone struct{}

func (phone) Name() string                                             { return "phone" }
func (phone) Properties() []string                                     { return []string{"placeholder"} }
func (phone) Check(*Field, func(property, format string, args ...any)) {}
func (phone) ParseForm(f *Field, in url.Values) any                    { return formValue(f, in) }

const maxPhone = 40 // bytes

var errPhone = answerError("enter a phone number, such as +44 20 7946 0123")

func (phone) Validate(_ *Field, value any) (any, error) {
	text, err := asLine(value)
	if err != nil || text == "" {
		return nil, err
	}
	if len(text) > maxPhone {
		return nil, errPhone
	}
	digits := 0
	for i, r := range text {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r == '+' && i == 0, strings.ContainsRune(" -./()", r):
		default:
			return nil, errPhone
		}
	}
	if digits < 5 || digits > 15 {
		return nil, errPhone
	}
	return text, nil
}

func (phone) Schema(*Field) map[string]any {
	return map[string]any{"type": "string", "pattern": `^\+?[0-9 \-./()]+$`, "maxLength": maxPhone}
}

func (phone) Traits() Traits {
	return Traits{
		Asset: "phone",
		// At least 5 and at most 15 digits.
		Rules:   patternRule(`^(?=(\D*\d){5,15}\D*$)\+?[\d \-./()]+$`, errPhone),
		Example: func(_ *Field, s Sampler) any { return fmt.Sprintf("+49 228 555 0%03d", s.Dice.IntN(1000)) },
	}
}

func (phone) Info() KindInfo {
	return KindInfo{"Phone number", "A phone number", "Contact details", "call", "telephone, mobile, contact"}
}
