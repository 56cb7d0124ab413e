package web

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
)

// builderPage is where an owner says what a form asks. It alone needs JavaScript:
// the page brings everything that the builder works with, as data.
type builderPage struct {
	formPage
	Data builderData
}

// builderData is what the builder starts from.
type builderData struct {
	Draft    builderDraft    `json:"draft"`
	Kinds    []builderKind   `json:"kinds"`
	Common   []form.Property `json:"common_properties"`
	Own      []form.Property `json:"kind_properties"`
	Language []builderChoice `json:"languages"`
	Words    catalog         `json:"translations"` // the builder's texts in the owner's language, by the English ones
}

type builderChoice struct {
	Value string `json:"value"`
	Label string `json:"label"`
}

// builderDraft is a form on its way between the builder and the store.
type builderDraft struct {
	ID          string            `json:"id"`
	Revision    int64             `json:"revision"`
	Status      form.Status       `json:"status"`
	Version     int64             `json:"version"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Language    string            `json:"language"`
	Fields      []*form.Field     `json:"fields"`
	Endings     []*form.Ending    `json:"endings"`
	Settings    form.Settings     `json:"settings"`
	Changes     []form.Change     `json:"changes"`        // since the version that is published
	Gone        map[string]string `json:"removed_labels"` // labels of removed fields and endings, by their keys
	UpdatedAt   time.Time         `json:"updated_at"`
}

func (web *Handler) draftOf(v *pageRequest, f form.Form) (builderDraft, error) {
	d, err := web.Store.Draft(v.ctx(), v.owner(), f.ID)
	if err != nil {
		return builderDraft{}, err
	}
	out := builderDraft{
		ID: f.ID, Revision: f.Revision, Status: f.At(web.Now()).Status, Version: f.Version, Title: f.Title, Description: f.Description, Language: f.Language,
		Fields: d.Fields, Endings: d.Endings, Settings: d.Settings, Changes: []form.Change{}, Gone: map[string]string{}, UpdatedAt: f.UpdatedAt,
	}
	if out.Endings == nil {
		out.Endings = []*form.Ending{}
	}
	if f.Version == 0 {
		return out, nil
	}
	published, err := web.Store.Version(v.ctx(), v.owner(), f.ID, f.Version)
	if err != nil {
		return out, err
	}
	now := form.FormInput{Header: form.Header{Title: f.Title, Description: f.Description, Language: f.Language}, Definition: d}
	if changes := form.Diff(form.FormInput{Header: published.Head, Definition: published.Definition}, now); changes != nil {
		out.Changes = changes
	}
	out.Gone = fieldNames(published.Definition)
	for key := range fieldNames(d) {
		delete(out.Gone, key)
	}
	return out, nil
}

// fieldNames is what questions and endings are called, by their keys.
func fieldNames(d *form.Definition) map[string]string {
	names := map[string]string{}
	for _, f := range d.Fields {
		names[f.Key] = f.Label
	}
	for _, e := range d.Endings {
		names[e.Key] = e.Title
	}
	return names
}

func (web *Handler) showBuilder(v *pageRequest) error {
	f, err := web.Store.Form(v.ctx(), v.owner(), v.r.PathValue("id"))
	if err != nil {
		return err
	}
	p := &builderPage{formPage: web.formPageOf(v, f, "build")}
	p.Script, p.Style = "builder.js", "builder.css"
	if p.Data.Draft, err = web.draftOf(v, f); err != nil {
		return err
	}
	p.Data.Words = web.builderWords(web.languages.of(web.viewerLanguage(v)))
	for _, k := range form.Kinds() {
		p.Data.Kinds = append(p.Data.Kinds, newBuilderKind(k))
	}
	p.Data.Common, p.Data.Own = form.CommonProperties, form.KindProperties
	for _, l := range formLanguages {
		p.Data.Language = append(p.Data.Language, builderChoice{l[0], l[1]})
	}
	return web.render(v, http.StatusOK, "builder", p)
}

var builderText = regexp.MustCompile(`\bt\("([^"]+)"`)

// builderWords are the words that the builder can say, out of all there are: those
// in its own scripts, and of the kinds and their properties.
func (web *Handler) builderWords(all catalog) catalog {
	if len(all) == 0 {
		return catalog{}
	}
	own := catalog{}
	keep := func(texts ...string) {
		for _, text := range texts {
			if said, ok := all[text]; ok {
				own[text] = said
			}
		}
	}
	for name, file := range web.static {
		if strings.HasPrefix(name, "builder") || name == "vdom.js" {
			for _, found := range builderText.FindAllSubmatch(file.content, -1) {
				keep(string(found[1]))
			}
		}
	}
	for _, k := range form.Kinds() {
		keep(k.About().Title, k.About().Description, k.About().Group)
	}
	for _, property := range slices.Concat(form.CommonProperties, form.KindProperties) {
		keep(property.Label, property.Help)
	}
	return own
}

// formLanguages are those in which a form's page speaks; others can be set by the
// API.
var formLanguages = [][2]string{{"en", "English"}, {"de", "Deutsch"}, {"fr", "Français"}, {"es", "Español"}, {"pt", "Português"}, {"tr", "Türkçe"}, {"ar", "العربية"}}

// saveDraft takes the builder's draft. What is wrong is answered field by field;
// when somebody else was faster, with theirs.
func (web *Handler) saveDraft(v *pageRequest) error {
	var in builderDraft
	decoder := json.NewDecoder(v.r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil {
		return web.sendProblems(v, http.StatusBadRequest, fault.New(fault.BadJSON, "The draft could not be read. Reload the page and try again.").WithCause(err))
	}
	seen := v.r.Header.Get("If-Match")
	revision, err := strconv.ParseInt(strings.Trim(seen, `"`), 10, 64)
	if err != nil && seen != "" {
		revision = -1 // which none is: what was not read is not overwritten
	}
	change := func(p *form.FormInput) error {
		p.Header = form.Header{Title: in.Title, Description: in.Description, Language: in.Language}
		p.Definition = &form.Definition{Fields: in.Fields, Endings: in.Endings, Settings: in.Settings}
		if p.Definition.Fields == nil {
			p.Definition.Fields = []*form.Field{}
		}
		return p.Normalize()
	}
	f, err := web.Store.UpdateForm(v.ctx(), v.owner(), store.FormRevision{ID: v.r.PathValue("id"), Revision: revision}, change, web.Now())
	if code := fault.Wrap(err).Code; err != nil && (code == fault.Invalid || code == fault.Conflict) {
		return web.sendProblems(v, code.Status(), fault.Wrap(err))
	}
	if err != nil {
		return err
	}
	out, err := web.draftOf(v, f)
	if err != nil {
		return err
	}
	return web.sendJSON(v, http.StatusOK, out)
}

// draftProblem is why a draft was not saved.
type draftProblem struct {
	Code    int            `json:"code"`
	Message string         `json:"message"`
	Details []fault.Detail `json:"details"`
	Theirs  *builderDraft  `json:"stored_draft,omitempty"` // if it was changed elsewhere
}

func (web *Handler) sendProblems(v *pageRequest, status int, e *fault.Error) error {
	told := web.translateError(v, e)
	out := draftProblem{Code: int(e.Code), Message: told.Message, Details: told.Details}
	if e.Code == fault.Conflict {
		f, err := web.Store.Form(v.ctx(), v.owner(), v.r.PathValue("id"))
		if err != nil {
			return err
		}
		theirs, err := web.draftOf(v, f)
		if err != nil {
			return err
		}
		out.Theirs = &theirs
	}
	return web.sendJSON(v, status, out)
}

func (web *Handler) sendJSON(v *pageRequest, status int, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "application/json")
	v.w.WriteHeader(status)
	v.w.Write(text) // the reader may have gone
	return nil
}

// publishForm opens the form with its draft.
func (web *Handler) publishForm(v *pageRequest) error {
	id := v.r.PathValue("id")
	_, err := web.Store.Publish(v.ctx(), v.owner(), store.FormRevision{ID: id}, store.IdempotencyKey{}, web.Now())
	if fault.Wrap(err).Code == fault.Invalid && err != nil {
		return web.sendProblems(v, http.StatusUnprocessableEntity, fault.Wrap(err))
	}
	if err != nil {
		return err
	}
	return web.redirect(v, "/forms/"+id+"/share")
}

// preview shows a draft as respondents will see it: the same page, made by the
// same code. Nothing of it is stored.
func (web *Handler) preview(v *pageRequest) error {
	f, err := web.Store.Form(v.ctx(), v.owner(), v.r.PathValue("id"))
	if err != nil {
		return err
	}
	d, err := web.Store.Draft(v.ctx(), v.owner(), f.ID)
	if err != nil {
		return err
	}
	a := web.newFillSession(v, store.PublicForm{
		Owner: v.owner(), ID: f.ID, Status: form.Open, Header: form.Header{Title: f.Title, Description: f.Description, Language: f.Language}, Offer: f.Availability, Definition: d,
	})
	a.preview = true
	if v.r.Method != http.MethodPost { // HEAD is a GET without its body
		number, _ := strconv.Atoi(v.r.URL.Query().Get("page"))
		return web.renderPage(v, http.StatusOK, a, max(0, min(number, len(d.Pages())-1)))
	}
	a.in = v.r.PostForm
	return web.handlePage(v, a, func(e form.Evaluation, number int) error {
		p, err := web.endingPage(a, e)
		if err != nil {
			return err
		}
		return web.render(v, http.StatusOK, "ending", p)
	})
}
