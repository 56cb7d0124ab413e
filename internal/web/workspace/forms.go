package workspace

import (
	"cmp"
	"net/http"
	"net/url"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// CreateForm creates an empty form, a form from a template, or one with the questions of a
// text, for which the tour starts.
func (pages *Pages) CreateForm(req *page.Request) error {
	language := req.Language()
	input := form.FormInput{
		Header:       form.Header{Title: cmp.Or(req.Field("title"), pages.Site.TranslateFor(req, "Untitled form")), Language: language},
		Availability: form.Availability{Sites: form.AnySite},
		Definition:   &form.Definition{Fields: []*form.Field{}},
	}
	if name := req.Field("template"); name != "" {
		var ok bool
		if input, ok = pages.formTemplates.newForm(language, name); !ok {
			return fault.New(fault.NotFoundInAccount, "That template doesn’t exist.")
		}
	}
	if req.PostForm.Has("questions") {
		input.Definition.Fields, input.Definition.Design.Mood = quickQuestions(req.Field("questions")), req.Field("mood")
	}
	if err := input.Normalize(); err != nil {
		return err
	}
	var err error
	if input.Folder, err = form.ParseFolder(req.Field("folder")); err != nil {
		return err
	}
	f, err := pages.Store.CreateFormFrom(req.Context(), req.Owner(), input, store.IdempotencyKey{}, pages.Now())
	if err != nil {
		return err
	}
	if req.PostForm.Has("questions") {
		pages.Sessions.SetCookie(req, page.TourCookie, "1", tourLasts)
	}
	return req.Redirect("/forms/" + f.ID + "/build")
}

// DuplicateForm copies the draft of a form to a new form.
func (pages *Pages) DuplicateForm(req *page.Request) error {
	f, err := pages.Store.DuplicateForm(req.Context(), req.Owner(), req.PathValue("id"), store.IdempotencyKey{}, pages.Now())
	if err != nil {
		return err
	}
	return req.Redirect("/forms/" + f.ID + "/build")
}

// MoveForm moves a form to a folder, or out of one.
func (pages *Pages) MoveForm(req *page.Request) error {
	folder, err := form.ParseFolder(req.Field("folder"))
	if err != nil {
		return err
	}
	if err := pages.Store.SetFolder(req.Context(), req.Owner(), req.PathValue("id"), folder); err != nil {
		return err
	}
	return req.Redirect(folderPath(folder))
}

// ChangeFolder renames a folder, or removes it; its forms stay.
func (pages *Pages) ChangeFolder(req *page.Request) error {
	to := ""
	if req.Field("remove") == "" {
		var err error
		if to, err = form.ParseFolder(req.Field("folder")); err != nil {
			return err
		}
	}
	if err := pages.Store.RenameFolder(req.Context(), req.Owner(), searchText(req.Field("from")), to); err != nil {
		return err
	}
	return req.Redirect(folderPath(to))
}

// folderPath is the address of the list of a folder; empty: of all forms.
func folderPath(name string) string {
	if name == "" {
		return "/"
	}
	return "/?" + url.Values{"folder": {name}}.Encode()
}

// DeleteForm deletes a form; for an hour it can be restored.
func (pages *Pages) DeleteForm(req *page.Request) error {
	id := req.PathValue("id")
	if err := pages.Store.DeleteForm(req.Context(), req.Owner(), id, 0, pages.Now()); err != nil {
		return err
	}
	return req.Redirect("/#deleted")
}

// RestoreForm restores a deleted form.
func (pages *Pages) RestoreForm(req *page.Request) error {
	if _, err := pages.Store.RestoreForm(req.Context(), req.Owner(), req.PathValue("id"), pages.Now()); err != nil {
		return err
	}
	return req.Redirect("/?done=restored")
}

// PublishForm makes the draft the next version and opens the form.
func (pages *Pages) PublishForm(req *page.Request) error {
	id := req.PathValue("id")
	_, err := pages.Store.Publish(req.Context(), req.Owner(), store.FormRevision{ID: id}, store.IdempotencyKey{}, pages.Now())
	if fault.Wrap(err).Code == fault.Invalid && err != nil {
		return pages.sendDraftError(req, http.StatusUnprocessableEntity, fault.Wrap(err))
	}
	if err != nil {
		return err
	}
	return req.Redirect("/forms/" + id + "/share")
}

// CloseForm closes a form. A form that is closed already stays so.
func (pages *Pages) CloseForm(req *page.Request) error {
	id := req.PathValue("id")
	if _, err := pages.Store.CloseForm(req.Context(), req.Owner(), id, 0, pages.Now()); err != nil && fault.Wrap(err).Code != fault.FormNotOpen {
		return err
	}
	return req.Redirect("/forms/" + id + "/share?done=closed")
}

// ReopenForm opens a closed form. The share page shows why a form cannot be opened, such
// as a response limit that is reached.
func (pages *Pages) ReopenForm(req *page.Request) error {
	id := req.PathValue("id")
	_, err := pages.Store.ReopenForm(req.Context(), req.Owner(), id, 0, pages.Now())
	if list, other := page.NewProblems(err); err != nil && other == nil {
		return pages.renderShare(req, http.StatusUnprocessableEntity, shareView{problems: list})
	}
	if err != nil && fault.Wrap(err).Code != fault.FormNotOpen {
		return err
	}
	return req.Redirect("/forms/" + id + "/share?done=opened")
}
