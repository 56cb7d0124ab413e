package workspace

import (
	"net/http"
	"strings"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/limit"
	"formulary/internal/mail"
	"formulary/internal/outbox"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// invitationSettings is the part of a page that invites people.
type invitationSettings struct {
	Invitations []listedInvitation
	CanMail     bool   // invitations can be sent by mail
	NewLink     string // of an invitation, shown only now
	Email       string // as posted
	Role        account.Role
}

// listedInvitation is an invitation with its state.
type listedInvitation struct {
	store.Invitation
	Expired bool
}

// invitationRow is the argument of the template that shows an invitation.
type invitationRow struct {
	*page.Layout
	listedInvitation
	Path string // of its actions, without the ID
}

func (p *spacePage) InvitationRow(i store.Invitation, expired bool, path string) invitationRow {
	return invitationRow{&p.Layout, listedInvitation{i, expired}, path}
}

func (p *sharePage) InvitationRow(i store.Invitation, expired bool, path string) invitationRow {
	return invitationRow{&p.Layout, listedInvitation{i, expired}, path}
}

var invitationNotices = map[string]string{
	"invited":   "Invitation sent.",
	"withdrawn": "Invitation withdrawn. Its link no longer works.",
}

// addInvitations reads the invitations to a space or, with the ID of a form, to the form.
func (pages *Pages) addInvitations(req *page.Request, s *invitationSettings, formID string) error {
	list, err := pages.Store.Invitations(req.Context(), req.Owner(), formID)
	if err != nil {
		return err
	}
	now := pages.Now()
	for _, i := range list {
		s.Invitations = append(s.Invitations, listedInvitation{i, !i.IsOpen(now)})
	}
	s.CanMail = pages.canInviteByMail()
	if s.Role == "" {
		s.Role = account.Editor
	}
	return nil
}

func (pages *Pages) canInviteByMail() bool { return pages.Mails.IsOn() && pages.Mails.CanSeal() }

// postedInvitation reads who is invited. Without an address, the invitation is a link.
func (pages *Pages) postedInvitation(req *page.Request, parse func(string) (account.Role, error)) (i store.Invitation, err error) {
	i.Space, i.InvitedBy = req.Owner(), req.User.ID
	if i.Role, err = parse(req.Field("role")); err != nil || req.Field("link") != "" || !pages.canInviteByMail() {
		return i, err
	}
	if i.Email, err = account.ParseEmail(req.Field("email")); err != nil {
		return i, fault.InvalidFields(fault.DetailOf("email", err))
	}
	return i, nil
}

// invite adds an invitation that may replace another one. It is sent to the address or, if there is
// none, its link is returned.
func (pages *Pages) invite(req *page.Request, i store.Invitation, replaces string) (link string, err error) {
	if i.Email != "" {
		if _, wait, ok := pages.InvitationsByPerson.Allow(req.User.ID); !ok {
			return "", fault.TooManyRequests(limit.RetryAfterSeconds(wait))
		}
	}
	return pages.sendInvitation(req, i, replaces)
}

func (pages *Pages) sendInvitation(req *page.Request, i store.Invitation, replaces string) (link string, err error) {
	now := pages.Now()
	n := store.NewInvitation{Invitation: i, Secret: account.NewSecret(account.InvitationKey, i.Space, now), Replaces: replaces}
	link = pages.Site.BaseURL + "/invitation?token=" + n.Secret.Text
	if i.Email == "" {
		return link, pages.Store.Invite(req.Context(), n, now)
	}
	if _, wait, ok := pages.MailsByNetwork.Allow(limit.ClientNetwork(pages.Address(req.Request))); !ok {
		return "", fault.TooManyRequests(limit.RetryAfterSeconds(wait))
	}
	if _, wait, ok := pages.MailsByRecipient.Allow(account.Hash("invitation/" + account.EmailKey(i.Email))); !ok {
		return "", fault.TooManyRequests(limit.RetryAfterSeconds(wait))
	}
	m, err := pages.invitationMail(req, i, link)
	if err != nil {
		return "", err
	}
	n.Mails = []store.Mail{m}
	return "", pages.Store.Invite(req.Context(), n, now)
}

func (pages *Pages) invitationMail(req *page.Request, i store.Invitation, link string) (store.Mail, error) {
	content := mail.Invitation{From: req.User.DisplayName(), Link: link, Days: int(store.InvitationTTL.Hours() / 24), Expires: pages.Now().Add(store.InvitationTTL)}
	if i.FormID == "" {
		space, err := pages.Store.Space(req.Context(), i.Space)
		if err != nil {
			return store.Mail{}, err
		}
		content.Space = space.Name
	} else {
		f, err := pages.Store.Form(req.Context(), i.Space, i.FormID)
		if err != nil {
			return store.Mail{}, err
		}
		content.Form = f.Title
	}
	to := outbox.Recipient{Address: i.Email, Language: req.User.Language}
	if user, err := pages.Store.UserByEmail(req.Context(), i.Email); err == nil {
		to.Language = user.Language
	}
	return pages.Mails.Prepare(to, content)
}

// InviteMember invites a person to a space.
func (pages *Pages) InviteMember(req *page.Request) error {
	p := &spacePage{invitationSettings: invitationSettings{Email: strings.TrimSpace(req.Field("email")), Role: account.Role(req.Field("role"))}}
	i, err := pages.postedInvitation(req, account.ParseRole)
	if err == nil {
		p.NewLink, err = pages.invite(req, i, "")
	}
	return pages.afterInvitation(req, p, err)
}

func (pages *Pages) afterInvitation(req *page.Request, p *spacePage, err error) error {
	switch {
	case err != nil:
		return pages.failSpace(req, p, "email", err)
	case p.NewLink != "":
		return pages.renderSpace(req, http.StatusOK, p)
	}
	return req.Redirect(spacePath(req.Owner()) + "?done=invited")
}

// InviteAgain sends an invitation again, or shows a new link. The previous link ends.
func (pages *Pages) InviteAgain(req *page.Request) error {
	i, err := pages.pathInvitation(req, "")
	if err != nil {
		return err
	}
	p := &spacePage{}
	p.NewLink, err = pages.invite(req, i, i.ID)
	return pages.afterInvitation(req, p, err)
}

// pathInvitation is the invitation that the path names, to the space or to a form.
func (pages *Pages) pathInvitation(req *page.Request, formID string) (store.Invitation, error) {
	i, err := pages.Store.Invitation(req.Context(), req.Owner(), req.PathValue("invitation"))
	if err == nil && i.FormID != formID {
		return i, fault.NotFound
	}
	i.InvitedBy = req.User.ID
	return i, err
}

// WithdrawInvitation ends an invitation to a space.
func (pages *Pages) WithdrawInvitation(req *page.Request) error {
	i, err := pages.pathInvitation(req, "")
	if err != nil {
		return err
	}
	if err := pages.Store.ManagedBy(req.User.ID).WithdrawInvitation(req.Context(), i.Space, i.ID); err != nil {
		return err
	}
	return req.Redirect(spacePath(i.Space) + "?done=withdrawn")
}
