package web

import (
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
)

// closedPage tells people that they are early or late.
type closedPage struct {
	layout
	Heading string
	Text    string
}

func (web *Handler) closed(v *pageRequest, f store.PublicForm) error {
	a := web.newFillSession(v, f)
	p := &closedPage{layout: a.layout(), Heading: f.Header.Title, Text: a.words.translate("This form is closed and no longer accepts responses.")}
	if web.Now().Before(f.Offer.OpensAt) && f.Status == form.Open {
		p.Text = a.words.translate("This form opens on %s.", web.opening(v, f, a.words))
	}
	frameable(v, f.Offer)
	return web.render(v, fault.FormNotOpen.Status(), "closed", p)
}

// opening is when the form opens, by the clock of its owner.
func (web *Handler) opening(v *pageRequest, f store.PublicForm, w catalog) string {
	var zone string
	if owner, err := web.Store.User(v.ctx(), f.Owner); err == nil {
		zone = owner.TimeZone
	}
	at := f.Offer.OpensAt.In(zoneOf(zone))
	return at.Format(w.translate(form.DisplayDateTime)) + at.Format(" MST")
}

// ending is the page after the last one.
type endingPage struct {
	layout
	Heading string
	Text    template.HTML
	Words   catalog
	Again   string // where to answer once more
	To      string // where it goes on, out of a frame, which few pages like to be in
}

// redirectToEnding brings people to the ending of their answers.
func (web *Handler) redirectToEnding(v *pageRequest, a *fillSession, e form.Evaluation, r form.Response) error {
	if to := a.endingURL(e); to != "" && !a.embedded {
		return web.redirect(v, to)
	}
	query := url.Values{"r": {r.ID}, "k": {web.sign(v.ctx(), "done", a.form.ID, r.ID)}}
	to := a.address("/done")
	if strings.Contains(to, "?") {
		return web.redirect(v, to+"&"+query.Encode())
	}
	return web.redirect(v, to+"?"+query.Encode())
}

// endingURL is the page elsewhere that the answers lead to, or empty.
func (a *fillSession) endingURL(e form.Evaluation) string {
	d := a.form.Definition
	ending := d.EndingOf(e)
	if ending == nil {
		return ""
	}
	return d.InterpolateURL(ending.Redirect, func(f *form.Field, key string) string {
		return f.FormatAnswer(e.Answers[key], func(word string) string {
			// Programs read numbers and dates as the API has them.
			switch t := f.Traits(); word {
			case ".":
				return word
			case t.DisplayLayout:
				return t.TimeLayout
			}
			return a.words.translate(word)
		})
	})
}

// formDone is the ending; whose answers it may speak of, the link's signature says.
func (web *Handler) formDone(v *pageRequest) error {
	f, err := web.publicForm(v)
	if err != nil {
		return err
	}
	var e form.Evaluation
	query := v.r.URL.Query()
	if id := query.Get("r"); id != "" && web.signed(v.ctx(), query.Get("k"), "done", f.ID, id) {
		r, err := web.Store.Response(v.ctx(), f.Owner, f.ID, id)
		if err != nil && !errors.Is(err, fault.NotFound) {
			return err
		}
		if err == nil {
			if e, err = web.loadSubmitted(v, &f, r); err != nil {
				return err
			}
		}
	}
	p, err := web.endingPage(web.newFillSession(v, f), e)
	if err != nil {
		return err
	}
	frameable(v, f.Offer)
	return web.render(v, http.StatusOK, "ending", p)
}

// loadSubmitted is a response as it was given: the form becomes the version that it answers.
func (web *Handler) loadSubmitted(v *pageRequest, f *store.PublicForm, r form.Response) (e form.Evaluation, err error) {
	answers, err := r.Answers()
	if err != nil {
		return e, err
	}
	if f.Definition, err = web.Store.Definition(v.ctx(), f.Owner, f.ID, r.Version); err != nil {
		return e, err
	}
	e, _ = f.Definition.Revalidate(answers) // it was right when it was stored
	return e, nil
}

// endingPage is the page after the last one, for these answers.
func (web *Handler) endingPage(a *fillSession, e form.Evaluation) (*endingPage, error) {
	d := a.form.Definition
	p := &endingPage{layout: a.layout(), Heading: a.words.translate("Thank you"), Words: a.words}
	text := a.words.translate("Your response has been submitted.")
	if ending := d.EndingOf(e); ending != nil && (ending.Title != "" || ending.Text != "") {
		pipes := a.pipes(e)
		p.Heading = pipes.Text(ending.Title, nil)
		text = pipes.Text(ending.Text, quoteMarkdown)
	}
	var err error
	if p.Text, err = web.markdown.render(text); err != nil {
		return nil, err
	}
	if a.embedded {
		p.To = a.endingURL(e)
	}
	if d.Settings.AskAgain && a.form.IsOpenAt(web.Now()) {
		p.Again = a.address("")
	}
	return p, nil
}

// closedAfterStart tells that the form is closed; but who sends once more what was stored
// gets to the end of it.
func (web *Handler) closedAfterStart(v *pageRequest, a *fillSession) error {
	f, nonce := a.form, a.in.Get(keyControl)
	if _, ours := web.since(v.ctx(), f.ID, nonce); !ours {
		return web.closed(v, f)
	}
	r, err := web.Respond.Find(v.ctx(), &f, pageKey(nonce))
	if errors.Is(err, fault.NotFound) {
		return web.closed(v, f)
	}
	if err != nil {
		return err
	}
	e, err := web.loadSubmitted(v, &a.form, r)
	if err != nil {
		return err
	}
	return web.redirectToEnding(v, a, e, r)
}
