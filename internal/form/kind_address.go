package form

import "net/url"

// address is where a person lives, in parts.
type address struct{ words }

// AddressFields are the parts of an address; the page asks for them in this
// order.
var AddressFields = []string{"line1", "line2", "city", "region", "postal_code", "country"}

func (address) Name() string                                             { return "address" }
func (address) Properties() []string                                     { return nil }
func (address) Check(*Field, func(property, format string, args ...any)) {}
func (address) ParseForm(f *Field, in url.Values) any                    { return formParts(f, in, AddressFields) }

func (address) Validate(f *Field, value any) (any, error) {
	answer, err := partsOf(value, AddressFields, f.Required, "line1", "city")
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

func (address) Schema(f *Field) map[string]any { return partsSchema(f, AddressFields, "line1", "city") }

// Parts are those of an address.
func (address) Parts(*Field) []Option { return partOptions(AddressFields) }

// About is how owners know it.
func (address) About() KindInfo {
	return KindInfo{"Address", "Street, city, postal code and country", "Contact details"}
}
