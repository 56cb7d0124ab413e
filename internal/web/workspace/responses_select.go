package workspace

import (
	"strings"

	"formulary/internal/store"
	"formulary/internal/web/page"
)

// maxSelected is how many responses can be selected: as many as people see at a time after
// they asked for more.
const maxSelected = store.MaxMarked

// selected returns the selected responses and the query of the list; none: too many or no
// responses are selected.
func selected(req *page.Request) (ids []string, back func(values ...string) error) {
	ids = req.PostForm["response"]
	if len(ids) > maxSelected {
		ids = nil
	}
	kept := keptQuery(req.Field("kept"))
	return ids, func(values ...string) error {
		for i := 0; i < len(values); i += 2 {
			kept.Set(values[i], values[i+1])
		}
		return req.Redirect(responsesAddress(req.PathValue("id"), kept))
	}
}

// DeleteResponses deletes the selected responses; for an hour they can be restored.
func (pages *Pages) DeleteResponses(req *page.Request) error {
	ids, back := selected(req)
	if len(ids) == 0 {
		return back("done", "nothing")
	}
	if _, err := pages.Store.DeleteResponsesWithUndo(req.Context(), req.Owner(), req.PathValue("id"), ids, pages.Now()); err != nil {
		return err
	}
	return back("deleted", strings.Join(ids, ","))
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
