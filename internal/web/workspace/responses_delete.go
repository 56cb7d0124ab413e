package workspace

import (
	"net/url"
	"strings"

	"formulary/internal/web/page"
)

// DeleteResponses deletes the selected responses; for an hour they can be restored.
func (pages *Pages) DeleteResponses(req *page.Request) error {
	id := req.PathValue("id")
	ids := req.PostForm["response"]
	query, err := url.ParseQuery(req.Field("kept"))
	if err != nil {
		query = url.Values{}
	}
	if len(ids) == 0 || len(ids) > responsesPerPage {
		query.Set("done", "nothing")
		return req.Redirect("/forms/" + id + "/responses?" + query.Encode())
	}
	if _, err := pages.Store.DeleteResponsesWithUndo(req.Context(), req.Owner(), id, ids, pages.Now()); err != nil {
		return err
	}
	query.Set("deleted", strings.Join(ids, ","))
	return req.Redirect("/forms/" + id + "/responses?" + query.Encode())
}

// RestoreResponses restores deleted responses.
func (pages *Pages) RestoreResponses(req *page.Request) error {
	id := req.PathValue("id")
	n, err := pages.Store.RestoreResponses(req.Context(), req.Owner(), id, req.PostForm["response"], pages.Now())
	if err != nil {
		return err
	}
	done := "restored"
	if n == 1 {
		done = "restored-one"
	}
	return req.Redirect("/forms/" + id + "/responses?done=" + done)
}
