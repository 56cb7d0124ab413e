package public

import (
	"net/http"
	"slices"
	"strings"

	"formulary/internal/form"
	"formulary/internal/web/page"
)

// sent tells the script of a page where the response that it sent leads.
type sent struct {
	To string `json:"to"`
}

// send stores a complete response for the script of the page, which tries again if the
// connection fails. Everything else is answered with 204 or a page: the script then lets
// the browser submit the page, because only the browser can show another one.
func (pages *Pages) send(req *page.Request, s *fillSession, finish func(e form.Evaluation, number int) error) error {
	formPages, number := s.screens(), s.page()
	e := s.evaluate()
	s.shown = s.shownBefore()
	_, more := nextPage(formPages, e, number)
	_, problems := s.firstProblem(formPages, e.Problems)
	if more || len(problems)+len(s.uploadProblems) > 0 || s.revealsQuestion(formPages[number], e) {
		req.W.WriteHeader(http.StatusNoContent)
		return nil
	}
	s.byScript, s.shown = true, nil
	return finish(e, number)
}

// redirect leads the respondent to another page.
func (s *fillSession) redirect(req *page.Request, to string) error {
	if s.byScript {
		return req.SendJSON(http.StatusOK, sent{to})
	}
	return req.Redirect(to)
}

// shownBefore returns the keys of the questions that the respondent saw.
func (s *fillSession) shownBefore() map[string]bool {
	shown := map[string]bool{}
	for key := range strings.SplitSeq(s.values.Get(shownControl), ",") {
		if s.form.Definition.Field(key) != nil {
			shown[key] = true
		}
	}
	return shown
}

// revealsQuestion reports whether the answers make a question of the page appear that the
// respondent has not seen.
func (s *fillSession) revealsQuestion(p form.Page, e form.Evaluation) bool {
	return slices.ContainsFunc(p.Fields, func(field *form.Field) bool {
		return e.Shown[field.Key] && field.IsVisible() && !s.shown[field.Key]
	})
}
