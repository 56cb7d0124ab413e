package web

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"formulary/internal/form"
)

//go:embed starters
var starterFiles embed.FS

// starter is a form to start from, as people choose it.
type starter struct {
	Name        string
	Title       string
	Description string
	Questions   int
}

// starters are the forms to start from, by language and name.
type starters map[string]map[string]starterFile

type starterFile struct {
	Order       int            `json:"order"`
	Title       string         `json:"title"`
	Description string         `json:"description"`
	About       string         `json:"about"` // for the owner who chooses
	Fields      []*form.Field  `json:"fields"`
	Endings     []*form.Ending `json:"endings"`
	Settings    form.Settings  `json:"settings"`
}

func loadStarters() (starters, error) {
	all := starters{}
	return all, fs.WalkDir(starterFiles, "starters", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := starterFiles.ReadFile(name)
		if err != nil {
			return err
		}
		var file starterFile
		if err := json.Unmarshal(text, &file); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		language := path.Base(path.Dir(name))
		if all[language] == nil {
			all[language] = map[string]starterFile{}
		}
		all[language][strings.TrimSuffix(path.Base(name), ".json")] = file
		return nil
	})
}

// in lists the starters of a language, in their order.
func (s starters) in(language string) []starter {
	var list []starter
	for name, file := range s[language] {
		questions := 0
		for _, f := range file.Fields {
			if f.Asked() {
				questions++
			}
		}
		list = append(list, starter{name, file.Title, file.About, questions})
	}
	slices.SortFunc(list, func(a, b starter) int { return s[language][a.Name].Order - s[language][b.Name].Order })
	return list
}

// plan is a form that begins as the starter.
func (s starters) plan(language, name string) (form.Plan, bool) {
	file, ok := s[language][name]
	if !ok {
		return form.Plan{}, false
	}
	// Each form has its own: checking fills in ids.
	text, err := json.Marshal(&form.Definition{Fields: file.Fields, Endings: file.Endings, Settings: file.Settings})
	if err != nil {
		return form.Plan{}, false
	}
	var d form.Definition
	if err := json.Unmarshal(text, &d); err != nil {
		return form.Plan{}, false
	}
	return form.Plan{Head: form.Head{Title: file.Title, Description: file.Description, Language: language}, Offer: form.Offer{Sites: form.AnySite}, Definition: &d}, true
}

// Starter is a form to start from: what the demo fills an empty place with.
func Starter(language, name string) (form.Plan, error) {
	all, err := loadStarters()
	if err != nil {
		return form.Plan{}, err
	}
	plan, ok := all.plan(language, name)
	if !ok {
		return plan, fmt.Errorf("template %s does not exist in %s", name, language)
	}
	return plan, plan.Clean()
}
