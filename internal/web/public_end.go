package web

import (
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

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

func (web *Web) closed(v *visit, f store.PublicForm) error {
	a := web.asking(v, f)
	p := &closedPage{layout: a.layout(), Heading: f.Head.Title, Text: a.words.say("This form is closed and no longer accepts responses.")}
	if web.Now().Before(f.Offer.OpensAt) && f.Status == form.Open {
		p.Text = a.words.say("This form opens on %s.", web.opening(v, f, a.words))
	}
	frameable(v, f.Offer)
	return web.render(v, fault.FormNotOpen.Status(), "closed", p)
}

// opening is when the form opens, by the clock of its owner.
func (web *Web) opening(v *visit, f store.PublicForm, w words) string {
	var zone string
	if owner, err := web.Store.Person(v.ctx(), f.Owner); err == nil {
		zone = owner.TimeZone
	}
	at := f.Offer.OpensAt.In(zoneOf(zone))
	return at.Format(w.say(form.SpokenDateTime)) + at.Format(" MST")
}

// ending is the page after the last one.
type endingPage struct {
	layout
	Heading string
	Text    template.HTML
	Words   words
	Again   string // where to answer once more
	To      string // where it goes on, out of a frame, which few pages like to be in
}

// lead brings people to the ending of their answers.
func (web *Web) lead(v *visit, a *asking, e form.Evaluation, r form.Response) error {
	if to := a.leadsTo(e); to != "" && !a.embedded {
		return web.redirect(v, to)
	}
	query := url.Values{"r": {r.ID}, "k": {web.sign(v.ctx(), "done", a.form.ID, r.ID)}}
	to := a.address("/done")
	if strings.Contains(to, "?") {
		return web.redirect(v, to+"&"+query.Encode())
	}
	return web.redirect(v, to+"?"+query.Encode())
}

// leadsTo is the page elsewhere that the answers lead to, or empty.
func (a *asking) leadsTo(e form.Evaluation) string {
	d := a.form.Definition
	ending := d.EndingOf(e)
	if ending == nil {
		return ""
	}
	return d.PipedURL(ending.Redirect, func(f *form.Field, key string) string {
		return f.Say(e.Answers[key], func(word string) string {
			// Programs read numbers and dates as the API has them.
			switch word {
			case ".":
				return word
			case form.SpokenDate:
				return time.DateOnly
			case form.SpokenDateTime:
				return "2006-01-02T15:04"
			}
			return a.words.say(word)
		})
	})
}

// formDone is the ending; whose answers it may speak of, the link's signature says.
func (web *Web) formDone(v *visit) error {
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
			if e, err = web.recall(v, &f, r); err != nil {
				return err
			}
		}
	}
	p, err := web.endingPage(web.asking(v, f), e)
	if err != nil {
		return err
	}
	frameable(v, f.Offer)
	return web.render(v, http.StatusOK, "done", p)
}

// recall is a response as it was given: the form becomes the version that it answers.
func (web *Web) recall(v *visit, f *store.PublicForm, r form.Response) (e form.Evaluation, err error) {
	answers, err := r.Answers()
	if err != nil {
		return e, err
	}
	if f.Definition, err = web.Store.Definition(v.ctx(), f.Owner, f.ID, r.Version); err != nil {
		return e, err
	}
	e, _ = f.Definition.Recheck(answers) // it was right when it was stored
	return e, nil
}

// endingPage is the page after the last one, for these answers.
func (web *Web) endingPage(a *asking, e form.Evaluation) (*endingPage, error) {
	d := a.form.Definition
	p := &endingPage{layout: a.layout(), Heading: a.words.say("Thank you"), Words: a.words}
	text := a.words.say("Your response has been submitted.")
	if ending := d.EndingOf(e); ending != nil && (ending.Title != "" || ending.Text != "") {
		pipes := a.pipes(e)
		p.Heading = pipes.Text(ending.Title, nil)
		text = pipes.Text(ending.Text, quoteMarkdown)
	}
	var err error
	if p.Text, err = web.markdown.draw(text); err != nil {
		return nil, err
	}
	if a.embedded {
		p.To = a.leadsTo(e)
	}
	if d.Settings.AskAgain && a.form.OpenAt(web.Now()) {
		p.Again = a.address("")
	}
	return p, nil
}

// tooLate tells that the form is closed; but who sends once more what was stored
// gets to the end of it.
func (web *Web) tooLate(v *visit, a *asking) error {
	f, nonce := a.form, a.in.Get(onceControl)
	if _, ours := web.since(v.ctx(), f.ID, nonce); !ours {
		return web.closed(v, f)
	}
	r, found, err := web.Store.Sent(v.ctx(), f.Owner, f.ID, store.Once{App: "page/" + f.ID, Key: nonce})
	if errors.Is(err, fault.NotFound) || err == nil && !found {
		return web.closed(v, f)
	}
	if err != nil {
		return err
	}
	e, err := web.recall(v, &a.form, r)
	if err != nil {
		return err
	}
	return web.lead(v, a, e, r)
}
