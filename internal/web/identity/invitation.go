package identity

import (
	"errors"
	"net/http"
	"net/url"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// invitationPage is behind the link of an invitation. Whoever has the link sees the name of the
// space or the title of the form, and who invites.
type invitationPage struct {
	page.Layout
	State      string
	Link       string // the secret
	Next       string // address of this page, for signing in
	From       string // name of the person who invites
	Space      string // name
	Form       string // title; empty: the invitation is to the space
	Email      string // of the only account that can accept; empty: any account can
	HasAccount bool   // the address has one
	SignupOpen bool
}

// States of the page.
const (
	inviteSignIn  = "sign in" // the reader is not signed in
	inviteAccept  = "accept"
	inviteOther   = "other" // the reader is signed in with another account
	inviteMember  = "member"
	inviteInvalid = "invalid"
)

// ShowInvitation asks whether to accept an invitation. A GET changes nothing: programs that check
// mails follow links.
func (pages *Pages) ShowInvitation(req *page.Request) error {
	p, err := pages.newInvitationPage(req, req.URL.Query().Get("token"))
	if err != nil {
		return err
	}
	return pages.renderInvitation(req, p)
}

// AcceptInvitation makes the user a member of the space, or shares the form with them.
func (pages *Pages) AcceptInvitation(req *page.Request) error {
	p, err := pages.newInvitationPage(req, req.Field("token"))
	if err != nil {
		return err
	}
	if p.State != inviteAccept {
		return pages.renderInvitation(req, p)
	}
	i, err := pages.Store.AcceptInvitation(req.Context(), p.Link, *req.User, pages.Now())
	switch {
	case errors.Is(err, store.ErrInvitation): // somebody else was faster
		p.State = inviteInvalid
	case err != nil && fault.Wrap(err).Code == fault.Conflict:
		p.State = inviteMember
	case err != nil:
		return err
	default:
		pages.Sessions.ChooseSpace(req, i.Space)
		if i.FormID != "" {
			return req.Redirect("/forms/" + i.FormID + "/responses")
		}
		return req.Redirect("/?done=joined")
	}
	return pages.renderInvitation(req, p)
}

// newInvitationPage reads the invitation of a link, and decides what its reader can do.
func (pages *Pages) newInvitationPage(req *page.Request, link string) (*invitationPage, error) {
	p := &invitationPage{Link: link, Next: "/invitation?token=" + url.QueryEscape(link), SignupOpen: pages.SignupOpen, State: inviteInvalid}
	i, err := pages.Store.CheckInvitation(req.Context(), link, pages.Now())
	if errors.Is(err, store.ErrInvitation) {
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	if err := pages.describeInvitation(req, p, i); errors.Is(err, fault.NotFound) {
		return p, nil // what it is to was deleted
	} else if err != nil {
		return nil, err
	}
	switch {
	case req.User == nil:
		p.State = inviteSignIn
	case i.Email != "" && account.EmailKey(i.Email) != account.EmailKey(req.User.Email):
		p.State = inviteOther
	default:
		p.State = inviteAccept
	}
	return p, nil
}

func (pages *Pages) describeInvitation(req *page.Request, p *invitationPage, i store.Invitation) error {
	space, err := pages.Store.Space(req.Context(), i.Space)
	if err != nil {
		return err
	}
	if i.FormID != "" {
		f, err := pages.Store.Form(req.Context(), i.Space, i.FormID)
		if err != nil {
			return err
		}
		p.Form = f.Title
	}
	from, err := pages.Store.User(req.Context(), i.InvitedBy)
	if err != nil {
		return err
	}
	if from.Disabled {
		return fault.NotFound
	}
	p.Space, p.From, p.Email = space.Name, from.DisplayName(), i.Email
	if i.Email != "" {
		_, err := pages.Store.UserByEmail(req.Context(), i.Email)
		if err != nil && !errors.Is(err, fault.NotFound) {
			return err
		}
		p.HasAccount = err == nil
	}
	return nil
}

func (pages *Pages) renderInvitation(req *page.Request, p *invitationPage) error {
	status := http.StatusOK
	p.Layout = page.Layout{TitleKey: "Invitation", Narrow: true}
	if p.State == inviteInvalid {
		status, p.Layout = http.StatusBadRequest, page.Layout{TitleKey: "This invitation doesn’t work anymore", Narrow: true}
	}
	// The address of the page has the secret. Every page has a Referrer-Policy already.
	req.W.Header().Set("X-Robots-Tag", "noindex, nofollow")
	return pages.templates.Render(req, status, "invitation", p)
}
