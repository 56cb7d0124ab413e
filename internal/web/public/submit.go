package public

import (
	"errors"
	"maps"
	"net/http"
	"strconv"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/respond"
	"formulary/internal/web/page"
)

// minFillTime is the least time that a respondent needs for a form. Submissions that
// arrive earlier wait until it has passed.
const minFillTime = time.Second

// AnswerForm handles the buttons of a form.
func (pages *Pages) AnswerForm(req *page.Request) error {
	if err := pages.limitAction(req); err != nil {
		return err
	}
	f, err := pages.publicForm(req)
	s := pages.newFillSession(req, f)
	if err != nil && f.Definition != nil {
		if e := pages.readPost(req, s); e != nil {
			return e
		}
		return pages.renderPageWithError(req, s, err)
	}
	if err != nil {
		return err
	}
	if err := pages.readPost(req, s); err != nil {
		return err
	}
	isSent := s.values.Get(actionControl) == "send"
	if !f.IsOpenAt(pages.Now()) {
		s.byScript = isSent
		return pages.closedAfterStart(req, s)
	}
	if err := pages.continueVersion(req, s); err != nil {
		return err
	}
	finish := func(e form.Evaluation, number int) error { return pages.finish(req, s, e, number) }
	if isSent {
		return pages.send(req, s, finish)
	}
	return pages.handlePage(req, s, finish)
}

// calculation is the result of a calculated question, for the script of the page.
type calculation struct {
	Value any    `json:"value"`
	Text  string `json:"text"`
}

// calculatedValues returns the visible results of the answers so far, by key.
func (s *fillSession) calculatedValues(e form.Evaluation) map[string]calculation {
	list := map[string]calculation{}
	for _, f := range s.form.Definition.Fields {
		if answer, ok := e.Answers[f.Key]; ok && f.Traits().Calculated && f.IsVisible() {
			list[f.Key] = calculation{answer, s.formatAnswer(f, answer)}
		}
	}
	return list
}

// handlePage renders the page that follows from the button and the answers. After the
// last page it calls finish.
func (pages *Pages) handlePage(req *page.Request, s *fillSession, finish func(e form.Evaluation, number int) error) error {
	s.addCallingCodes()
	formPages := s.screens()
	number := s.page()
	e := s.evaluate()
	switch s.values.Get(actionControl) {
	case "back":
		return pages.renderPage(req, http.StatusOK, s, previousPage(formPages, e, number))
	case countriesAction:
		s.listCountries = true
		return pages.renderPage(req, http.StatusOK, s, number)
	case "look":
		return req.SendJSON(http.StatusOK, s.calculatedValues(e))
	}
	// An answer may make another question on this page appear.
	if s.shown = s.shownBefore(); s.revealsQuestion(formPages[number], e) {
		return pages.renderPage(req, http.StatusOK, s, number)
	}
	s.shown = nil
	next, more := nextPage(formPages, e, number)
	completed := formPages
	if more {
		completed = formPages[:number+1]
	}
	if len(s.uploadProblems) > 0 {
		_, s.problems = s.firstProblem(formPages[number:number+1], e.Problems)
		if s.problems == nil {
			s.problems = page.FieldErrors{}
		}
		maps.Copy(s.problems, s.uploadProblems)
		return pages.renderPage(req, http.StatusUnprocessableEntity, s, number)
	}
	if at, list := s.firstProblem(completed, e.Problems); list != nil {
		s.problems = list
		if !formPages[at].IsVisible(e) {
			at = number // nothing on that page is visible
		}
		return pages.renderPage(req, http.StatusUnprocessableEntity, s, at)
	}
	if more {
		pages.countReached(req, s, next)
		return pages.renderPage(req, http.StatusOK, s, next)
	}
	if s.values.Get(actionControl) == continueAction {
		return pages.renderPage(req, http.StatusOK, s, number)
	}
	return finish(e, number)
}

// continueVersion continues with the version that the respondent started with. A version
// that was published since then is for respondents who start later.
func (pages *Pages) continueVersion(req *page.Request, s *fillSession) error {
	started, err := strconv.ParseInt(s.values.Get(versionControl), 10, 64)
	if err != nil || started < 1 || started >= s.form.Version {
		return nil
	}
	d, err := pages.Store.Definition(req.Context(), s.form.Owner, s.form.ID, started)
	if errors.Is(err, fault.NotFound) {
		return nil
	}
	s.form.Definition, s.form.Version, s.screenList, s.earlier = d, started, nil, true
	return err
}

// pageKey is the idempotency key of a page: submitting it twice stores one response.
func pageKey(nonce string) respond.Key { return respond.Key{Sender: "page", Value: nonce} }

// finish stores the response and redirects to the ending.
func (pages *Pages) finish(req *page.Request, s *fillSession, e form.Evaluation, number int) error {
	now := pages.Now()
	nonce := s.values.Get(keyControl)
	since, ours := pages.nonceTime(req.Context(), s.form.ID, nonce)
	switch {
	case s.values.Get(honeypotControl) != "":
		// Pretend success, so that bots do not adapt.
		return s.redirect(req, s.address("/done"))
	case !ours:
		return pages.reviewAnswers(req, s, number)
	}
	if err := pages.Respond.Admit(pages.Address(req.Request), nil); err != nil {
		return pages.renderPageWithError(req, s, err)
	}
	if wait := minFillTime - now.Sub(since); wait > 0 {
		select {
		case <-time.After(min(wait, minFillTime)):
		case <-req.Context().Done():
			return req.Context().Err()
		}
	}
	asked := s.form
	r, err := pages.Respond.Submit(req.Context(), respond.Submission{
		Form: &asked, Evaluated: &e, Key: pageKey(nonce), At: now,
		Metadata: form.Metadata{Source: "page", Seconds: int64(max(0, now.Sub(since).Seconds()))},
	})
	switch code := fault.Wrap(err).Code; {
	case err == nil:
		pages.countFinished(req, s, since, now, r)
		return pages.redirectToEnding(req, s, e, r)
	case code == fault.FormNotOpen:
		return pages.showClosed(req, s.form)
	case code == fault.IdempotencyKeyReused:
		// The respondent went back after submitting, changed answers and submitted again.
		return pages.reviewAnswers(req, s, number)
	case code == fault.Invalid:
		if at, list := s.firstProblem(s.screens(), fault.Wrap(err).Details); list != nil {
			s.problems = list
			s.dropFiles(list)
			return pages.renderPage(req, http.StatusUnprocessableEntity, s, at)
		}
		return err
	case code == fault.DatabaseUnreachable || code == fault.QuotaReached:
		return pages.renderPageWithError(req, s, err)
	}
	return err
}

// reviewAnswers shows the page again with a new nonce, to be submitted once more.
func (pages *Pages) reviewAnswers(req *page.Request, s *fillSession, number int) error {
	s.values.Del(keyControl)
	s.notice = s.catalog.Translate("Check your answers, then submit them.")
	return pages.renderPage(req, http.StatusUnprocessableEntity, s, number)
}

// renderPageWithError returns the answers to the respondent if they could not be stored.
func (pages *Pages) renderPageWithError(req *page.Request, s *fillSession, err error) error {
	e := fault.Wrap(err)
	if e.RetryAfter > 0 {
		req.W.Header().Set("Retry-After", strconv.Itoa(e.RetryAfter))
	}
	if e.Code == fault.QuotaReached {
		pages.Site.Log.Warn("quota reached", "account", s.form.Owner, "form", s.form.ID)
		s.notice = s.catalog.Translate("This form can’t accept more responses right now. Your answers are still here.")
	} else if e.Code == fault.DatabaseUnreachable {
		pages.Site.Log.Error("could not store response", "error", err, "path", req.URL.Path, "request_id", req.W.Header().Get("X-Request-Id"))
		s.notice = s.catalog.Translate("We couldn’t save your response. Your answers are still here. Submit them again in a moment.")
	} else {
		s.notice = s.catalog.Translate("There are too many responses from your network right now. Your answers are still here. Submit them again in a minute.")
	}
	s.values = req.PostForm
	return pages.renderPage(req, e.Code.Status(), s, s.page())
}

// firstProblem returns the first page with a problem, and the problems on it.
func (s *fillSession) firstProblem(formPages []form.Page, details []fault.Detail) (int, page.FieldErrors) {
	byField := map[string]fault.Detail{}
	for _, d := range details {
		if _, ok := byField[d.Field]; !ok {
			byField[d.Field] = d
		}
	}
	for i := range formPages {
		list := page.FieldErrors{}
		for _, f := range formPages[i].Fields {
			if d, ok := byField[f.Key]; ok {
				list[f.Key] = d.Localize(s.catalog)
			}
		}
		if len(list) > 0 {
			return i, list
		}
	}
	return 0, nil
}

// nextPage returns the next visible page, or false after the last one.
func nextPage(formPages []form.Page, e form.Evaluation, number int) (int, bool) {
	for i := number + 1; i < len(formPages); i++ {
		if formPages[i].IsVisible(e) {
			return i, true
		}
	}
	return number, false
}

// previousPage returns the visible page before this one, or the first page.
func previousPage(formPages []form.Page, e form.Evaluation, number int) int {
	for i := number - 1; i >= 0; i-- {
		if formPages[i].IsVisible(e) {
			return i
		}
	}
	return 0
}
