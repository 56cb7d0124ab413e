package public

import (
	"errors"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/locale"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// closedPage says that the form is closed, or when it opens.
type closedPage struct {
	page.Layout
	Heading string
	Text    string
}

func (pages *Pages) showClosed(req *page.Request, f store.PublicForm) error {
	s := pages.newFillSession(req, f)
	p := &closedPage{Layout: s.layout(), Heading: f.Header.Title, Text: s.catalog.Translate("This form is closed and no longer accepts responses.")}
	if pages.Now().Before(f.Availability.OpensAt) && f.Status == form.Open {
		p.Text = s.catalog.Translate("This form opens on %s.", pages.opensAt(req, f, s.catalog))
	}
	p.Style = endingStyle
	allowFrames(req, f.Availability)
	return pages.templates.Render(req, fault.FormNotOpen.Status(), "closed", p)
}

// opensAt formats the time at which the form opens, in the time zone of its owner.
func (pages *Pages) opensAt(req *page.Request, f store.PublicForm, catalog locale.Catalog) string {
	var zone string
	if owner, err := pages.Store.User(req.Context(), f.Owner); err == nil {
		zone = owner.TimeZone
	}
	at := f.Availability.OpensAt.In(page.LoadZone(zone))
	return at.Format(catalog.Translate(form.DisplayDateTime)) + at.Format(" MST")
}

// closedAfterStart says that the form is closed, unless this page was submitted before it
// closed: then the ending follows again.
func (pages *Pages) closedAfterStart(req *page.Request, s *fillSession) error {
	f, nonce := s.form, s.values.Get(keyControl)
	if _, ours := pages.nonceTime(req.Context(), f.ID, nonce); !ours {
		return pages.showClosed(req, f)
	}
	r, err := pages.Respond.Find(req.Context(), &f, pageKey(nonce))
	if errors.Is(err, fault.NotFound) {
		return pages.showClosed(req, f)
	}
	if err != nil {
		return err
	}
	e, err := pages.loadSubmitted(req, &s.form, r)
	if err != nil {
		return err
	}
	return pages.redirectToEnding(req, s, e, r)
}
