package workspace

import (
	"net/http"
	"net/url"
	"strings"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// MarkResponses changes status, star and tags of responses. The control kept, if there is one, is
// the filter of the list to return to.
func (pages *Pages) MarkResponses(req *page.Request) error {
	formID, ids := req.PathValue("id"), req.PostForm["response"]
	if _, err := pages.Store.Form(req.Context(), req.Owner(), formID); err != nil {
		return err
	}
	change := store.MarkChange{Status: form.ResponseStatus(req.Field("status")), Opened: req.Field("opened") != "", Remove: req.PostForm["untag"]}
	if star := req.Field("star"); star != "" {
		starred := star == "1"
		change.Starred = &starred
	}
	for tag := range strings.SplitSeq(req.Field("tag"), ",") {
		if tag = strings.TrimSpace(tag); tag != "" {
			change.Add = append(change.Add, tag)
		}
	}
	n, err := pages.Store.MarkResponses(req.Context(), req.Owner(), formID, ids, change)
	if wantsJSON(req) {
		return pages.sendMarked(req, n, err)
	}
	kept, fromList := req.PostForm["kept"]
	if len(ids) != 1 || fromList && err == nil {
		query, parseErr := url.ParseQuery(strings.Join(kept, ""))
		if parseErr != nil {
			query = url.Values{}
		}
		if err != nil {
			return err
		}
		return req.Redirect("/forms/" + formID + "/responses?" + query.Encode())
	}
	// Its ID becomes part of an address.
	if _, err := pages.Store.Response(req.Context(), req.Owner(), formID, ids[0]); err != nil {
		return err
	}
	return pages.afterResponse(req, formID, ids[0], err)
}

// afterResponse returns to the page of a response, with the problem if there was one.
func (pages *Pages) afterResponse(req *page.Request, formID, responseID string, err error) error {
	e := fault.Wrap(err)
	switch {
	case err == nil:
		return req.Redirect(responseAddress(formID, responseID))
	case e.Code == fault.Invalid || e.Code == fault.QuotaReached:
		req.SetPathValue("response", responseID)
		return pages.showResponse(req, e.Code.Status(), e)
	}
	return err
}

// sendMarked answers the script of a page.
func (pages *Pages) sendMarked(req *page.Request, changed int64, err error) error {
	e := fault.Wrap(err)
	switch {
	case err == nil:
		return req.SendJSON(http.StatusOK, map[string]int64{"changed": changed})
	case e.Code == fault.Invalid || e.Code == fault.QuotaReached:
		return req.SendJSON(e.Code.Status(), map[string]string{"message": pages.problemText(req, e)})
	}
	return err
}

// ChangeNotes adds a note, or changes or deletes the one in the control note.
func (pages *Pages) ChangeNotes(req *page.Request) error {
	formID, responseID := req.PathValue("id"), req.PathValue("response")
	key, noteID := store.ResponseKey{FormID: formID, ID: responseID}, req.Field("note")
	var err error
	switch {
	case noteID == "":
		_, err = pages.Store.AddNote(req.Context(), req.Owner(), key, store.NewNote{Author: req.User.ID, Text: req.Field("text")}, pages.Now())
	case req.Field("delete") != "":
		err = pages.Store.DeleteNote(req.Context(), req.Owner(), key, noteID)
	default:
		_, err = pages.Store.UpdateNote(req.Context(), req.Owner(), key, store.NoteChange{ID: noteID, Text: req.Field("text")}, pages.Now())
	}
	if wantsJSON(req) {
		return pages.sendMarked(req, 1, err)
	}
	return pages.afterResponse(req, formID, responseID, err)
}

// hasMarks reports whether people have marked responses of a form. Exports then have columns for it.
func (pages *Pages) hasMarks(req *page.Request, formID string) (bool, error) {
	totals, err := pages.Store.MarkTotals(req.Context(), req.Owner(), formID)
	return totals.Read+totals.Done+totals.Starred > 0 || len(totals.Tags) > 0, err
}
