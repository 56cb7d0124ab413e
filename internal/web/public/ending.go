package public

import (
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
	Heading string
	Text    template.HTML
	Catalog locale.Catalog
	Again   string // address to submit another response, or empty
	Next    string // address of the redirect, for a link out of the frame
}

// endingStyle is the style sheet of pages that follow a form or replace it.
const endingStyle = "form-ending.css"

// redirectToEnding redirects to the ending that follows from the answers.
func (pages *Pages) redirectToEnding(req *page.Request, s *fillSession, e form.Evaluation, r form.Response) error {
	if to := s.endingURL(e); to != "" && !s.embedded {
		return s.redirect(req, to)
	}
	query := url.Values{"r": {r.ID}, "k": {pages.sign(req.Context(), "done", s.form.ID, r.ID)}}
	to := s.address("/done")
	if strings.Contains(to, "?") {
		return s.redirect(req, to+"&"+query.Encode())
	}
	return s.redirect(req, to+"?"+query.Encode())
}

// endingURL is the URL that the ending redirects to, or empty.
func (s *fillSession) endingURL(e form.Evaluation) string {
	d := s.form.Definition
	ending := d.EndingOf(e)
	if ending == nil {
		return ""
	}
	return d.InterpolateURL(ending.Redirect, func(f *form.Field, key string) string {
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
// others cannot read them.
func (pages *Pages) ShowEnding(req *page.Request) error {
	f, err := pages.publicForm(req)
	if err != nil {
		return err
	}
	var e form.Evaluation
	query := req.URL.Query()
	if id := query.Get("r"); id != "" && pages.isSigned(req.Context(), query.Get("k"), "done", f.ID, id) {
		r, err := pages.Store.Response(req.Context(), f.Owner, f.ID, id)
		if err != nil && !errors.Is(err, fault.NotFound) {
			return err
		}
		if err == nil {
			if e, err = pages.loadSubmitted(req, &f, r); err != nil {
				return err
			}
		}
	}
	p, err := pages.newEndingPage(pages.newFillSession(req, f), e)
	if err != nil {
		return err
	}
	allowFrames(req, f.Availability)
	return pages.templates.Render(req, http.StatusOK, "ending", p)
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
	if ending := d.EndingOf(e); ending != nil && (ending.Title != "" || ending.Text != "") {
		texts := s.interpolator(e)
		p.Heading = texts.Text(ending.Title, nil)
		text = texts.Text(ending.Text, markdown.Quote)
	}
	var err error
	if p.Text, err = pages.markdown.Render(text); err != nil {
		return nil, err
	}
	if s.embedded {
		p.Next = s.endingURL(e)
	}
	if d.Settings.AskAgain && s.form.IsOpenAt(pages.Now()) {
		p.Again = s.address("")
	}
	return p, nil
}
