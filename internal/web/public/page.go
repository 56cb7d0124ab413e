package public

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strings"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// formPage is one page of a form.
type formPage struct {
	page.Layout
	*fillSession
	Form      store.PublicForm
	Action    string
	Number    int // of this page, from 0
	Heading   string
	Lead      string
	First     bool
	Last      bool
	Questions []*question
	Hidden    []hiddenInput // answers of other pages
	Shown     string        // keys of the questions on the page, separated by commas
	Nonce     string
	Progress  form.Progress
	Bar       bool   // whether the page has a progress bar
	Count     string // such as "Page 2 of 3", or "3 of 14" for questions
	Alert     string
	Links     []problemLink // to the questions with a problem
	Places    string        // how many more responses the form accepts; empty: not shown
	Focus     string        // key of the question that the script focuses
	Fresh     bool          // nothing was posted yet
	Logic     *logic        // for conditions within the page; nil without any
	Multipart bool          // the page has files
	Step      *step         // of the layout one_at_a_time, or nil
}

// Translate translates a text into the form's language.
func (p *formPage) Translate(text string, args ...any) string {
	return p.catalog.Translate(text, args...)
}

// SubmitLabel is the text of the last button.
func (p *formPage) SubmitLabel() string {
	if p.edit != nil {
		return p.catalog.Translate("Save changes")
	}
	return cmp.Or(p.form.Definition.Settings.SubmitLabel, p.catalog.Translate("Submit"))
}

type hiddenInput struct{ Name, Value string }

// problemLink leads to a question with a problem.
type problemLink struct{ Key, Label string }

// privateNoCache lets the browser's back button show a page again. With no-store it would
// have to post the page before it once more.
var privateNoCache = []string{"private, no-cache"}

func (pages *Pages) renderPage(req *page.Request, status int, s *fillSession, number int) error {
	p, err := pages.newFormPage(req, s, number)
	if err != nil {
		return err
	}
	if s.edit == nil {
		allowFrames(req, s.form.Availability)
		req.W.Header()["Cache-Control"] = privateNoCache
	}
	return pages.templates.Render(req, status, "form", p)
}

// newFormPage prepares one page of a form with the answers so far and their problems.
func (pages *Pages) newFormPage(req *page.Request, s *fillSession, number int) (_ *formPage, err error) {
	d := s.form.Definition
	if !s.values.Has(pageControl) {
		s.fillDefaults()
	}
	formPages := s.screens()
	e := s.evaluate()
	p := &formPage{
		Layout: s.layout(), fillSession: s, Form: s.form, Action: s.address(""), Number: number, Nonce: s.values.Get(keyControl), Alert: s.notice,
		Fresh: req.Method != http.MethodPost,
	}
	if p.Nonce == "" {
		p.Nonce = string(pages.newNonce(req.Context(), s.form.ID))
	}
	_, more := nextPage(formPages, e, number)
	p.Last, p.First = !more, number == previousPage(formPages, e, number)
	p.countPages(formPages, e)
	texts := s.interpolator(e)
	if first := formPages[number].Break; first != nil {
		p.Heading, p.Lead = texts.Text(first.Label, nil), texts.Text(first.Help, nil)
	}
	if s.isOneAtATime() {
		p.Step = newStep(p, formPages, e)
		p.AddAssets(pages.Site.AssetsOf("form-step"))
	}
	// If the database is unreachable, option limits are checked when the response is stored.
	var left map[[2]string]int64
	if s.edit == nil { // an owner sees the options that the respondent chose, even if they are full now
		if left, err = pages.Store.OptionsLeft(req.Context(), &s.form); err != nil && s.notice == "" {
			return nil, err
		}
	}
	shared := &questionContext{session: s, evaluation: e, texts: texts, left: left, nonce: p.Nonce}
	var visible, here []string
	for _, field := range formPages[number].Fields {
		if !field.IsVisible() || !e.Shown[field.Key] && field.ShowIf == nil && !s.preview {
			continue
		}
		q, err := pages.newQuestion(field, shared)
		if err != nil {
			return nil, err
		}
		if q.EnterAction = "next"; p.Step != nil {
			if !p.Last {
				q.EnterAction = continueAction
			}
			q.Conditional = false // it is shown alone
			q.Focus = q.Focus || !p.Fresh && p.Alert == ""
		}
		if here = append(here, field.Key); !q.NotShown {
			visible = append(visible, field.Key)
		}
		p.Questions = append(p.Questions, q)
		if traits := q.Traits(); traits.Asset != "" {
			p.Multipart = p.Multipart || traits.Files
			p.AddAssets(pages.Site.AssetsOf("kind-" + traits.Asset))
		}
	}
	p.focusOne()
	p.linkProblems()
	if p.First && s.showsPlaces() {
		p.Places = pages.placesLeft(req, s)
	}
	if len(s.problems) > 0 && p.Alert == "" && !slices.ContainsFunc(p.Questions, func(q *question) bool { return q.Error != "" }) {
		p.Alert = s.catalog.Translate("This link is incomplete. Open the form again with the full link you were given.")
	}
	p.Shown = strings.Join(visible, ",")
	p.Hidden = s.addReached(hiddenAnswers(d, s.values, here), number)
	p.Logic = newLogic(d, p.Questions, e)
	if slices.ContainsFunc(p.Questions, func(q *question) bool { return len(q.Rows) > 0 }) {
		p.Style = "form-rows.css"
	}
	p.Script = "form.js"
	return p, nil
}

// countPages sets the progress and the number of the page. The number of all pages is left
// out while it depends on answers to come.
func (p *formPage) countPages(screens []form.Page, e form.Evaluation) {
	p.Progress = form.ProgressAt(screens, e, p.Number)
	if p.Fresh {
		p.Progress.Answered = 0
	}
	if p.form.Definition.Settings.HideProgress {
		return
	}
	if p.isOneAtATime() {
		if p.Bar = p.Progress.Reachable > 1; p.Bar && p.Progress.Position > 0 {
			p.Count = p.Translate("%d of %d", p.Progress.Position, p.Progress.Reachable)
		}
		return
	}
	all, this := 0, 0
	for i := range screens {
		if screens[i].IsVisible(e) || i == p.Number {
			if all++; i == p.Number {
				this = all
			}
		}
	}
	open := form.CanChangeAfter(screens, p.Number)
	if p.Bar = all > 1 || open; open {
		p.Count = p.Translate("Page %d", this)
	} else if p.Bar {
		p.Count = p.Translate("Page %d of %d", this, all)
	}
}

// linkProblems lists the questions with a problem at the top of a page that has more than
// one question.
func (p *formPage) linkProblems() {
	if p.Step != nil || p.Alert != "" {
		return
	}
	for _, q := range p.Questions {
		if q.Error != "" {
			p.Links = append(p.Links, problemLink{q.Key, cmp.Or(q.LabelText, q.Key)})
		}
	}
}

// placesLeft says how many more responses the form accepts. It is empty if the database is
// unreachable: the limit is checked when the response is stored.
func (pages *Pages) placesLeft(req *page.Request, s *fillSession) string {
	f, err := pages.Store.Form(req.Context(), s.form.Owner, s.form.ID)
	if err != nil {
		return ""
	}
	return s.catalog.Translate("Places left: %d", max(0, s.form.Availability.ResponseLimit-f.ResponseCount))
}

// focusOne keeps the focus of the first visible question that wants it.
func (p *formPage) focusOne() {
	focused := false
	for _, q := range p.Questions {
		q.Focus = q.Focus && !focused && !q.NotShown
		focused = focused || q.Focus
		if q.Focus && p.embedded {
			p.Focus, q.Focus = q.Key, false // browsers ignore autofocus in frames; the script does it
		}
	}
}

// hiddenAnswers are the values of questions that are not on the page.
func hiddenAnswers(d *form.Definition, values url.Values, here []string) []hiddenInput {
	var list []hiddenInput
	shown := map[string]bool{}
	for _, key := range here {
		shown[key] = true
	}
	for name, all := range values {
		key, _, _ := strings.Cut(name, ".")
		if f := d.Field(key); f == nil || !f.HasAnswer() || shown[key] {
			continue
		}
		for _, value := range all {
			list = append(list, hiddenInput{name, value})
		}
	}
	sort.Slice(list, func(i, j int) bool {
		return cmp.Or(strings.Compare(list[i].Name, list[j].Name), strings.Compare(list[i].Value, list[j].Value)) < 0
	})
	return list
}
