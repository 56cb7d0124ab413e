package identity

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

type signInPage struct {
	page.Layout
	Next       string
	Email      string
	SignupOpen bool
}

// localPath returns the address to continue at, or the home page if a browser could read
// it as an address of another host.
func localPath(next string) string {
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	u, err := url.Parse(next)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil {
		return "/"
	}
	return next
}

func (pages *Pages) newSignInPage(next string) *signInPage {
	return &signInPage{Layout: page.Layout{TitleKey: "Sign in", Narrow: true}, Next: localPath(next), SignupOpen: pages.SignupOpen}
}

// ShowSignIn shows the sign-in page.
func (pages *Pages) ShowSignIn(req *page.Request) error {
	next := req.URL.Query().Get("next")
	if req.User != nil {
		return req.Redirect(localPath(next))
	}
	hasUsers, err := pages.Store.HasUsers(req.Context())
	if err != nil {
		return err
	}
	p := pages.newSignInPage(next)
	if req.URL.Query().Get("saved") == "confirmed" {
		p.NoticeKey = "Email address confirmed."
	}
	if !hasUsers {
		p.NoticeKey = "Formulary isn’t set up yet. Open the setup link in the server log to create the first account."
	}
	return pages.templates.Render(req, http.StatusOK, "signin", p)
}

// SignIn checks email address and password and starts a session.
func (pages *Pages) SignIn(req *page.Request) error {
	email, password := req.Field("email"), req.Field("password")
	next := localPath(req.Field("next"))
	user, err := pages.Store.UserByEmail(req.Context(), strings.TrimSpace(email))
	if err != nil && !errors.Is(err, fault.NotFound) {
		return err
	}
	try, err := pages.attemptSignIn(req, email, user.ID)
	if err != nil {
		return err
	}
	// Unknown addresses take the same time, so that the time does not reveal them.
	correct, err := pages.Hasher.Verify(req.Context(), user.Password, password)
	if err != nil {
		return err
	}
	if !correct || user.Disabled {
		if err := try.fail(req.Context()); err != nil {
			return err
		}
		p := pages.newSignInPage(next)
		p.Email = email
		p.Problems = page.Problems{"email": fault.Messagef("The email address or password is incorrect.")}
		return pages.templates.Render(req, http.StatusUnauthorized, "signin", p)
	}
	try.succeed()
	_, _, known, err := pages.knownDevice(req, user.ID)
	if err != nil {
		return err
	}
	var mails []store.Mail
	if !known {
		if mails, err = pages.signInNotice(req, user); err != nil {
			return err
		}
	}
	if err := pages.startSession(req, user, mails); err != nil {
		return err
	}
	return req.Redirect(next)
}

// startSession signs a user in, with mails about it, and makes the browser known to the user.
func (pages *Pages) startSession(req *page.Request, user account.User, mails []store.Mail) error {
	if err := pages.Sessions.Start(req, user, mails); err != nil {
		return err
	}
	return pages.keepDevice(req, user.ID)
}

// SignOut ends the session.
func (pages *Pages) SignOut(req *page.Request) error {
	if err := pages.Sessions.End(req); err != nil {
		return err
	}
	if next := localPath(req.Field("next")); next != "/" {
		return req.Redirect("/signin?next=" + url.QueryEscape(next))
	}
	return req.Redirect("/signin")
}
