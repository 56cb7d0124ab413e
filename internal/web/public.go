package web

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/limit"
	"formulary/internal/respond"
	"formulary/internal/store"
)

// Names of the page's own controls; a field's key cannot begin so.
const (
	pageControl     = "_page"    // the number of the page that was filled in
	shownControl    = "_shown"   // the keys that were on it
	actionControl   = "_action"  // next, back, look
	keyControl      = "_key"     // the nonce
	versionControl  = "_version" // of the form that was asked
	honeypotControl = "_website" // people do not see it, and so leave it empty
)

// minFillTime is how long it takes people, at least, to answer anything. What comes
// sooner waits for so long.
const minFillTime = time.Second

var errNoForm = fault.New(fault.NotFoundInAccount, "We can’t find this form. It may have been deleted, or the link may be incomplete.")

// publicForm finds the form, as it was published last. It is the visit's own: that may
// go on with an earlier version.
func (web *Handler) publicForm(v *pageRequest) (store.PublicForm, error) {
	address := v.r.PathValue("id")
	f, err := web.Store.PublicForm(v.ctx(), address)
	if err == nil && f.Version == 0 || errors.Is(err, fault.NotFound) {
		err = errNoForm
	}
	if err != nil {
		// The database is away: what was known of the form last is enough to
		// give people back what they typed.
		if known, ok := web.lastKnown.get(address); ok && fault.Wrap(err).Code == fault.DatabaseUnreachable {
			return known, err
		}
		return store.PublicForm{}, err
	}
	web.lastKnown.put(address, *f)
	return *f, nil
}

// showForm begins: answers may come with the link, by their keys.
func (web *Handler) showForm(v *pageRequest) error {
	f, err := web.publicForm(v)
	if err != nil {
		return err
	}
	if !f.IsOpenAt(web.Now()) {
		return web.closed(v, f)
	}
	query := v.r.URL.RawQuery
	plain := query == "" || query == embedQuery
	if plain {
		if b, ok := web.begun.GetAt(f.Generation, firstPageKey(f, query)); ok {
			return web.serveFirstPage(v, f, b)
		}
	}
	a := web.newFillSession(v, f)
	if plain && !a.personal() {
		b, err := web.renderFirstPage(v, a)
		if err != nil {
			return err
		}
		if size := b.size(); size <= maxFirstPages/4 {
			web.begun.Put(firstPageKey(f, query), f.Generation, b, size)
		}
		return web.serveFirstPage(v, f, b)
	}
	if err := web.limitAction(v); err != nil {
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
	return web.renderPage(v, http.StatusOK, a, 0)
}

// limitAction counts what costs about as much as a submission without being one: every
// press of a button of a form, every look at its calculations, and a first page that
// is made for one person. They have an allowance of their own, as people who type
// should not use up their submissions.
func (web *Handler) limitAction(v *pageRequest) error {
	if _, wait, ok := web.Actions.Allow(limit.ClientNetwork(web.Address(v.r))); !ok {
		return fault.TooManyRequests(limit.RetryAfterSeconds(wait))
	}
	return nil
}

func (web *Handler) answerForm(v *pageRequest) error {
	if err := web.limitAction(v); err != nil {
		return err
	}
	f, err := web.publicForm(v)
	a := web.newFillSession(v, f)
	if err != nil && f.Definition != nil {
		return web.renderPageWithError(v, a, err)
	}
	if err != nil {
		return err
	}
	a.in = v.r.PostForm
	if !f.IsOpenAt(web.Now()) {
		return web.closedAfterStart(v, a)
	}
	if err := web.sameVersion(v, a); err != nil {
		return err
	}
	return web.handlePage(v, a, func(e form.Evaluation, number int) error { return web.finish(v, a, e, number) })
}

// result is something calculated, for the page to show and to decide by.
type result struct {
	Value any    `json:"value"`
	Text  string `json:"text"`
}

// calculatedValues is what is calculated from the answers so far, by the key.
func (a *fillSession) calculatedValues(e form.Evaluation) map[string]result {
	list := map[string]result{}
	for _, f := range a.form.Definition.Fields {
		if answer, ok := e.Answers[f.Key]; ok && f.Traits().Calculated && f.IsVisible() {
			list[f.Key] = result{answer, a.formatAnswer(f, answer)}
		}
	}
	return list
}

// handlePage goes to the page that what was sent leads to; after the last one, finish
// takes over.
func (web *Handler) handlePage(v *pageRequest, a *fillSession, finish func(e form.Evaluation, number int) error) error {
	pages := a.form.Definition.Pages()
	number := a.page()
	e := a.evaluate()
	switch a.in.Get(actionControl) {
	case "back":
		return web.renderPage(v, http.StatusOK, a, before(pages, e, number))
	case "look":
		return web.sendJSON(v, http.StatusOK, a.calculatedValues(e))
	}
	// An answer may have brought a question onto this very page.
	a.seen = map[string]bool{}
	for key := range strings.SplitSeq(a.in.Get(shownControl), ",") {
		if a.form.Definition.Field(key) != nil {
			a.seen[key] = true
		}
	}
	if slices.ContainsFunc(pages[number].Fields, func(field *form.Field) bool {
		return e.Shown[field.Key] && field.IsVisible() && !a.seen[field.Key]
	}) {
		return web.renderPage(v, http.StatusOK, a, number)
	}
	a.seen = nil
	next, more := after(pages, e, number)
	so := pages
	if more {
		so = pages[:number+1]
	}
	if at, list := web.firstProblem(a, so, e.Problems); list != nil {
		a.problems = list
		if !pages[at].IsVisible(e) {
			at = number // nothing of it can be seen
		}
		return web.renderPage(v, http.StatusUnprocessableEntity, a, at)
	}
	if more {
		return web.renderPage(v, http.StatusOK, a, next)
	}
	return finish(e, number)
}

// sameVersion goes on with the version that the person began with: what is
// published meanwhile is for those who come later.
func (web *Handler) sameVersion(v *pageRequest, a *fillSession) error {
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

// pageKey makes sending a page twice store one response.
func pageKey(nonce string) respond.Key { return respond.Key{Sender: "page", Value: nonce} }

// finish stores the answers and leads on.
func (web *Handler) finish(v *pageRequest, a *fillSession, e form.Evaluation, number int) error {
	now := web.Now()
	nonce := a.in.Get(keyControl)
	since, ours := web.since(v.ctx(), a.form.ID, nonce)
	switch {
	case a.in.Get(honeypotControl) != "":
		// A program filled in what nobody sees. It need not know.
		return web.redirect(v, a.address("/done"))
	case !ours:
		a.in.Del(keyControl)
		a.notice = a.words.translate("Check your answers, then submit them.")
		return web.renderPage(v, http.StatusUnprocessableEntity, a, number)
	}
	if err := web.Respond.Admit(web.Address(v.r), nil); err != nil {
		return web.renderPageWithError(v, a, err)
	}
	if wait := minFillTime - now.Sub(since); wait > 0 {
		select {
		case <-time.After(min(wait, minFillTime)):
		case <-v.ctx().Done():
			return v.ctx().Err()
		}
	}
	asked := a.form
	r, err := web.Respond.Submit(v.ctx(), respond.Submission{
		Form: &asked, Evaluated: &e, Key: pageKey(nonce), At: now,
		Metadata: form.Metadata{Source: "page", Seconds: int64(max(0, now.Sub(since).Seconds()))},
	})
	switch code := fault.Wrap(err).Code; {
	case err == nil:
		return web.redirectToEnding(v, a, e, r)
	case code == fault.FormNotOpen:
		return web.closed(v, a.form)
	case code == fault.IdempotencyKeyReused:
		// Sent, gone back, changed and sent again: those are other answers.
		a.in.Del(keyControl)
		a.notice = a.words.translate("Check your answers, then submit them.")
		return web.renderPage(v, http.StatusUnprocessableEntity, a, number)
	case code == fault.Invalid:
		if at, list := web.firstProblem(a, a.form.Definition.Pages(), fault.Wrap(err).Details); list != nil {
			a.problems = list
			return web.renderPage(v, http.StatusUnprocessableEntity, a, at)
		}
		return err
	case code == fault.DatabaseUnreachable || code == fault.QuotaReached:
		return web.renderPageWithError(v, a, err)
	}
	return err
}

// renderPageWithError gives people back what they typed when it could not be stored.
func (web *Handler) renderPageWithError(v *pageRequest, a *fillSession, err error) error {
	e := fault.Wrap(err)
	if e.RetryAfter > 0 {
		v.w.Header().Set("Retry-After", strconv.Itoa(e.RetryAfter))
	}
	if e.Code == fault.QuotaReached {
		web.Log.Warn("quota reached", "account", a.form.Owner, "form", a.form.ID)
		a.notice = a.words.translate("This form can’t accept more responses right now. Your answers are still here.")
	} else if e.Code == fault.DatabaseUnreachable {
		web.Log.Error("could not store response", "error", err, "path", v.r.URL.Path, "request_id", v.w.Header().Get("X-Request-Id"))
		a.notice = a.words.translate("We couldn’t save your response. Your answers are still here. Submit them again in a moment.")
	} else {
		a.notice = a.words.translate("There are too many responses from your network right now. Your answers are still here. Submit them again in a minute.")
	}
	a.in = v.r.PostForm
	return web.renderPage(v, e.Code.Status(), a, a.page())
}

// firstProblem finds the first page on which something is wrong, and what.
func (web *Handler) firstProblem(a *fillSession, pages []form.Page, details []fault.Detail) (int, fieldErrors) {
	wrong := map[string]fault.Detail{}
	for _, d := range details {
		if _, ok := wrong[d.Field]; !ok {
			wrong[d.Field] = d
		}
	}
	for i, page := range pages {
		list := fieldErrors{}
		for _, f := range page.Fields {
			if d, ok := wrong[f.Key]; ok {
				list[f.Key] = d.Localize(a.words.word)
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
		if pages[i].IsVisible(e) {
			return i, true
		}
	}
	return number, false
}

func before(pages []form.Page, e form.Evaluation, number int) int {
	for i := number - 1; i >= 0; i-- {
		if pages[i].IsVisible(e) {
			return i
		}
	}
	return 0
}
