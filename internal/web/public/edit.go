package public

import (
	"net/http"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/web/page"
)

// EditResponse shows the answers of a response in the form's own controls, all on one page, and
// saves them. The caller checks that the user may change the response.
func (pages *Pages) EditResponse(req *page.Request, edit page.ResponseEdit) error {
	s := pages.newFillSession(req, edit.Form)
	s.edit, s.embedded = &edit, false
	if req.Method != http.MethodPost {
		for _, f := range edit.Form.Definition.Fields {
			answer, ok := edit.Answers[f.Key]
			if !ok || f.Traits().Calculated {
				continue
			}
			for name, values := range form.FormValues(f, answer) {
				s.values[name] = values
				s.localizeNumber(name)
			}
		}
		s.values[pageControl] = []string{"0"} // no default answers: the respondent gave none
		return pages.renderPage(req, http.StatusOK, s, 0)
	}
	if err := pages.readPost(req, s); err != nil {
		return err
	}
	return pages.handlePage(req, s, func(e form.Evaluation, number int) error {
		err := edit.Save(e.Answers)
		problem := fault.Wrap(err)
		if err == nil || problem.Code != fault.Invalid && problem.Code != fault.QuotaReached {
			return err
		}
		if _, s.problems = s.firstProblem(s.screens(), problem.Details); s.problems == nil {
			s.notice = page.Sentence(problem.Localize(s.catalog))
		}
		return pages.renderPage(req, problem.Code.Status(), s, number)
	})
}

// editScreens has all questions on one page. Those that the answers skip are left out.
func (s *fillSession) editScreens() []form.Page {
	var all form.Page
	for _, p := range s.form.Definition.Pages() {
		all.Fields = append(all.Fields, p.Fields...)
	}
	return []form.Page{all}
}

// Edit is the response that its owner edits; nil: a respondent fills in the form.
func (p *formPage) Edit() *page.ResponseEdit { return p.edit }
