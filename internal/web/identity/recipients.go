package identity

import (
	"net/http"

	"formulary/internal/fault"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// recipientPage is behind the links in mails about the responses of a form. Its readers may
// have no account. Whoever has the link sees the title of the form and nothing else.
type recipientPage struct {
	page.Layout
	Form  string // title
	Link  string
	State string // of recipientStates
}

// States of the page, with their headings.
var recipientStates = map[string]string{
	"confirm":      "Get notified of responses?",
	"confirmed":    "You get notified",
	"unsubscribe":  "Unsubscribe?",
	"unsubscribed": "You are unsubscribed",
	"invalid":      "This link doesn’t work anymore",
}

// ShowConfirmRecipient asks whether an address wants to be notified. A GET changes nothing:
// programs that check mails follow links.
func (pages *Pages) ShowConfirmRecipient(req *page.Request) error {
	link, r, title, err := pages.recipient(req)
	state := "confirm"
	if err == nil && r.Receives() {
		state = "confirmed"
	}
	return pages.renderRecipient(req, recipientPage{Form: title, Link: link, State: state}, err)
}

// ConfirmRecipient notifies an address from now on.
func (pages *Pages) ConfirmRecipient(req *page.Request) error {
	link, _, title, err := pages.recipient(req)
	if err == nil {
		err = pages.Store.ConfirmRecipient(req.Context(), link, pages.Now())
	}
	return pages.renderRecipient(req, recipientPage{Form: title, Link: link, State: "confirmed"}, err)
}

// ShowUnsubscribe asks whether to unsubscribe.
func (pages *Pages) ShowUnsubscribe(req *page.Request) error {
	link, r, title, err := pages.recipient(req)
	state := "unsubscribe"
	if err == nil && !r.UnsubscribedAt.IsZero() {
		state = "unsubscribed"
	}
	return pages.renderRecipient(req, recipientPage{Form: title, Link: link, State: state}, err)
}

// Unsubscribe notifies an address no more. Mail programs send this request themselves (RFC
// 8058), without cookies and possibly more than once.
func (pages *Pages) Unsubscribe(req *page.Request) error {
	link, _, title, err := pages.recipient(req)
	if err == nil {
		err = pages.Store.Unsubscribe(req.Context(), link, pages.Now())
	}
	return pages.renderRecipient(req, recipientPage{Form: title, Link: link, State: "unsubscribed"}, err)
}

func (pages *Pages) recipient(req *page.Request) (link string, r store.FormRecipient, title string, err error) {
	link = req.URL.Query().Get("k")
	_, r, title, err = pages.Store.RecipientByLink(req.Context(), link)
	return link, r, title, err
}

func (pages *Pages) renderRecipient(req *page.Request, p recipientPage, err error) error {
	status := http.StatusOK
	if err != nil {
		if fault.Wrap(err).Code != fault.BadRequest {
			return err
		}
		status, p.State = http.StatusBadRequest, "invalid"
	}
	p.Layout = page.Layout{TitleKey: recipientStates[p.State], Narrow: true}
	// The address of the page has the secret. Every page has a Referrer-Policy already.
	req.W.Header().Set("X-Robots-Tag", "noindex, nofollow")
	return pages.templates.Render(req, status, "recipient", &p)
}
