package form

import "net/url"

// address is where a person lives, in parts.
type address struct{ words }

// AddressParts are the parts of an address; the page asks for them in this
// order.
var AddressParts = []string{"line1", "line2", "city", "region", "postal_code", "country"}

func (address) Name() string                                             { return "address" }
func (address) Properties() []string                                     { return nil }
func (address) Check(*Field, func(property, format string, args ...any)) {}
func (address) Post(f *Field, in url.Values) any                         { return postedParts(f, in, AddressParts) }

func (address) Answer(f *Field, value any) (any, error) {
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

// Parts are those of an address.
func (address) Parts(*Field) []Option { return partOptions(AddressParts) }

// About is how owners know it.
func (address) About() About {
	return About{"Address", "Street, city, postal code and country", "Contact details"}
}
