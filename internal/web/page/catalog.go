package page

import (
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"path"
	"strings"
	"sync"
)

//go:embed locales/*.json
var localeFiles embed.FS

// Catalog has the translations of English texts into one language. Texts without a
// translation stay English. English has entries for texts with two meanings: the part
// after a vertical bar distinguishes them and is not displayed.
type Catalog map[string]string

// Languages has the catalog and the names of countries of each language, by its tag
// without a region.
type Languages struct {
	catalogs  map[string]Catalog
	countries map[string]func() []Country
	options   map[string]func() template.HTML
}

// workspaceLanguages are the languages that the whole workspace is translated to.
var workspaceLanguages = map[string]bool{"en": true, "de": true}

// FormLanguages are the tags and names of the languages that public pages are translated
// to. Forms in other languages are possible through the API.
var FormLanguages = [][2]string{{"en", "English"}, {"de", "Deutsch"}, {"fr", "Français"}, {"es", "Español"}, {"pt", "Português"}, {"tr", "Türkçe"}, {"ar", "العربية"}}

// loadLanguages reads the texts of public pages (de.json), those of the workspace
// (workspace.de.json) and the names of countries (countries.de.json).
func loadLanguages() (Languages, error) {
	all := Languages{map[string]Catalog{}, map[string]func() []Country{}, map[string]func() template.HTML{}}
	names, err := fs.Glob(localeFiles, "locales/*.json")
	if err != nil {
		return all, err
	}
	for _, file := range names {
		text, err := localeFiles.ReadFile(file)
		if err != nil {
			return all, err
		}
		var list Catalog
		if err := json.Unmarshal(text, &list); err != nil {
			return all, fmt.Errorf("%s: %w", file, err)
		}
		kind, language, ok := strings.Cut(strings.TrimSuffix(path.Base(file), ".json"), ".")
		if kind == "countries" {
			// Sorting takes a while, and few forms ask for a country.
			all.countries[language] = sync.OnceValue(func() []Country { return sortCountries(list) })
			all.options[language] = sync.OnceValue(func() template.HTML { return optionsOf(all.countries[language]()) })
			continue
		}
		if !ok {
			language = kind
		}
		if all.catalogs[language] == nil {
			all.catalogs[language] = Catalog{}
		}
		maps.Copy(all.catalogs[language], list)
	}
	return all, nil
}

// Catalog returns the catalog of a language; an unknown language has none, which is
// English.
func (l Languages) Catalog(tag string) Catalog {
	base, _, _ := strings.Cut(tag, "-")
	return l.catalogs[base]
}

// Translate returns a text in the language, or in English if it has no translation.
func (c Catalog) Translate(text string, args ...any) string {
	if own, ok := c[text]; ok {
		text = own
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}

// Lookup is Translate without arguments, for messages that render themselves.
func (c Catalog) Lookup(text string) string { return c.Translate(text) }

// TranslateFor returns a text in the language of the user.
func (s *Site) TranslateFor(req *Request, text string, args ...any) string {
	return s.Languages.Catalog(req.Language()).Translate(text, args...)
}
