package public

import (
	"cmp"
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
		err := edit.Save(e.Answers, s.values.Get(seenControl))
		problem := fault.Wrap(err)
		if err != nil && problem.Code == fault.Conflict {
			s.compareWithStored(e)
			return pages.renderPage(req, http.StatusConflict, s, number)
		}
		if err == nil || problem.Code != fault.Invalid && problem.Code != fault.QuotaReached {
			return err
		}
		if _, s.problems = s.firstProblem(s.screens(), problem.Details); s.problems == nil {
			s.notice = page.Sentence(problem.Localize(s.catalog))
		}
		return pages.renderPage(req, problem.Code.Status(), s, number)
	})
}

// seenControl has the tag of the answers that the page shows.
const seenControl = "_seen"

// storedAnswer is an answer that differs from the one on the page.
type storedAnswer struct{ Label, Text string }

// compareWithStored lists what is stored now, after another user or window has edited the
// response. Saving the page again replaces it.
func (s *fillSession) compareWithStored(e form.Evaluation) {
	s.values.Set(seenControl, s.edit.Tag)
	s.notice = s.catalog.Translate("Your changes are not saved yet: this response has changed since you opened it. Compare your answers with those stored now, then save again.")
	for _, f := range s.form.Definition.Fields {
		if !f.HasAnswer() {
			continue
		}
		format := func(answers map[string]any) string {
			if answer, ok := answers[f.Key]; ok {
				return s.formatAnswer(f, answer)
			}
			return s.catalog.Translate("No answer")
		}
		if text := format(s.edit.Answers); text != format(e.Answers) {
			s.stored = append(s.stored, storedAnswer{cmp.Or(f.Label, f.Key), text})
		}
	}
}

// Seen is the tag of the answers that the user has seen.
func (p *formPage) Seen() string {
	if p.Fresh {
		return p.edit.Tag
	}
	return p.values.Get(seenControl)
}

// Stored lists answers that were stored since the page was opened.
func (p *formPage) Stored() []storedAnswer { return p.stored }

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
