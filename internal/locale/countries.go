package locale

import (
	"html"
	"maps"
	"sort"
	"strings"

	"formulary/internal/form"
)

// Country is a country with its name in one language.
type Country struct {
	Code string // two letters
	Name string
}

// Countries lists all countries, sorted by name.
func (l Languages) Countries(tag string) []Country {
	base, _, _ := strings.Cut(tag, "-")
	if list := l.countries[base]; list != nil {
		return list()
	}
	return l.countries["en"]()
}

// CountryOptions are the countries as options of an HTML list. They are rendered once,
// because a page may have many such lists.
func (l Languages) CountryOptions(tag string) string {
	base, _, _ := strings.Cut(tag, "-")
	if options := l.options[base]; options != nil {
		return options()
	}
	return l.options["en"]()
}

// CountryOption is the start tag of the option of a country.
func CountryOption(code string) string { return "<option value=" + code + ">" }

func optionsOf(countries []Country) string {
	var out strings.Builder
	for _, c := range countries {
		out.WriteString(CountryOption(c.Code))
		out.WriteString(html.EscapeString(c.Name))
	}
	return out.String()
}

// CountryName returns the name of a country, or the code if it is unknown.
func (l Languages) CountryName(tag, code string) string {
	for _, c := range l.Countries(tag) {
		if c.Code == code {
			return c.Name
		}
	}
	return code
}

// WithCountryNames returns an answer with the names of countries in place of their codes.
func (l Languages) WithCountryNames(tag string, f *form.Field, answer any) any {
	if f == nil {
		return answer
	}
	for _, part := range f.Traits().Countries {
		switch a := answer.(type) {
		case string:
			if part == "" {
				answer = l.CountryName(tag, a)
			}
		case map[string]any:
			if code, ok := a[part].(string); ok {
				a = maps.Clone(a)
				a[part] = l.CountryName(tag, code)
				answer = a
			}
		}
	}
	return answer
}

func sortCountries(names map[string]string) []Country {
	list := make([]Country, 0, len(names))
	for code, name := range names {
		list = append(list, Country{code, name})
	}
	sort.Slice(list, func(i, j int) bool { return sortKey(list[i].Name) < sortKey(list[j].Name) })
	return list
}

// sortKey sorts Österreich with O.
func sortKey(name string) string { return withoutAccents.Replace(strings.ToLower(name)) }

var withoutAccents = strings.NewReplacer("å", "a", "ä", "a", "ö", "o", "ü", "u", "é", "e", "è", "e", "î", "i", "í", "i", "ô", "o", "ç", "c", "ş", "s", "ı", "i", "ğ", "g", "ã", "a", "á", "a", "â", "a", "ó", "o", "ú", "u", "ñ", "n", "i̇", "i")
