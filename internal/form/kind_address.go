package form

import (
	"fmt"
	"net/url"
)

// address is a postal address in parts.
type address struct{}

// AddressParts are the parts of an address, in the order of the page.
var AddressParts = []string{"line1", "line2", "city", "region", "postal_code", "country"}

func (address) Name() string                                             { return "address" }
func (address) Properties() []string                                     { return nil }
func (address) Check(*Field, func(property, format string, args ...any)) {}
func (address) ParseForm(f *Field, in url.Values) any                    { return formParts(f, in, AddressParts) }

func (address) Validate(f *Field, value any) (any, error) {
	answer, err := partsOf(value, AddressParts, f.Required, "line1", "city")
	if err != nil || answer == nil {
		return nil, err
	}
	parts := answer.(map[string]any)
	if code, ok := parts["country"]; ok {
		if parts["country"], err = parseCountry(code); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

func (address) Schema(f *Field) map[string]any { return partsSchema(f, AddressParts, "line1", "city") }

func (address) Traits() Traits {
	return Traits{
		Parts: func(*Field) []Option { return partOptions(AddressParts) }, Countries: []string{"country"},
		Group: true, Sketch: "address", Rules: partRules(errParts, func(*Field) []string { return []string{"line1", "city"} }),
		ExtraSize: func(*Field) int { return countriesSize },
		Example: func(_ *Field, s Sampler) any {
			return map[string]any{"line1": fmt.Sprintf("Example Street %d", 1+s.Dice.IntN(90)), "city": "Bonn", "postal_code": "53111", "country": "DE"}
		},
	}
}

func (address) Info() KindInfo {
	return KindInfo{"Address", "Street, city, postal code and country", "Contact details", "pin", "street, city, postal code, location"}
}
