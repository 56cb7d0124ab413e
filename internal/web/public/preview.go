package public

import (
	"net/http"
	"slices"
	"strconv"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// Preview shows a draft, or a template, as respondents would see it, through the same code as the public
// form. It stores nothing. The caller checks that the user may see the draft.
func (pages *Pages) Preview(req *page.Request, draft store.PublicForm) error {
	s := pages.newFillSession(req, draft)
	s.preview, s.path = true, req.URL.Path
	query := req.URL.Query()
	number := s.previewedScreen(query.Get("page"), query.Get("field"))
	query.Del("page")
	query.Del("field")
	s.query = query.Encode()
	if req.Method != http.MethodPost {
		return pages.renderPage(req, http.StatusOK, s, number)
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

// previewedScreen is the number of the screen with a question, or the first one of a page.
func (s *fillSession) previewedScreen(pageNumber, field string) int {
	screens := s.screens()
	if with := slices.IndexFunc(screens, func(screen form.Page) bool {
		return slices.ContainsFunc(screen.Fields, func(f *form.Field) bool { return f.Key == field })
	}); with >= 0 {
		return with
	}
	number, _ := strconv.Atoi(pageNumber)
	formPages := s.form.Definition.Pages()
	if number <= 0 || number >= len(formPages) {
		return 0
	}
	return max(0, slices.IndexFunc(screens, func(screen form.Page) bool { return screen.Break == formPages[number].Break }))
}
