package form

import (
	"net/url"

	"golang.org/x/text/language"
)

// country is an ISO 3166 two-letter country code.
type country struct{}

func (country) Name() string                                             { return "country" }
func (country) Properties() []string                                     { return []string{"placeholder"} }
func (country) Check(*Field, func(property, format string, args ...any)) {}
func (country) ParseForm(f *Field, in url.Values) any                    { return formValue(f, in) }
func (country) Validate(_ *Field, value any) (any, error)                { return parseCountry(value) }

func (country) Schema(*Field) map[string]any {
	return map[string]any{"type": "string", "pattern": "^[A-Z]{2}$"}
}

var errCountry = answerError("use a two-letter country code, such as DE")

func parseCountry(value any) (any, error) {
	text, err := asLine(value)
	if err != nil || text == "" {
		return nil, err
	}
	if len(text) != 2 {
		return nil, errCountry
	}
	region, err := language.ParseRegion(text)
	if err != nil || !region.IsCountry() || region.String() != text {
		return nil, errCountry
	}
	return text, nil
}

func (country) Traits() Traits {
	return Traits{
		Summary: CountOptions, Countries: []string{""}, Sketch: "country",
		ExtraSize: func(*Field) int { return countriesSize },
		Example:   func(_ *Field, s Sampler) any { return []string{"DE", "FR", "PT", "TR", "US"}[s.Dice.IntN(5)] },
	}
}

func (country) Info() KindInfo {
	return KindInfo{"Country", "Choose a country", "Contact details", "globe", "nation, location, select"}
}
