package workspace

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/web/page"
)

// sessionInterval is how often a stream checks that its session has not ended, and that the user is
// still in the space; it also does when something of the user changes. What it sends has no
// content: pages read that with requests of their own.
const sessionInterval = 5 * time.Second

// liveAddress is the stream for pages that show a number of responses to a form.
func liveAddress(formID string, count int64) string {
	return "/live?" + url.Values{"form": {formID}, "count": {strconv.FormatInt(count, 10)}}.Encode()
}

// liveAddressOfAll is the stream for pages that show numbers of responses to all forms. Call it
// before the numbers are read.
func (pages *Pages) liveAddressOfAll(owner string) string {
	return "/live?" + url.Values{"generation": {pages.generation(owner)}}.Encode()
}

// generation differs once something of an owner has changed. Nodes count on their own, so it may
// differ without a change.
func (pages *Pages) generation(owner string) string {
	number, _ := pages.Store.EventGeneration(owner)
	return strconv.FormatUint(number, 10)
}

// Live tells a page that there are new responses, to one form or to any.
func (pages *Pages) Live(req *page.Request) error {
	query := req.URL.Query()
	only := req.Access.FormList
	changes, err := pages.Streams.Changes(req.Context(), req.Owner(), req.Session.ID, searchText(query.Get("form")), only)
	if err != nil {
		return err
	}
	defer changes.Close()
	first := "retry: 5000\n\n"
	// A response may have arrived after the page was rendered.
	count, generation := query.Get("count"), query.Get("generation")
	if count != "" && count != strconv.FormatInt(changes.Count(), 10) || generation != "" && generation != pages.generation(req.Owner()) {
		first += "event: change\ndata: {}\n\n"
	}
	checked, user := pages.Now(), pages.Store.UserGeneration(req.User.ID)
	pages.Streams.Send(req.W, req.Request, changes, []byte(first), func(ctx context.Context) error {
		now, latest := pages.Now(), pages.Store.UserGeneration(req.User.ID)
		if now.Sub(checked) < sessionInterval && latest == user {
			return nil
		}
		checked, user = now, latest
		current := &page.Request{Request: req.Request, W: req.W}
		if err := pages.Sessions.Load(current); err != nil {
			return err
		}
		if current.User == nil {
			return &fault.Error{Code: fault.Forbidden} // the session has ended
		}
		access, err := pages.Store.Access(ctx, current.User.ID, req.Owner())
		if err != nil {
			return err
		}
		if access.FormList != only { // other forms are shared with them now
			return &fault.Error{Code: fault.Forbidden}
		}
		return access.Check(account.FormsRead, req.FormID())
	})
	return nil
}

// stillAllowed returns a function that returns an error once the user's role does not allow what
// the page is for. It looks when something of the user changes, and every few seconds.
func (pages *Pages) stillAllowed(req *page.Request, needed account.Scope) func() error {
	checked, generation := pages.Now(), pages.Store.UserGeneration(req.User.ID)
	return func() error {
		now, latest := pages.Now(), pages.Store.UserGeneration(req.User.ID)
		if now.Sub(checked) < sessionInterval && latest == generation {
			return nil
		}
		user, err := pages.Store.User(req.Context(), req.User.ID)
		if err != nil {
			return err
		}
		access, err := pages.Store.Access(req.Context(), user.ID, req.Owner())
		if err != nil {
			return err
		}
		checked, generation = now, latest
		if user.Disabled {
			return &fault.Error{Code: fault.Forbidden}
		}
		return access.Check(needed, req.FormID())
	}
}
