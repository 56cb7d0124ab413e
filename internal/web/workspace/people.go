package workspace

import (
	"errors"
	"net/http"
	"strings"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/limit"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// peopleSettings is the part of the share page with the people with whom a form is shared.
type peopleSettings struct {
	People []store.Member
	invitationSettings
}

// FormRoles are the roles of people with whom a form is shared.
func (peopleSettings) FormRoles() []account.Role {
	return []account.Role{account.Editor, account.Viewer}
}

var peopleNotices = map[string]string{
	"shared":  "Form shared.",
	"role":    "Role changed.",
	"unshare": "This form is no longer shared with that person.",
}

// addPeople reads with whom a form is shared.
func (pages *Pages) addPeople(req *page.Request, s *peopleSettings, formID string) (err error) {
	if req.Access.Check(account.SpaceManage, "") != nil {
		return nil
	}
	if s.People, err = pages.Store.FormShares(req.Context(), req.Owner(), formID); err != nil {
		return err
	}
	return pages.addInvitations(req, &s.invitationSettings, formID)
}

// afterPeople shows the share page with a problem or a new link, or confirms a change.
func (pages *Pages) afterPeople(req *page.Request, s peopleSettings, done string, err error) error {
	formID := req.PathValue("id")
	if err != nil {
		list, other := spaceProblems(err, "email")
		if other != nil {
			return other
		}
		return pages.renderShare(req, http.StatusUnprocessableEntity, shareView{problems: list, people: s})
	}
	if s.NewLink != "" {
		return pages.renderShare(req, http.StatusOK, shareView{people: s})
	}
	return req.Redirect("/forms/" + formID + "/share?done=" + done + "#people")
}

// ShareForm shares a form with a person. Somebody who has no account yet is invited.
func (pages *Pages) ShareForm(req *page.Request) error {
	var s peopleSettings
	s.Email, s.Role = strings.TrimSpace(req.Field("email")), account.Role(req.Field("role"))
	role, err := account.ParseFormRole(req.Field("role"))
	if err != nil {
		return pages.afterPeople(req, s, "", err)
	}
	i := store.Invitation{Space: req.Owner(), FormID: req.PathValue("id"), InvitedBy: req.User.ID, Role: role}
	if req.Field("link") != "" {
		s.NewLink, err = pages.invite(req, i, "")
		return pages.afterPeople(req, s, "", err)
	}
	if i.Email, err = account.ParseEmail(req.Field("email")); err != nil {
		return pages.afterPeople(req, s, "", fault.InvalidFields(fault.DetailOf("email", err)))
	}
	if _, wait, ok := pages.InvitationsByPerson.Allow(req.User.ID); !ok {
		return fault.TooManyRequests(limit.RetryAfterSeconds(wait))
	}
	person, err := pages.Store.UserByEmail(req.Context(), i.Email)
	// Anybody can have signed up with an address that is not confirmed.
	if err == nil && person.IsEmailVerified() {
		err = pages.Store.ManagedBy(req.User.ID).ShareForm(req.Context(), store.FormShare{Owner: i.Space, FormID: i.FormID, Person: person.ID, Role: role}, pages.Now())
		return pages.afterPeople(req, s, "shared", err)
	}
	if err != nil && !errors.Is(err, fault.NotFound) {
		return err
	}
	if !pages.canInviteByMail() {
		return pages.afterPeople(req, s, "", fault.InvalidField("email", "no account has this address; create a link instead"))
	}
	_, err = pages.sendInvitation(req, i, "")
	return pages.afterPeople(req, s, "invited", err)
}

// ChangeShare changes the role of a person for a form.
func (pages *Pages) ChangeShare(req *page.Request) error {
	person, err := pages.sharedWith(req)
	if err != nil {
		return err
	}
	role, err := account.ParseFormRole(req.Field("role"))
	if err == nil {
		err = pages.Store.ManagedBy(req.User.ID).ShareForm(req.Context(), store.FormShare{Owner: req.Owner(), FormID: req.PathValue("id"), Person: person, Role: role}, pages.Now())
	}
	return pages.afterPeople(req, peopleSettings{}, "role", err)
}

// sharedWith is the person that the path names, if the form is shared with them.
func (pages *Pages) sharedWith(req *page.Request) (string, error) {
	person, err := personOf(req)
	if err != nil {
		return "", err
	}
	access, err := pages.Store.Access(req.Context(), person, req.Owner())
	if err == nil && access.Forms[req.PathValue("id")] == "" {
		return "", fault.NotFound
	}
	return person, err
}

// EndShare stops sharing a form with a person.
func (pages *Pages) EndShare(req *page.Request) error {
	person, err := personOf(req)
	if err != nil {
		return err
	}
	if err := pages.Store.ManagedBy(req.User.ID).EndShare(req.Context(), req.Owner(), req.PathValue("id"), person, pages.Now()); err != nil {
		return err
	}
	return pages.afterPeople(req, peopleSettings{}, "unshare", nil)
}

// InviteToFormAgain sends an invitation to a form again, or shows a new link.
func (pages *Pages) InviteToFormAgain(req *page.Request) error {
	i, err := pages.pathInvitation(req, req.PathValue("id"))
	if err != nil {
		return err
	}
	var s peopleSettings
	s.NewLink, err = pages.invite(req, i, i.ID)
	return pages.afterPeople(req, s, "invited", err)
}

// WithdrawFromForm ends an invitation to a form.
func (pages *Pages) WithdrawFromForm(req *page.Request) error {
	i, err := pages.pathInvitation(req, req.PathValue("id"))
	if err != nil {
		return err
	}
	if err := pages.Store.ManagedBy(req.User.ID).WithdrawInvitation(req.Context(), i.Space, i.ID); err != nil {
		return err
	}
	return pages.afterPeople(req, peopleSettings{}, "withdrawn", nil)
}
