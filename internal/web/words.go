package web

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

//go:embed words/*.json
var wordFiles embed.FS

// words are what a page says in a language, by what it says in English. English
// itself has none, and neither has what nobody translated.
type words map[string]string

// languages are the words of each language, by its tag without a region.
type languages struct {
	words     map[string]words
	countries map[string]words // names of countries by their two letters
}

func loadWords() (languages, error) {
	all := languages{map[string]words{}, map[string]words{}}
	names, err := fs.Glob(wordFiles, "words/*.json")
	if err != nil {
		return all, err
	}
	for _, file := range names {
		text, err := wordFiles.ReadFile(file)
		if err != nil {
			return all, err
		}
		var list words
		if err := json.Unmarshal(text, &list); err != nil {
			return all, fmt.Errorf("%s: %w", file, err)
		}
		kind, language, ok := strings.Cut(strings.TrimSuffix(path.Base(file), ".json"), ".")
		if ok && kind == "countries" {
			all.countries[language] = list
		} else {
			all.words[kind] = list
		}
	}
	return all, nil
}

// of are the words of a language, or of none, which is English.
func (l languages) of(tag string) words {
	base, _, _ := strings.Cut(tag, "-")
	return l.words[base]
}

// say says something: in the language if it can, in English otherwise.
func (w words) say(text string, args ...any) string {
	if own, ok := w[text]; ok {
		text = own
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}

// Say is say for templates.
func (w words) Say(text string, args ...any) string { return w.say(text, args...) }
