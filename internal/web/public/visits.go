package public

import (
	"strconv"
	"strings"
	"time"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// Forms count how far respondents get: sums per day, without cookies and without anything
// about a single visit. docs/forms.md says what is counted.

// reachedControl has the number of the last screen that was reached, on a page to which the
// respondent went back. So continuing from there is not counted again.
const reachedControl = "_reached"

// isCounted reports whether requests for the form count as visits. Browsers call themselves
// Mozilla, crawlers that do too add their address. Pages that are loaded in advance may never
// be seen.
func isCounted(req *page.Request, f *store.PublicForm) bool {
	if f.Definition.Settings.ForgetVisits || len(req.Header["Sec-Purpose"]) > 0 {
		return false
	}
	agent := req.Header.Get("User-Agent")
	return strings.HasPrefix(agent, "Mozilla/") && !strings.Contains(agent, "+http")
}

// countOpened counts that the first page was opened.
func (pages *Pages) countOpened(req *page.Request, f *store.PublicForm) {
	if req.Method == "GET" && isCounted(req, f) {
		pages.Store.CountVisit(f, pages.Now(), store.Visit{Kind: store.VisitOpened, Part: f.Definition.FirstScreenID(f.Header.Description)})
	}
}

// isCountedVisit reports whether what the respondent does is counted. It is not in earlier
// versions, so that strangers cannot fill the database with counts of all of them.
func isCountedVisit(req *page.Request, s *fillSession) bool {
	return !s.preview && s.edit == nil && !s.earlier && isCounted(req, &s.form)
}

// countReached counts that a screen is shown, unless the respondent was there before.
func (pages *Pages) countReached(req *page.Request, s *fillSession, next int) {
	last := s.reached()
	if next <= last || !isCountedVisit(req, s) {
		return
	}
	if _, ours := pages.nonceTime(req.Context(), s.form.ID, s.values.Get(keyControl)); ours {
		pages.Store.CountVisit(&s.form, pages.Now(), store.Visit{Kind: store.VisitPassed, Part: s.screenID(last)}, store.Visit{Kind: store.VisitReached, Part: s.screenID(next)})
	}
}

// countFinished counts a response that was submitted at a time. If it was stored before, the
// submission repeats an earlier one, and nothing is counted.
func (pages *Pages) countFinished(req *page.Request, s *fillSession, opened, submitted time.Time, r form.Response) {
	if r.SubmittedAt.Before(submitted.Truncate(time.Millisecond)) || !isCountedVisit(req, s) {
		return
	}
	bucket := strconv.Itoa(form.FillTimeBucket(submitted.Sub(opened)))
	pages.Store.CountVisit(&s.form, submitted, store.Visit{Kind: store.VisitPassed, Part: s.screenID(s.reached())},
		store.Visit{Kind: store.VisitFinished}, store.Visit{Kind: store.VisitTime, Part: bucket})
}

// reached is the number of the last screen that the respondent reached.
func (s *fillSession) reached() int {
	last, err := strconv.Atoi(s.values.Get(reachedControl))
	if err != nil || last < 0 || last >= len(s.screens()) {
		last = 0
	}
	return max(last, s.page())
}

// addReached adds how far the respondent was to a screen before that.
func (s *fillSession) addReached(list []hiddenInput, number int) []hiddenInput {
	if last := s.reached(); last > number && s.edit == nil {
		list = append(list, hiddenInput{reachedControl, strconv.Itoa(last)})
	}
	return list
}

func (s *fillSession) screenID(number int) string {
	return s.form.Definition.ScreenID(s.screens()[number])
}
