// Package locale has the translations of all texts that people read on pages and in mails, and
// the names of countries.
package locale

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"

	"formulary/internal/fault"
)

//go:embed locales/*.json
var localeFiles embed.FS

// Catalog has the translations of English texts into one language. Texts without a
// translation stay English. English has entries for texts with two meanings: the part
// after a vertical bar distinguishes them and is not displayed.
//
// The translation of a text with one number can have a text for each plural form of the
// language, as CLDR names them: {"one": …, "few": …, "other": …}.
type Catalog struct {
	language language.Tag
	texts    map[string]string
	plurals  map[string]map[plural.Form]string
}

// pluralForms are the names of plural forms in the files.
var pluralForms = map[string]plural.Form{
	"zero": plural.Zero, "one": plural.One, "two": plural.Two, "few": plural.Few, "many": plural.Many, "other": plural.Other,
}

// add reads a file of translations.
func (c *Catalog) add(file []byte) error {
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(file, &entries); err != nil {
		return err
	}
	for text, entry := range entries {
		if entry[0] == '"' {
			var translation string
			if err := json.Unmarshal(entry, &translation); err != nil {
				return err
			}
			c.texts[text] = translation
			continue
		}
		var forms map[string]string
		if err := json.Unmarshal(entry, &forms); err != nil {
			return fmt.Errorf("%q: %w", text, err)
		}
		c.plurals[text] = map[plural.Form]string{}
		for name, translation := range forms {
			form, ok := pluralForms[name]
			if !ok {
				return fmt.Errorf("%q: %s is not a plural form", text, name)
			}
			c.plurals[text][form] = translation
		}
		if c.texts[text] = forms["other"]; forms["other"] == "" {
			return fmt.Errorf("%q: the plural form other is missing", text)
		}
	}
	return nil
}

// Languages has the catalog and the names of countries of each language, by its tag
// without a region.
type Languages struct {
	catalogs  map[string]Catalog
	countries map[string]func() []Country
	options   map[string]func() string
}

// WorkspaceLanguages are the languages that the whole workspace is translated to.
var WorkspaceLanguages = map[string]bool{"en": true, "de": true}

// FormLanguages are the tags and names of the languages that public pages are translated
// to. Forms in other languages are possible through the API.
var FormLanguages = [][2]string{{"en", "English"}, {"de", "Deutsch"}, {"fr", "Français"}, {"es", "Español"}, {"pt", "Português"}, {"tr", "Türkçe"}, {"ar", "العربية"}}

// Load reads the texts of public pages (de.json), those of the workspace
// (workspace.de.json) and the names of countries (countries.de.json). It reads them once;
// callers must not change them.
var Load = sync.OnceValues(load)

func load() (Languages, error) {
	all := Languages{map[string]Catalog{}, map[string]func() []Country{}, map[string]func() string{}}
	names, err := fs.Glob(localeFiles, "locales/*.json")
	if err != nil {
		return all, err
	}
	for _, file := range names {
		text, err := localeFiles.ReadFile(file)
		if err != nil {
			return all, err
		}
		kind, tag, ok := strings.Cut(strings.TrimSuffix(path.Base(file), ".json"), ".")
		if kind == "countries" {
			var names map[string]string
			if err := json.Unmarshal(text, &names); err != nil {
				return all, fmt.Errorf("%s: %w", file, err)
			}
			// Sorting takes a while, and few forms ask for a country.
			all.countries[tag] = sync.OnceValue(func() []Country { return sortCountries(names) })
			all.options[tag] = sync.OnceValue(func() string { return optionsOf(all.countries[tag]()) })
			continue
		}
		if !ok {
			tag = kind
		}
		catalog, known := all.catalogs[tag]
		if !known {
			catalog = newCatalog(tag)
			all.catalogs[tag] = catalog
		}
		if err := catalog.add(text); err != nil {
			return all, fmt.Errorf("%s: %w", file, err)
		}
	}
	return all, nil
}

// Catalog returns the catalog of a language; an unknown language has none, which is
// English.
func (l Languages) Catalog(tag string) Catalog {
	base, _, _ := strings.Cut(tag, "-")
	return l.catalogs[base]
}

// Tags are the languages that have translations.
func (l Languages) Tags() []string { return slices.Sorted(maps.Keys(l.catalogs)) }

func newCatalog(tag string) Catalog {
	return Catalog{language.Make(tag), map[string]string{}, map[string]map[plural.Form]string{}}
}

// IsEmpty reports whether the catalog translates nothing.
func (c Catalog) IsEmpty() bool { return len(c.texts) == 0 }

// Texts returns the translations of each English text: one, or one for each plural form.
func (c Catalog) Texts() map[string][]string {
	all := map[string][]string{}
	for text, translation := range c.texts {
		all[text] = []string{translation}
		for _, form := range c.plurals[text] {
			all[text] = append(all[text], form)
		}
	}
	return all
}

// Translate returns a text in the language, or in English if it has no translation.
func (c Catalog) Translate(text string, args ...any) string { return fault.Format(c, text, args...) }

// Lookup implements fault.Translator.
func (c Catalog) Lookup(text string) string {
	if own, ok := c.texts[text]; ok {
		return own
	}
	return text
}

// LookupPlural implements fault.Translator.
func (c Catalog) LookupPlural(text string, n int) string {
	if forms := c.plurals[text]; forms != nil {
		if own, ok := forms[plural.Cardinal.MatchPlural(c.language, n, 0, 0, 0, 0)]; ok {
			return own
		}
	}
	return c.Lookup(text)
}

// Direction is the writing direction of a language, as in HTML.
func Direction(tag string) string {
	base, _, _ := strings.Cut(tag, "-")
	switch base {
	case "ar", "fa", "he", "ur", "ps", "sd", "ug", "yi", "dv":
		return "rtl"
	}
	return "ltr"
}
