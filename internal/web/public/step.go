package public

import "formulary/internal/form"

// With the layout one_at_a_time, each question is a page of its own. A form with a
// description starts with a page for it.

// continueAction is the button before the last question. It never submits the form: if an
// answer makes its question the last one, the page is shown again with the other button.
const continueAction = "continue"

// step is what a page with one question has beside it.
type step struct {
	Welcome   bool // title and description instead of a question
	Backwards bool // the respondent went back
	Section   bool // the first question of a page with a heading
	Long      bool // Enter starts a new line
}

func (s *fillSession) isOneAtATime() bool {
	return s.form.Definition.Design.Layout == form.OneAtATime && s.edit == nil
}

// screens are the pages that respondents see, one after the other.
func (s *fillSession) screens() []form.Page {
	if s.screenList == nil && s.edit != nil {
		s.screenList = s.editScreens()
	}
	if s.screenList == nil {
		s.screenList = s.form.Definition.Screens()
		if s.isOneAtATime() && s.form.Header.Description != "" {
			s.screenList = append([]form.Page{{}}, s.screenList...)
		}
	}
	return s.screenList
}

func newStep(p *formPage, screens []form.Page, e form.Evaluation) *step {
	this := screens[p.Number]
	st := &step{Backwards: p.values.Get(actionControl) == "back", Welcome: len(this.Fields) == 0 && p.Number == 0 && p.Form.Header.Description != ""}
	before := previousPage(screens, e, p.Number)
	st.Section = this.Break != nil && (p.Number == 0 || screens[before].Break != this.Break)
	for _, f := range this.Fields {
		st.Long = st.Long || f.Traits().Multiline
	}
	return st
}
