package web

import (
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"formulary/internal/form"
)

//go:embed locales/*.json
var catalogFiles embed.FS

// catalog are what a page says in a language, by what it says in English. What
// nobody translated has none. English itself has some where one word of it means
// two things: then what stands after a bar tells them apart and is not said.
type catalog map[string]string

// languages are the words of each language, by its tag without a region.
type languages struct {
	words     map[string]catalog
	countries map[string]func() []hiddenInput // by their two letters, in the order of their names
	options   map[string]func() template.HTML
}

// loadCatalogs reads what public pages say (de.json), what the workspace says
// besides (console.de.json) and names of countries (countries.de.json).
func loadCatalogs() (languages, error) {
	all := languages{map[string]catalog{}, map[string]func() []hiddenInput{}, map[string]func() template.HTML{}}
	names, err := fs.Glob(catalogFiles, "locales/*.json")
	if err != nil {
		return all, err
	}
	for _, file := range names {
		text, err := catalogFiles.ReadFile(file)
		if err != nil {
			return all, err
		}
		var list catalog
		if err := json.Unmarshal(text, &list); err != nil {
			return all, fmt.Errorf("%s: %w", file, err)
		}
		kind, language, ok := strings.Cut(strings.TrimSuffix(path.Base(file), ".json"), ".")
		if kind == "countries" {
			// Few forms ask for one, and sorting takes a while.
			all.countries[language] = sync.OnceValue(func() []hiddenInput { return byName(list) })
			all.options[language] = sync.OnceValue(func() template.HTML { return optionsOf(all.countries[language]()) })
			continue
		}
		if !ok {
			language = kind
		}
		if all.words[language] == nil {
			all.words[language] = catalog{}
		}
		maps.Copy(all.words[language], list)
	}
	return all, nil
}

// of are the words of a language, or of none, which is English.
func (l languages) of(tag string) catalog {
	base, _, _ := strings.Cut(tag, "-")
	return l.words[base]
}

// translate says something: in the language if it can, in English otherwise.
func (w catalog) translate(text string, args ...any) string {
	if own, ok := w[text]; ok {
		text = own
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}

// Translate is say for templates.
func (w catalog) Translate(text string, args ...any) string { return w.translate(text, args...) }

// word looks a text up, for messages that render themselves.
func (w catalog) word(text string) string { return w.translate(text) }

// countriesIn are the countries by name.
func (l languages) countriesIn(tag string) []hiddenInput {
	base, _, _ := strings.Cut(tag, "-")
	if list := l.countries[base]; list != nil {
		return list()
	}
	return l.countries["en"]()
}

// countryOptions are the countries as options of a list. They are made once: a page may
// have many such lists.
func (l languages) countryOptions(tag string) template.HTML {
	base, _, _ := strings.Cut(tag, "-")
	if options := l.options[base]; options != nil {
		return options()
	}
	return l.options["en"]()
}

// countryOption begins the option of a country, whose code is two letters.
func countryOption(code string) template.HTML { return template.HTML("<option value=" + code + ">") }

func optionsOf(countries []hiddenInput) template.HTML {
	var out strings.Builder
	for _, c := range countries {
		out.WriteString(string(countryOption(c.Name)))
		out.WriteString(template.HTMLEscapeString(c.Value))
	}
	return template.HTML(out.String())
}

// country is the name of one.
func (l languages) country(tag, code string) string {
	for _, c := range l.countriesIn(tag) {
		if c.Name == code {
			return c.Value
		}
	}
	return code
}

// named is an answer with the name of a country in place of its code.
func (l languages) named(tag string, f *form.Field, answer any) any {
	if f == nil {
		return answer
	}
	for _, part := range f.Traits().Countries {
		switch a := answer.(type) {
		case string:
			if part == "" {
				answer = l.country(tag, a)
			}
		case map[string]any:
			if code, ok := a[part].(string); ok {
				a = maps.Clone(a)
				a[part] = l.country(tag, code)
				answer = a
			}
		}
	}
	return answer
}

// byName lists names with their keys, in the order of the names.
func byName(names catalog) []hiddenInput {
	list := make([]hiddenInput, 0, len(names))
	for code, name := range names {
		list = append(list, hiddenInput{code, name})
	}
	slices.SortFunc(list, func(a, b hiddenInput) int { return strings.Compare(plainLetters(a.Value), plainLetters(b.Value)) })
	return list
}

// plainLetters sorts Österreich with O.
func plainLetters(name string) string { return unaccented.Replace(strings.ToLower(name)) }

var unaccented = strings.NewReplacer("å", "a", "ä", "a", "ö", "o", "ü", "u", "é", "e", "è", "e", "î", "i", "í", "i", "ô", "o", "ç", "c", "ş", "s", "ı", "i", "ğ", "g", "ã", "a", "á", "a", "â", "a", "ó", "o", "ú", "u", "ñ", "n", "i̇", "i")
