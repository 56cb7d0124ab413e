package form

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// name is the name of a person in parts.
type name struct{}

// NameParts are the parts of a name, in the order of the page.
var NameParts = []string{"given", "family"}

func (name) Name() string                                             { return "name" }
func (name) Properties() []string                                     { return nil }
func (name) Check(*Field, func(property, format string, args ...any)) {}
func (name) ParseForm(f *Field, in url.Values) any                    { return formParts(f, in, NameParts) }

func (name) Validate(f *Field, value any) (any, error) {
	return partsOf(value, NameParts, f.Required, "given", "family")
}

func (name) Schema(f *Field) map[string]any { return partsSchema(f, NameParts, "given", "family") }

const maxPart = 200

var (
	errPart  = answerError("this part does not exist")
	errParts = answerError("complete all required parts")
)

// formParts reads key.part for each part.
func formParts(f *Field, in url.Values, parts []string) any {
	answer := map[string]any{}
	for _, part := range parts {
		if text := strings.TrimSpace(in.Get(f.Key + "." + part)); text != "" {
			answer[part] = text
		}
	}
	if len(answer) == 0 {
		return nil
	}
	return answer
}

// partsOf validates an answer in parts. If the question is required, the needed parts
// are too.
func partsOf(value any, parts []string, required bool, needed ...string) (any, error) {
	given, ok := value.(map[string]any)
	if !ok {
		return nil, errObject
	}
	if len(given) > len(parts) {
		return nil, errPart
	}
	answer := map[string]any{}
	for part, v := range given {
		if !slices.Contains(parts, part) {
			return nil, errPart
		}
		text, err := asLine(v)
		if err != nil {
			return nil, err
		}
		if utf8.RuneCountInString(text) > maxPart {
			return nil, tooLong(maxPart)
		}
		if text != "" {
			answer[part] = text
		}
	}
	if len(answer) == 0 {
		return nil, nil
	}
	for _, part := range needed {
		if _, ok := answer[part]; !ok && required {
			return nil, errParts
		}
	}
	return answer, nil
}

func partsSchema(f *Field, parts []string, needed ...string) map[string]any {
	properties := map[string]any{}
	for _, part := range parts {
		properties[part] = map[string]any{"type": "string", "maxLength": maxPart}
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if f.Required {
		schema["required"] = needed
	}
	return schema
}

func partOptions(parts []string) []Option {
	options := make([]Option, len(parts))
	for i, part := range parts {
		options[i] = Option{Value: part, Label: partLabels[part]}
	}
	return options
}

// partLabels are the labels of the parts of names and addresses.
var partLabels = map[string]string{
	"given": "First name", "family": "Last name",
	"line1": "Street address", "line2": "Address line 2", "city": "Town or city", "region": "State or region", "postal_code": "Postal code", "country": "Country",
}

func (name) Traits() Traits {
	return Traits{
		Parts: func(*Field) []Option { return partOptions(NameParts) }, PartSeparator: " ", Person: true,
		Group: true, Sketch: "name", Rules: partRules(errParts, func(*Field) []string { return NameParts }),
		Example: func(_ *Field, s Sampler) any { return map[string]any{"given": s.Name, "family": "Example"} },
	}
}

func (name) Info() KindInfo {
	return KindInfo{"Name", "First and last name", "Contact details", "person", "first name, last name, contact"}
}
