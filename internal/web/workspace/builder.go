package workspace

import (
	"net/http"
	"regexp"
	"slices"

	"formulary/internal/form"
	"formulary/internal/locale"
	"formulary/internal/web/page"
)

// builderPage is where users edit a draft. It is the only page that needs JavaScript: it
// contains everything that the builder needs, as data.
type builderPage struct {
	formLayout
	Data builderData
}

// Modules are the scripts that the builder's script imports, so that browsers load all of
// them at once.
func (p *builderPage) Modules() []string {
	modules := []string{"vdom.js", "builder-state.js", "builder-logic.js", "builder-canvas.js", "builder-save.js"}
	if len(p.Data.Draft.Fields) > 0 {
		modules = append(modules, "builder-controls.js")
	}
	return modules
}

// builderData is what the builder starts with.
type builderData struct {
	Draft        builderDraft      `json:"draft"`
	Look         builderLook       `json:"look"`
	Kinds        []builderKind     `json:"kinds"`
	Translations map[string]string `json:"translations"` // translations of the builder's texts
	Together     bool              `json:"together"`     // others may edit the form too
}

// ShowBuilder shows the builder.
func (pages *Pages) ShowBuilder(req *page.Request) error {
	f, err := pages.Store.Form(req.Context(), req.Owner(), req.PathValue("id"))
	if err != nil {
		return err
	}
	p := &builderPage{formLayout: pages.newFormLayout(f, "build")}
	p.Script, p.Style = "builder.js", "builder.css"
	if req.URL.Query().Get("done") == "restored" {
		p.NoticeKey = "Version restored as draft. Publish it to make it live."
	}
	if p.Data.Draft, err = pages.newBuilderDraft(req, f); err != nil {
		return err
	}
	if p.Data.Together, err = pages.Store.HasEditors(req.Context(), req.Owner(), f.ID); err != nil {
		return err
	}
	if p.Data.Look, err = pages.builderLook(req, f.ID); err != nil {
		return err
	}
	p.Assets = p.Data.Look.page().CanvasStyleSheets()
	p.Data.Translations = pages.builderTranslations(pages.Site.Languages.Catalog(req.Language()))
	for _, k := range form.Kinds() {
		p.Data.Kinds = append(p.Data.Kinds, newBuilderKind(k))
	}
	return pages.templates.Render(req, http.StatusOK, "builder", p)
}

var builderText = regexp.MustCompile(`\bt\("([^"]+)"`)

// builderTranslations selects the translations that the builder needs: those of texts in its
// scripts, of question types and of their properties.
func (pages *Pages) builderTranslations(all locale.Catalog) map[string]string {
	selected := map[string]string{}
	if all.IsEmpty() {
		return selected
	}
	add := func(texts ...string) {
		for _, text := range texts {
			if translation := all.Lookup(text); translation != text {
				selected[text] = translation
			}
		}
	}
	for script := range pages.Site.Scripts("builder", "vdom") {
		for _, found := range builderText.FindAllSubmatch(script, -1) {
			add(string(found[1]))
		}
	}
	for _, k := range form.Kinds() {
		add(k.Info().Title, k.Info().Description, k.Info().Group, k.Info().Synonyms)
	}
	for _, property := range slices.Concat(form.CommonProperties, form.KindProperties) {
		add(property.Label, property.Help)
	}
	return selected
}
