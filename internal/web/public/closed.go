package public

import (
	"errors"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// closedPage says that the form is closed, or when it opens.
type closedPage struct {
	page.Layout
	Heading  string
	Text     string
	When     string // the time at which it opens, or at which it closed
	At       string // the same for programs
	Offset   int    // of the owner's time zone at that time, in minutes
	Calendar string // address of the opening time as a file
	session  *fillSession
}

// Translate translates a text into the form's language.
func (p *closedPage) Translate(text string, args ...any) string {
	return p.session.catalog.Translate(text, args...)
}

func (pages *Pages) showClosed(req *page.Request, f store.PublicForm) error {
	s := pages.newFillSession(req, f)
	p := &closedPage{Layout: s.layout(), Heading: f.Header.Title, Text: s.catalog.Translate("This form is closed and no longer accepts responses."), session: s}
	closedAt := pages.closedAt(f)
	switch {
	case pages.opensLater(f):
		p.Text = s.catalog.Translate("This form is not open yet.")
		p.When = s.catalog.Translate("Opens on %s", pages.formatTime(req, p, f.Availability.OpensAt))
		p.Calendar = "/f/" + f.ID + "/calendar"
	case pages.isFull(req, f):
		p.Text = s.catalog.Translate("All places are taken. This form no longer accepts responses.")
	case !closedAt.IsZero():
		p.When = s.catalog.Translate("Closed since %s", pages.formatTime(req, p, closedAt))
	}
	p.Style = endingStyle
	allowFrames(req, f.Availability)
	return pages.templates.Render(req, fault.FormNotOpen.Status(), "closed", p)
}

// isFull reports whether the form has as many responses as it accepts.
func (pages *Pages) isFull(req *page.Request, f store.PublicForm) bool {
	if f.Availability.ResponseLimit == 0 {
		return false
	}
	all, err := pages.Store.Form(req.Context(), f.Owner, f.ID)
	return err == nil && all.ResponseCount >= f.Availability.ResponseLimit
}

// opensLater reports whether the form opens by itself at a later time.
func (pages *Pages) opensLater(f store.PublicForm) bool {
	return pages.Now().Before(f.Availability.OpensAt) && f.Status == form.Open
}

// closedAt is when the form closed, by its closing time or by its owner; zero: it did not.
func (pages *Pages) closedAt(f store.PublicForm) time.Time {
	due := f.Availability.ClosesAt
	if !due.IsZero() && !pages.Now().Before(due) && (f.ClosedAt.IsZero() || due.Before(f.ClosedAt)) {
		return due
	}
	return f.ClosedAt
}

// formatTime formats the time that the page is about in the time zone of the form's owner.
// The script of the page adds the time zone of the reader.
func (pages *Pages) formatTime(req *page.Request, p *closedPage, at time.Time) string {
	at = at.In(pages.zoneOf(req, p.session.form))
	_, seconds := at.Zone()
	p.At, p.Offset = at.UTC().Format(time.RFC3339), seconds/60
	p.AddAssets(pages.Site.AssetsOf("form-when"))
	return at.Format(p.Translate(form.DisplayDateTime)) + at.Format(" MST")
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
