package public

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"formulary/internal/fault"
	"formulary/internal/limit"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// Names of the page's own controls. The key of a field cannot start with an underscore.
const (
	pageControl     = "_page"    // number of the page that was filled in
	shownControl    = "_shown"   // keys of the questions that were on it
	actionControl   = "_action"  // next, continue, back, countries, look, send
	keyControl      = "_key"     // the nonce
	versionControl  = "_version" // of the form
	honeypotControl = "_website" // invisible, so people leave it empty
)

var errNoForm = fault.New(fault.NotFoundInAccount, "We can’t find this form. It may have been deleted, or the link may be incomplete.")

// publicForm returns the live version of the form. It returns a copy, because a request
// may continue with an earlier version. If the database is unreachable, it returns an
// error together with the last known form, which is enough to give respondents back what
// they typed.
func (pages *Pages) publicForm(req *page.Request) (store.PublicForm, error) {
	address := req.PathValue("id")
	f, err := pages.Store.PublicForm(req.Context(), address)
	if err == nil && f.Version == 0 || errors.Is(err, fault.NotFound) {
		err = errNoForm
	}
	if err != nil {
		if known, ok := pages.fallback.get(address); ok && fault.Wrap(err).Code == fault.DatabaseUnreachable {
			return known, err
		}
		return store.PublicForm{}, err
	}
	pages.fallback.put(address, *f)
	return *f, nil
}

// ShowForm shows the first page. The link may carry answers, by the keys of questions.
func (pages *Pages) ShowForm(req *page.Request) error {
	f, err := pages.publicForm(req)
	if err != nil {
		return err
	}
	if !f.IsOpenAt(pages.Now()) {
		return pages.showClosed(req, f)
	}
	pages.countOpened(req, &f)
	query := req.URL.RawQuery
	plain := query == "" || query == embedQuery || query == fullPageQuery
	if plain {
		if cached, ok := pages.firstPages.GetAt(f.Generation, firstPageKey(f, query)); ok {
			return pages.serveFirstPage(req, f, cached)
		}
	}
	s := pages.newFillSession(req, f)
	if plain && !s.isPersonal() {
		first, err := pages.renderFirstPage(req, s)
		if err != nil {
			return err
		}
		if size := first.size(); size <= maxFirstPages/4 {
			pages.firstPages.Put(firstPageKey(f, query), f.Generation, first, size)
		}
		return pages.serveFirstPage(req, f, first)
	}
	if err := pages.limitAction(req); err != nil {
		return err
	}
	values := url.Values{}
	for name, list := range req.URL.Query() {
		if key, _, _ := strings.Cut(name, "."); f.Definition.Field(key) != nil {
			values[name] = list
		}
	}
	s.values = values
	for name := range values {
		s.localizeNumber(name)
	}
	return pages.renderPage(req, http.StatusOK, s, 0)
}

// limitAction limits requests that cost about as much as a submission without being one:
// each button of a form, each update of its calculations, and first pages that differ
// between respondents. They have a limit of their own, so that filling in a form does not
// use up the submission limit.
func (pages *Pages) limitAction(req *page.Request) error {
	if _, wait, ok := pages.Actions.Allow(limit.ClientNetwork(pages.Address(req.Request))); !ok {
		return fault.TooManyRequests(limit.RetryAfterSeconds(wait))
	}
	return nil
}
