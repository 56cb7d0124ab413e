package public

import (
	"cmp"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/locale"
	"formulary/internal/markdown"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// endingPage is the page after a response was submitted.
type endingPage struct {
	page.Layout
	Heading  string
	Text     template.HTML
	Catalog  locale.Catalog
	Button   *endingButton
	Calendar string   // address of the event, or empty
	Answers  []answer // if the owner shows them
	Again    string   // address to submit another response, or empty
	Next     string   // address of the redirect, for a link out of the frame
	Forwards bool     // the page around the frame follows the redirect by itself
}

type endingButton struct{ Label, URL string }

// answer is a question with its answer, as text.
type answer struct{ Question, Answer string }

// endingStyle is the style sheet of pages that follow a form or replace it.
const endingStyle = "form-ending.css"

// redirectToEnding redirects to the ending that follows from the answers.
func (pages *Pages) redirectToEnding(req *page.Request, s *fillSession, e form.Evaluation, r form.Response) error {
	if ending := s.form.Definition.EndingOf(e); ending != nil && ending.Redirect != "" && !s.embedded {
		return s.redirect(req, s.linkWithAnswers(ending.Redirect, e))
	}
	query := url.Values{"r": {r.ID}, "k": {pages.sign(req.Context(), "done", s.form.ID, r.ID)}}
	to := s.address("/done")
	if strings.Contains(to, "?") {
		return s.redirect(req, to+"&"+query.Encode())
	}
	return s.redirect(req, to+"?"+query.Encode())
}

// linkWithAnswers inserts answers into an address of the owner.
func (s *fillSession) linkWithAnswers(address string, e form.Evaluation) string {
	return s.form.Definition.InterpolateURL(address, func(f *form.Field, key string) string {
		return f.FormatAnswer(e.Answers[key], func(text string) string {
			// Numbers and dates in a URL are for programs, so they are as in the API.
			switch t := f.Traits(); text {
			case ".":
				return text
			case t.DisplayLayout:
				return t.TimeLayout
			}
			return s.catalog.Translate(text)
		})
	})
}

// ShowEnding shows the ending. It contains answers only if the link is signed, so that
// others cannot read them. While the form is not open, nobody else sees its ending.
func (pages *Pages) ShowEnding(req *page.Request) error {
	f, e, isSigned, err := pages.submitted(req)
	if err != nil {
		return err
	}
	if !isSigned && !f.IsOpenAt(pages.Now()) {
		return pages.showClosed(req, f)
	}
	p, err := pages.newEndingPage(pages.newFillSession(req, f), e)
	if err != nil {
		return err
	}
	if p.Calendar != "" {
		p.Calendar += "?" + req.URL.RawQuery
	}
	allowFrames(req, f.Availability)
	return pages.templates.Render(req, http.StatusOK, "ending", p)
}

// submitted returns the form and the answers that a link to an ending is about; no answers
// if the link is not signed.
func (pages *Pages) submitted(req *page.Request) (f store.PublicForm, e form.Evaluation, isSigned bool, err error) {
	if f, err = pages.publicForm(req); err != nil {
		return f, e, false, err
	}
	query := req.URL.Query()
	id := query.Get("r")
	if id == "" || !pages.isSigned(req.Context(), query.Get("k"), "done", f.ID, id) {
		return f, e, false, nil
	}
	r, err := pages.Store.Response(req.Context(), f.Owner, f.ID, id)
	if errors.Is(err, fault.NotFound) {
		return f, e, true, nil
	}
	if err == nil {
		e, err = pages.loadSubmitted(req, &f, r)
	}
	return f, e, true, err
}

// loadSubmitted evaluates a stored response. It changes the form to the version that the
// response belongs to.
func (pages *Pages) loadSubmitted(req *page.Request, f *store.PublicForm, r form.Response) (e form.Evaluation, err error) {
	answers, err := r.Answers()
	if err != nil {
		return e, err
	}
	if f.Definition, err = pages.Store.Definition(req.Context(), f.Owner, f.ID, r.Version); err != nil {
		return e, err
	}
	e, _ = f.Definition.Revalidate(answers) // it was valid when it was stored
	return e, nil
}

func (pages *Pages) newEndingPage(s *fillSession, e form.Evaluation) (*endingPage, error) {
	d := s.form.Definition
	p := &endingPage{Layout: s.layout(), Heading: s.catalog.Translate("Thank you"), Catalog: s.catalog}
	p.Style = endingStyle
	text := s.catalog.Translate("Your response has been submitted.")
	if ending := d.EndingOf(e); ending != nil {
		texts := s.interpolator(e)
		if ending.Title != "" || ending.Text != "" {
			p.Heading = cmp.Or(strings.TrimSpace(texts.Text(ending.Title, nil)), p.Heading)
			text = texts.Text(ending.Text, markdown.Quote)
		}
		if ending.ButtonURL != "" {
			p.Button = &endingButton{texts.Text(ending.ButtonLabel, nil), s.linkWithAnswers(ending.ButtonURL, e)}
		}
		if ending.EventStart != "" {
			p.Calendar = "/f/" + cmp.Or(s.form.Availability.Slug, s.form.ID) + "/calendar"
		}
		if ending.Summary {
			p.Answers = s.summary(e, texts)
		}
		if s.embedded && ending.Redirect != "" {
			// The page around the frame learns the address that it follows. Answers are for
			// sites that the owner named.
			p.Next = s.linkWithAnswers(ending.Redirect, e)
			p.Forwards = s.form.Availability.Sites != form.AnySite || p.Next == ending.Redirect
		}
	}
	var err error
	if p.Text, err = pages.markdown.Render(text); err != nil {
		return nil, err
	}
	if d.Settings.AskAgain && s.form.IsOpenAt(pages.Now()) {
		p.Again = s.address("")
	}
	return p, nil
}

// summary lists the answers that the respondent has seen.
func (s *fillSession) summary(e form.Evaluation, texts *form.Interpolator) []answer {
	var list []answer
	for _, f := range s.form.Definition.Fields {
		value, ok := e.Answers[f.Key]
		if !ok || !f.IsVisible() {
			continue
		}
		if text := s.formatAnswer(f, value); text != "" {
			list = append(list, answer{cmp.Or(texts.Text(f.Label, nil), f.Key), text})
		}
	}
	return list
}
