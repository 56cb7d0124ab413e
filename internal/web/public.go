package web

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/limit"
	"formulary/internal/store"
)

// Names of the page's own controls; a field's key cannot begin so.
const (
	pageControl    = "_page"    // the number of the page that was filled in
	seenControl    = "_seen"    // the keys that were on it
	goControl      = "_go"      // next, back, look
	onceControl    = "_once"    // the nonce
	versionControl = "_version" // of the form that was asked
	trapControl    = "_website" // people do not see it, and so leave it empty
)

// quickest is how long it takes people, at least, to answer anything. What comes
// sooner waits for so long.
const quickest = time.Second

var errNoForm = fault.New(fault.NoResource, "We can’t find this form. It may have been deleted, or the link may be incomplete.")

// publicForm finds the form, as it was published last. It is the visit's own: that may
// go on with an earlier version.
func (web *Web) publicForm(v *visit) (store.PublicForm, error) {
	address := v.r.PathValue("id")
	f, err := web.Store.PublicForm(v.ctx(), address)
	if err == nil && f.Version == 0 || errors.Is(err, fault.NotFound) {
		err = errNoForm
	}
	if err != nil {
		// The database is away: what was known of the form last is enough to
		// give people back what they typed.
		if known, ok := web.lastKnown.get(address); ok && fault.From(err).Code == fault.DatabaseUnreachable {
			return known, err
		}
		return store.PublicForm{}, err
	}
	web.lastKnown.put(address, *f)
	return *f, nil
}

// showForm begins: answers may come with the link, by their keys.
func (web *Web) showForm(v *visit) error {
	f, err := web.publicForm(v)
	if err != nil {
		return err
	}
	if !f.OpenAt(web.Now()) {
		return web.closed(v, f)
	}
	query := v.r.URL.RawQuery
	plain := query == "" || query == embedQuery
	if plain {
		if b, ok := web.begun.At(f.Mark, beginningOf(f, query)); ok {
			return web.begin(v, f, b)
		}
	}
	a := web.asking(v, f)
	if plain && !a.personal() {
		b, err := web.drawBeginning(v, a)
		if err != nil {
			return err
		}
		if size := b.size(); size <= maxBegun/4 {
			web.begun.Put(beginningOf(f, query), f.Mark, b, size)
		}
		return web.begin(v, f, b)
	}
	if err := web.pressed(v); err != nil {
		return err
	}
	in := url.Values{}
	for name, values := range v.r.URL.Query() {
		if key, _, _ := strings.Cut(name, "."); f.Definition.Field(key) != nil {
			in[name] = values
		}
	}
	a.in = in
	for name := range in {
		a.localise(name)
	}
	return web.ask(v, http.StatusOK, a, 0)
}

// pressed counts what costs about as much as a submission without being one: every
// press of a button of a form, every look at its calculations, and a first page that
// is made for one person. They have an allowance of their own, as people who type
// should not use up their submissions.
func (web *Web) pressed(v *visit) error {
	if _, wait, ok := web.Presses.Take(limit.Network(web.Address(v.r))); !ok {
		return fault.TooManyRequests(limit.Seconds(wait))
	}
	return nil
}

func (web *Web) answerForm(v *visit) error {
	if err := web.pressed(v); err != nil {
		return err
	}
	f, err := web.publicForm(v)
	a := web.asking(v, f)
	if err != nil && f.Definition != nil {
		return web.askAgain(v, a, err)
	}
	if err != nil {
		return err
	}
	a.in = v.r.PostForm
	if !f.OpenAt(web.Now()) {
		return web.tooLate(v, a)
	}
	if err := web.sameVersion(v, a); err != nil {
		return err
	}
	return web.turn(v, a, func(e form.Evaluation, number int) error { return web.finish(v, a, e, number) })
}

// result is something calculated, for the page to show and to decide by.
type result struct {
	Value any    `json:"value"`
	Text  string `json:"text"`
}

// workedOut is what is calculated from the answers so far, by the key.
func (a *asking) workedOut(e form.Evaluation) map[string]result {
	list := map[string]result{}
	for _, f := range a.form.Definition.Fields {
		if answer, ok := e.Answers[f.Key]; ok && f.Kind == "calculated" && f.Seen() {
			list[f.Key] = result{answer, a.tell(f, answer)}
		}
	}
	return list
}

// turn goes to the page that what was sent leads to; after the last one, finish
// takes over.
func (web *Web) turn(v *visit, a *asking, finish func(e form.Evaluation, number int) error) error {
	pages := a.form.Definition.Pages()
	number := a.page()
	e := a.evaluate()
	switch a.in.Get(goControl) {
	case "back":
		return web.ask(v, http.StatusOK, a, before(pages, e, number))
	case "look":
		return web.sendJSON(v, http.StatusOK, a.workedOut(e))
	}
	// An answer may have brought a question onto this very page.
	a.seen = map[string]bool{}
	for key := range strings.SplitSeq(a.in.Get(seenControl), ",") {
		if a.form.Definition.Field(key) != nil {
			a.seen[key] = true
		}
	}
	if slices.ContainsFunc(pages[number].Fields, func(field *form.Field) bool {
		return e.Shown[field.Key] && field.Seen() && !a.seen[field.Key]
	}) {
		return web.ask(v, http.StatusOK, a, number)
	}
	a.seen = nil
	next, more := after(pages, e, number)
	so := pages
	if more {
		so = pages[:number+1]
	}
	if at, list := web.firstProblem(a, so, e.Problems); list != nil {
		a.problems = list
		if !pages[at].Shown(e) {
			at = number // nothing of it can be seen
		}
		return web.ask(v, http.StatusUnprocessableEntity, a, at)
	}
	if more {
		return web.ask(v, http.StatusOK, a, next)
	}
	return finish(e, number)
}

// sameVersion goes on with the version that the person began with: what is
// published meanwhile is for those who come later.
func (web *Web) sameVersion(v *visit, a *asking) error {
	begun, err := strconv.ParseInt(a.in.Get(versionControl), 10, 64)
	if err != nil || begun < 1 || begun >= a.form.Version {
		return nil
	}
	d, err := web.Store.Definition(v.ctx(), a.form.Owner, a.form.ID, begun)
	if errors.Is(err, fault.NotFound) {
		return nil
	}
	a.form.Definition, a.form.Version = d, begun
	return err
}

// finish stores the answers and leads on.
func (web *Web) finish(v *visit, a *asking, e form.Evaluation, number int) error {
	now := web.Now()
	nonce := a.in.Get(onceControl)
	since, ours := web.since(v.ctx(), a.form.ID, nonce)
	switch {
	case a.in.Get(trapControl) != "":
		// A program filled in what nobody sees. It need not know.
		return web.redirect(v, a.address("/done"))
	case !ours:
		a.in.Del(onceControl)
		a.notice = a.words.say("Check your answers, then submit them.")
		return web.ask(v, http.StatusUnprocessableEntity, a, number)
	}
	if web.Submissions != nil {
		if _, wait, ok := web.Submissions.Take(limit.Network(web.Address(v.r))); !ok {
			return web.askAgain(v, a, fault.TooManyRequests(limit.Seconds(wait)))
		}
	}
	if wait := quickest - now.Sub(since); wait > 0 {
		select {
		case <-time.After(min(wait, quickest)):
		case <-v.ctx().Done():
			return v.ctx().Err()
		}
	}
	text, err := a.form.Definition.Encode(e.Answers)
	if err != nil {
		return err
	}
	asked := a.form
	r, err := web.Store.AddResponse(v.ctx(), store.Submission{
		Form: &asked, Answers: e.Answers, At: now,
		Metadata: form.Metadata{Source: "page", Seconds: int64(max(0, now.Sub(since).Seconds()))},
		Once:     store.Once{App: "page/" + a.form.ID, Key: nonce, Hash: account.Hash(string(text))},
	})
	switch code := fault.From(err).Code; {
	case err == nil:
		return web.lead(v, a, e, r)
	case code == fault.FormNotOpen:
		return web.closed(v, a.form)
	case code == fault.KeyReused:
		// Sent, gone back, changed and sent again: those are other answers.
		a.in.Del(onceControl)
		a.notice = a.words.say("Check your answers, then submit them.")
		return web.ask(v, http.StatusUnprocessableEntity, a, number)
	case code == fault.Invalid:
		if at, list := web.firstProblem(a, a.form.Definition.Pages(), fault.From(err).Details); list != nil {
			a.problems = list
			return web.ask(v, http.StatusUnprocessableEntity, a, at)
		}
		return err
	case code == fault.DatabaseUnreachable || code == fault.QuotaReached:
		return web.askAgain(v, a, err)
	}
	return err
}

// askAgain gives people back what they typed when it could not be stored.
func (web *Web) askAgain(v *visit, a *asking, err error) error {
	e := fault.From(err)
	if e.RetryAfter > 0 {
		v.w.Header().Set("Retry-After", strconv.Itoa(e.RetryAfter))
	}
	if e.Code == fault.QuotaReached {
		web.Log.Warn("quota reached", "account", a.form.Owner, "form", a.form.ID)
		a.notice = a.words.say("This form can’t accept more responses right now. Your answers are still here.")
	} else if e.Code == fault.DatabaseUnreachable {
		web.Log.Error("could not store response", "error", err, "path", v.r.URL.Path, "request_id", v.w.Header().Get("X-Request-Id"))
		a.notice = a.words.say("We couldn’t save your response. Your answers are still here. Submit them again in a moment.")
	} else {
		a.notice = a.words.say("There are too many responses from your network right now. Your answers are still here. Submit them again in a minute.")
	}
	a.in = v.r.PostForm
	return web.ask(v, e.Code.Status(), a, a.page())
}

// firstProblem finds the first page on which something is wrong, and what.
func (web *Web) firstProblem(a *asking, pages []form.Page, details []fault.Detail) (int, problems) {
	wrong := map[string]fault.Detail{}
	for _, d := range details {
		if _, ok := wrong[d.Field]; !ok {
			wrong[d.Field] = d
		}
	}
	for i, page := range pages {
		list := problems{}
		for _, f := range page.Fields {
			if d, ok := wrong[f.Key]; ok {
				list[f.Key] = a.words.problem(d)
			}
		}
		if len(list) > 0 {
			return i, list
		}
	}
	return 0, nil
}

// after is the next page that is shown; before is the one that was.
func after(pages []form.Page, e form.Evaluation, number int) (int, bool) {
	for i := number + 1; i < len(pages); i++ {
		if pages[i].Shown(e) {
			return i, true
		}
	}
	return number, false
}

func before(pages []form.Page, e form.Evaluation, number int) int {
	for i := number - 1; i >= 0; i-- {
		if pages[i].Shown(e) {
			return i
		}
	}
	return 0
}
