package workspace

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// sessionInterval is how often a stream checks that its session has not ended. What it
// sends has no content: pages read that with requests of their own.
const sessionInterval = 5 * time.Second

// liveAddress is the stream for pages that show a number of responses to a form.
func liveAddress(formID string, count int64) string {
	return "/live?" + url.Values{"form": {formID}, "count": {strconv.FormatInt(count, 10)}}.Encode()
}

// Live tells a page that there are new responses, to one form or to any.
func (pages *Pages) Live(req *page.Request) error {
	query := req.URL.Query()
	only, err := store.OnlyForms(req.Access)
	if err != nil {
		return err
	}
	changes, err := pages.Streams.Changes(req.Context(), req.Owner(), req.Session.ID, searchText(query.Get("form")), only)
	if err != nil {
		return err
	}
	defer changes.Close()
	first := "retry: 5000\n\n"
	// A response may have arrived after the page was rendered.
	if count := query.Get("count"); count != "" && count != strconv.FormatInt(changes.Count(), 10) {
		first += "event: change\ndata: {}\n\n"
	}
	checked, generation := pages.Now(), pages.Store.TokenGeneration(req.User.ID, "")
	pages.Streams.Send(req.W, req.Request, changes, []byte(first), func(ctx context.Context) error {
		now, latest := pages.Now(), pages.Store.TokenGeneration(req.User.ID, "")
		if now.Sub(checked) < sessionInterval && latest == generation {
			return nil
		}
		checked, generation = now, latest
		access, err := pages.Store.Access(ctx, req.User.ID, req.Owner())
		if err == nil {
			err = access.Check(account.FormsRead, req.FormID())
		}
		if err != nil {
			return err // the user has left the space
		}
		current := &page.Request{Request: req.Request, W: req.W}
		if err := pages.Sessions.Load(current); err != nil {
			return err
		}
		if current.User == nil {
			return &fault.Error{Code: fault.Forbidden} // the session has ended
		}
		return nil
	})
	return nil
}
