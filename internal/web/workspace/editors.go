package workspace

import (
	"net/http"
	"strconv"

	"formulary/internal/web/page"
)

// editorsAnswer tells an open builder who else edits the form.
type editorsAnswer struct {
	Others []string      `json:"others"`          // names
	Draft  *builderDraft `json:"draft,omitempty"` // if it has another revision than the builder's
}

// NoteEditor stores that the user edits a form, or has stopped to. An open builder calls it every
// few seconds.
func (pages *Pages) NoteEditor(req *page.Request) error {
	ctx, owner, formID := req.Context(), req.Owner(), req.PathValue("id")
	if req.Field("leave") != "" {
		if _, err := pages.Store.Form(ctx, owner, formID); err != nil {
			return err
		}
		if err := pages.Store.DropEditor(ctx, owner, formID, req.User.ID); err != nil {
			return err
		}
		return req.SendJSON(http.StatusOK, editorsAnswer{Others: []string{}})
	}
	others, err := pages.Store.NoteEditor(ctx, owner, formID, req.User.ID, pages.Now())
	if err != nil {
		return err
	}
	out := editorsAnswer{Others: append([]string{}, others...)}
	f, err := pages.Store.Form(ctx, owner, formID)
	if err != nil {
		return err
	}
	if req.Field("revision") != strconv.FormatInt(f.Revision, 10) {
		draft, err := pages.newBuilderDraft(req, f)
		if err != nil {
			return err
		}
		out.Draft = &draft
	}
	return req.SendJSON(http.StatusOK, out)
}
