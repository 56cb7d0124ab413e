package public

import (
	"net/http"
	"strconv"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// Preview shows a draft as respondents would see it, through the same code as the public
// form. It stores nothing. The caller checks that the user may see the draft.
func (pages *Pages) Preview(req *page.Request, draft store.PublicForm) error {
	s := pages.newFillSession(req, draft)
	s.preview = true
	if req.Method != http.MethodPost {
		number, _ := strconv.Atoi(req.URL.Query().Get("page"))
		return pages.renderPage(req, http.StatusOK, s, max(0, min(number, len(draft.Definition.Pages())-1)))
	}
	if err := pages.readPost(req, s); err != nil {
		return err
	}
	return pages.handlePage(req, s, func(e form.Evaluation, _ int) error {
		p, err := pages.newEndingPage(s, e)
		if err != nil {
			return err
		}
		return pages.templates.Render(req, http.StatusOK, "ending", p)
	})
}
