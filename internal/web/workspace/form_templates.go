package workspace

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

//go:embed form_templates
var formTemplateFiles embed.FS

// formTemplate is a ready-made form as users choose it.
type formTemplate struct {
	Name        string
	Title       string
	Description string
	Questions   int
}

// formTemplates are ready-made forms by language and name.
type formTemplates map[string]map[string]formTemplateFile

type formTemplateFile struct {
	Order       int            `json:"order"`
	Title       string         `json:"title"`
	Description string         `json:"description"`
	About       string         `json:"about"` // shown to the user who chooses
	Fields      []*form.Field  `json:"fields"`
	Endings     []*form.Ending `json:"endings"`
	Settings    form.Settings  `json:"settings"`
	Design      form.Design    `json:"design"`
}

func loadFormTemplates() (formTemplates, error) {
	all := formTemplates{}
	return all, fs.WalkDir(formTemplateFiles, "form_templates", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := formTemplateFiles.ReadFile(name)
		if err != nil {
			return err
		}
		var file formTemplateFile
		if err := json.Unmarshal(text, &file); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		language := path.Base(path.Dir(name))
		if all[language] == nil {
			all[language] = map[string]formTemplateFile{}
		}
		all[language][strings.TrimSuffix(path.Base(name), ".json")] = file
		return nil
	})
}

// list returns the templates of a language in their order.
func (all formTemplates) list(language string) []formTemplate {
	var list []formTemplate
	for name, file := range all[language] {
		questions := 0
		for _, f := range file.Fields {
			if f.HasAnswer() {
				questions++
			}
		}
		list = append(list, formTemplate{name, file.Title, file.About, questions})
	}
	slices.SortFunc(list, func(a, b formTemplate) int { return all[language][a.Name].Order - all[language][b.Name].Order })
	return list
}

// newForm returns a new form made from a template.
func (all formTemplates) newForm(language, name string) (form.FormInput, bool) {
	file, ok := all[language][name]
	if !ok {
		return form.FormInput{}, false
	}
	// A deep copy, because Normalize adds IDs.
	text, err := json.Marshal(&form.Definition{Fields: file.Fields, Endings: file.Endings, Settings: file.Settings, Design: file.Design})
	if err != nil {
		return form.FormInput{}, false
	}
	var d form.Definition
	if err := json.Unmarshal(text, &d); err != nil {
		return form.FormInput{}, false
	}
	return form.FormInput{Header: form.Header{Title: file.Title, Description: file.Description, Language: language}, Availability: form.Availability{Sites: form.AnySite}, Definition: &d}, true
}

// LoadTemplate returns a new form made from a template, for the demo data.
func LoadTemplate(language, name string) (form.FormInput, error) {
	all, err := loadFormTemplates()
	if err != nil {
		return form.FormInput{}, err
	}
	input, ok := all.newForm(language, name)
	if !ok {
		return input, fmt.Errorf("template %s does not exist in %s", name, language)
	}
	return input, input.Normalize()
}
