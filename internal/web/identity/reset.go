package identity

import (
	"net/http"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/web/page"
)

// resetPage sets a new password with a reset link.
type resetPage struct {
	page.Layout
	Link  string
	Email string
}

// ShowReset shows the page of a reset link.
func (pages *Pages) ShowReset(req *page.Request) error {
	link := req.URL.Query().Get("token")
	user, err := pages.Store.CheckResetLink(req.Context(), link, pages.Now())
	if err != nil {
		return err
	}
	return pages.templates.Render(req, http.StatusOK, "reset", newResetPage(link, user))
}

func newResetPage(link string, user account.User) *resetPage {
	return &resetPage{Layout: page.Layout{TitleKey: "New password", Narrow: true}, Link: link, Email: user.Email}
}

// Reset sets the new password, which ends all sessions, and signs in.
func (pages *Pages) Reset(req *page.Request) error {
	link, password := req.Field("token"), req.Field("password")
	user, err := pages.Store.CheckResetLink(req.Context(), link, pages.Now())
	if err != nil {
		return err
	}
	if err := account.CheckPassword(password, user.Email, user.Name); err != nil {
		p := newResetPage(link, user)
		p.Problems = page.Problems{"password": fault.MessageOf(err)}
		return pages.templates.Render(req, http.StatusUnprocessableEntity, "reset", p)
	}
	hash, err := pages.Hasher.Hash(req.Context(), password)
	if err != nil {
		return err
	}
	if err := pages.Store.ResetPassword(req.Context(), link, hash, pages.Now()); err != nil {
		return err
	}
	if user.Disabled {
		return req.Redirect("/signin")
	}
	if err := pages.startSession(req, user); err != nil {
		return err
	}
	return req.Redirect("/")
}
