package identity

import (
	"net/http"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/mail"
	"formulary/internal/web/page"
)

// resetPage sets a new password with a reset link.
type resetPage struct {
	page.Layout
	Link    string
	Email   string
	Expired bool // the link cannot be used any more
}

// ShowReset shows the page of a reset link.
func (pages *Pages) ShowReset(req *page.Request) error {
	link := req.URL.Query().Get("token")
	user, err := pages.Store.CheckResetLink(req.Context(), link, pages.Now())
	if err != nil {
		return pages.failReset(req, err)
	}
	return pages.templates.Render(req, http.StatusOK, "reset", newResetPage(link, user))
}

func newResetPage(link string, user account.User) *resetPage {
	return &resetPage{Layout: page.Layout{TitleKey: "New password", Narrow: true}, Link: link, Email: user.Email}
}

// failReset offers a new link in place of one that cannot be used any more.
func (pages *Pages) failReset(req *page.Request, err error) error {
	if fault.Wrap(err).Code != fault.BadRequest {
		return err
	}
	p := newResetPage("", account.User{})
	p.Expired = true
	return pages.templates.Render(req, http.StatusBadRequest, "reset", p)
}

// Reset sets the new password, which ends all sessions, and signs in.
func (pages *Pages) Reset(req *page.Request) error {
	link, password := req.Field("token"), req.Field("password")
	user, err := pages.Store.CheckResetLink(req.Context(), link, pages.Now())
	if err != nil {
		return pages.failReset(req, err)
	}
	req.SetActor(user, pages.Address(req.Request))
	if err := account.CheckPassword(password, user.Email, user.Name); err != nil {
		p := newResetPage(link, user)
		p.Problems = page.Problems{"password": fault.MessageOf(err)}
		return pages.templates.Render(req, http.StatusUnprocessableEntity, "reset", p)
	}
	hash, err := pages.Hasher.Hash(req.Context(), password)
	if err != nil {
		return err
	}
	mails, err := pages.Mails.ToUser(user, mail.PasswordChanged{Event: pages.event(req, user)})
	if err != nil {
		return err
	}
	if err := pages.Store.ResetPassword(req.Context(), link, hash, mails, pages.Now()); err != nil {
		return pages.failReset(req, err)
	}
	if user.Disabled {
		return req.Redirect("/signin")
	}
	if err := pages.startSession(req, user, nil); err != nil {
		return err
	}
	return req.Redirect("/")
}
