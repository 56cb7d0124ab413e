package workspace

import (
	"net/http"
	"strconv"
	"time"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// versionsPage lists the published versions of a form, and compares one of them, or the
// draft, with another.
type versionsPage struct {
	formLayout
	Versions   []versionEntry // the newest first
	Draft      versionEntry
	Shown      versionEntry
	With       int64 // the version to compare with; 0: none
	Choices    []versionEntry
	Changes    []versionChange
	HasChanges bool // the draft differs from the live version
	Older      int64
	Newer      int64
}

// versionEntry is a version in lists; number 0 is the draft.
type versionEntry struct {
	Number int64
	Title  string
	At     time.Time
	Live   bool
}

// versionsPerPage is how many versions a page lists.
const versionsPerPage = 50

// ShowVersions shows the history of a form.
func (pages *Pages) ShowVersions(req *page.Request) error {
	f, d, err := pages.Store.FormDraft(req.Context(), req.Owner(), req.PathValue("id"))
	if err != nil {
		return err
	}
	p := &versionsPage{formLayout: pages.newFormLayout(f, "build"), Draft: versionEntry{Title: f.Title, At: f.UpdatedAt}}
	p.Style = "versions.css"
	draft := store.Version{Header: form.Header{Title: f.Title, Description: f.Description, Language: f.Language}, Definition: d}
	shown, err := pages.readVersion(req, f, "version", draft)
	if err != nil {
		return err
	}
	p.Shown = versionEntry{Number: shown.Number, Title: shown.Header.Title, At: shown.PublishedAt, Live: shown.Number == f.Version && f.Version > 0}
	before := f.Version // the draft is compared with the live version
	if shown.Number > 0 {
		before = shown.Number - 1
	}
	if with := req.URL.Query().Get("with"); with == "" && before > 0 {
		query := req.URL.Query()
		query.Set("with", strconv.FormatInt(before, 10))
		req.URL.RawQuery = query.Encode()
	}
	if req.URL.Query().Get("with") != "" {
		with, err := pages.readVersion(req, f, "with", draft)
		if err != nil {
			return err
		}
		p.With = with.Number
		p.Changes = pages.describeChanges(req, with, shown)
	}
	p.HasChanges = f.Version > 0 && shown.Number == 0 && len(p.Changes) > 0
	skip, _ := strconv.ParseInt(req.URL.Query().Get("after"), 10, 64)
	list, total, err := pages.Store.Versions(req.Context(), req.Owner(), f.ID, versionsPerPage, max(0, skip))
	if err != nil {
		return err
	}
	for _, v := range list {
		p.Versions = append(p.Versions, versionEntry{v.Number, v.Header.Title, v.PublishedAt, v.Number == f.Version})
	}
	p.Choices = p.Versions
	if next := max(0, skip) + versionsPerPage; next < total {
		p.Older = next
	}
	if skip > 0 {
		p.Newer = max(0, skip-versionsPerPage)
	}
	return pages.templates.Render(req, http.StatusOK, "versions", p)
}

// readVersion returns the version that a parameter names, or the draft.
func (pages *Pages) readVersion(req *page.Request, f form.Form, parameter string, draft store.Version) (store.Version, error) {
	number, err := strconv.ParseInt(req.URL.Query().Get(parameter), 10, 64)
	if err != nil || number == 0 {
		return draft, nil
	}
	return pages.Store.Version(req.Context(), req.Owner(), f.ID, number)
}

// RestoreVersion makes a version the draft.
func (pages *Pages) RestoreVersion(req *page.Request) error {
	id := req.PathValue("id")
	number, err := strconv.ParseInt(req.PathValue("version"), 10, 64)
	if err != nil {
		number = 0 // not found
	}
	if _, err := pages.Store.RestoreVersion(req.Context(), req.Owner(), store.FormRevision{ID: id}, number, pages.Now()); err != nil {
		return err
	}
	return req.Redirect("/forms/" + id + "/build?done=restored")
}
