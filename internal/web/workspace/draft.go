package workspace

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// builderDraft is a form as the builder loads and saves it.
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
	Design      *form.Design      `json:"design,omitempty"` // unchanged if nil: the builder does not send it
	Changes     []form.Change     `json:"changes"`          // since the live version
	Removed     map[string]string `json:"removed_labels"`   // labels of removed questions and endings, by key
	Problems    []fault.Detail    `json:"problems"`         // mistakes to correct before publishing
	UpdatedAt   time.Time         `json:"updated_at"`
}

func (pages *Pages) newBuilderDraft(req *page.Request, f form.Form) (builderDraft, error) {
	d, err := pages.Store.Draft(req.Context(), req.Owner(), f.ID)
	if err != nil {
		return builderDraft{}, err
	}
	var problems []fault.Detail
	if u := d.Unfinished; u != nil {
		problems = u.Problems()
		d = &form.Definition{Fields: u.Fields, Endings: u.Endings, Settings: u.Settings, Design: d.Design}
	}
	out := builderDraft{
		ID: f.ID, Revision: f.Revision, Status: f.At(pages.Now()).Status, Version: f.Version, Title: f.Title, Description: f.Description, Language: f.Language,
		Fields: d.Fields, Endings: d.Endings, Settings: d.Settings, Changes: []form.Change{}, Removed: map[string]string{}, UpdatedAt: f.UpdatedAt,
		Problems: pages.Site.TranslateError(req, fault.InvalidFields(problems...)).Details,
	}
	if out.Endings == nil {
		out.Endings = []*form.Ending{}
	}
	if f.Version == 0 {
		return out, nil
	}
	published, err := pages.Store.Version(req.Context(), req.Owner(), f.ID, f.Version)
	if err != nil {
		return out, err
	}
	draft := form.FormInput{Header: form.Header{Title: f.Title, Description: f.Description, Language: f.Language}, Definition: d}
	if changes := form.Diff(form.FormInput{Header: published.Header, Definition: published.Definition}, draft); changes != nil {
		out.Changes = changes
	}
	out.Removed = memberNames(published.Definition)
	for key := range memberNames(d) {
		delete(out.Removed, key)
	}
	return out, nil
}

// memberNames returns the labels of questions and the titles of endings, by key.
func memberNames(d *form.Definition) map[string]string {
	names := map[string]string{}
	for _, f := range d.Fields {
		names[f.Key] = f.Label
	}
	for _, e := range d.Endings {
		names[e.Key] = e.Title
	}
	return names
}

// SaveDraft saves the draft of the builder. A question with a mistake does not keep the
// rest from being saved: mistakes are returned with the draft. If another user or window has
// saved since, the stored draft is returned.
func (pages *Pages) SaveDraft(req *page.Request) error {
	var in builderDraft
	decoder := json.NewDecoder(req.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil {
		return pages.sendDraftError(req, http.StatusBadRequest, fault.New(fault.BadJSON, "The draft could not be read. Reload the page and try again.").WithCause(err))
	}
	tag := req.Header.Get("If-Match")
	revision, err := strconv.ParseInt(strings.Trim(tag, `"`), 10, 64)
	if err != nil && tag != "" {
		revision = -1 // matches no revision, so nothing is overwritten
	}
	var headerProblems []fault.Detail
	change := func(p *form.FormInput) error {
		headerProblems = nil
		header := form.Header{Title: in.Title, Description: in.Description, Language: in.Language}
		if err := header.Normalize(); err != nil {
			headerProblems = fault.Wrap(err).Details // the earlier header stays
		} else {
			p.Header = header
		}
		edited := &form.Definition{Fields: in.Fields, Endings: in.Endings, Settings: in.Settings, Design: p.Definition.Design}
		if in.Design != nil {
			edited.Design = *in.Design
		}
		if edited.Fields == nil {
			edited.Fields = []*form.Field{}
		}
		accepted, _, err := form.Accept(edited, p.Definition)
		if err == nil {
			p.Definition = accepted
		}
		return err
	}
	f, err := pages.Store.UpdateForm(req.Context(), req.Owner(), store.FormRevision{ID: req.PathValue("id"), Revision: revision}, change, pages.Now())
	if code := fault.Wrap(err).Code; err != nil && (code == fault.Invalid || code == fault.Conflict) {
		return pages.sendDraftError(req, code.Status(), fault.Wrap(err))
	}
	if err != nil {
		return err
	}
	out, err := pages.newBuilderDraft(req, f)
	if err != nil {
		return err
	}
	if len(headerProblems) > 0 {
		out.Problems = append(pages.Site.TranslateError(req, fault.InvalidFields(headerProblems...)).Details, out.Problems...)
	}
	return req.SendJSON(http.StatusOK, out)
}

// draftError says why a draft was not saved or published.
type draftError struct {
	Code    int            `json:"code"`
	Message string         `json:"message"`
	Details []fault.Detail `json:"details"`
	Stored  *builderDraft  `json:"stored_draft,omitempty"` // after a conflict
}

func (pages *Pages) sendDraftError(req *page.Request, status int, e *fault.Error) error {
	translated := pages.Site.TranslateError(req, e)
	out := draftError{Code: int(e.Code), Message: translated.Message, Details: translated.Details}
	if e.Code == fault.Conflict {
		f, err := pages.Store.Form(req.Context(), req.Owner(), req.PathValue("id"))
		if err != nil {
			return err
		}
		stored, err := pages.newBuilderDraft(req, f)
		if err != nil {
			return err
		}
		out.Stored = &stored
	}
	return req.SendJSON(status, out)
}
