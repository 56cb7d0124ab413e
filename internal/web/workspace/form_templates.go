package workspace

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"formulary/internal/card"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
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

// templatesPage shows the templates, or one of them in detail.
type templatesPage struct {
	page.Layout
	Templates []formTemplate
	Shown     *formTemplate // nil: all
}

// ShowTemplates shows all templates with pictures.
func (pages *Pages) ShowTemplates(req *page.Request) error {
	p := &templatesPage{Templates: pages.formTemplates.list(req.Language())}
	p.TitleKey, p.Section, p.Style = "Templates", "forms", "templates.css"
	if name := req.PathValue("name"); name != "" {
		shown := slices.IndexFunc(p.Templates, func(t formTemplate) bool { return t.Name == name })
		if shown < 0 {
			return fault.New(fault.NotFoundInAccount, "That template doesn’t exist.")
		}
		p.Shown = &p.Templates[shown]
	}
	return pages.templates.Render(req, http.StatusOK, "form_templates", p)
}

// PreviewTemplate shows a template as respondents would see it.
func (pages *Pages) PreviewTemplate(req *page.Request) error {
	name := req.PathValue("name")
	input, ok := pages.formTemplates.newForm(req.Language(), name)
	if !ok {
		return fault.New(fault.NotFoundInAccount, "That template doesn’t exist.")
	}
	if err := input.Normalize(); err != nil {
		return err
	}
	return pages.ShowPreview(req, store.PublicForm{Owner: req.Owner(), ID: name, Status: form.Open, Header: input.Header, Availability: input.Availability, Definition: input.Definition})
}

// ShowTemplatePicture sends a picture of a template: its title in its design.
func (pages *Pages) ShowTemplatePicture(req *page.Request) error {
	file, ok := pages.formTemplates[req.Language()][req.PathValue("name")]
	if !ok {
		return fault.New(fault.NotFoundInAccount, "That template doesn’t exist.")
	}
	picture, err := file.picture()
	if err != nil {
		return err
	}
	header := req.W.Header()
	header.Set("Content-Type", picture.MIME)
	header.Set("Content-Length", strconv.Itoa(len(picture.Bytes)))
	header.Set("Cache-Control", "private, max-age=86400")
	req.W.WriteHeader(http.StatusOK)
	if req.Method != http.MethodHead {
		req.W.Write(picture.Bytes) // the client may have disconnected
	}
	return nil
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

	picture func() (card.Picture, error) // drawn at the first request
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
		file.picture = sync.OnceValues(func() (card.Picture, error) {
			return card.DrawThumbnail(card.Card{Title: file.Title, Theme: file.Design.Theme()})
		})
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
	sort.Slice(list, func(i, j int) bool { return all[language][list[i].Name].Order < all[language][list[j].Name].Order })
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
