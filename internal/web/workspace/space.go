package workspace

import (
	"net/http"
	"strconv"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/web/page"
)

// spacePage has the name, the members and the invitations of a shared space.
type spacePage struct {
	page.Layout
	Space      store.Space
	Name       string // as posted, or the present one
	Members    []store.Member
	Total      int64
	Prev, Next string // addresses, or empty
	invitationSettings
}

// Path is the address of the page.
func (p *spacePage) Path() string { return spacePath(p.Space.Key) }

// Roles are the roles of members.
func (p *spacePage) Roles() []account.Role { return account.MemberRoles }

// IsUser reports whether a member is the user.
func (p *spacePage) IsUser(m store.Member) bool { return m.PersonID == p.User.ID }

const membersPerPage = 100

var spaceNotices = map[string]string{
	"created": "Space created. Invite the people you want to work with.",
	"renamed": "Name saved.",
	"role":    "Role changed.",
	"removed": "Member removed.",
}

// ShowSpace shows a space and its members.
func (pages *Pages) ShowSpace(req *page.Request) error {
	return pages.renderSpace(req, http.StatusOK, &spacePage{})
}

// renderSpace renders the page of a space, with the problems of p and what the user has posted.
func (pages *Pages) renderSpace(req *page.Request, status int, p *spacePage) error {
	ctx, owner := req.Context(), req.Owner()
	var err error
	if p.Space, err = pages.Store.Space(ctx, owner); err != nil {
		return err
	}
	if !p.Space.Shared {
		return req.Redirect("/account")
	}
	p.Space.Role = req.Access.Role
	number, err := strconv.ParseInt(req.URL.Query().Get("page"), 10, 32)
	if err != nil || number < 1 {
		number = 1
	}
	if p.Members, p.Total, err = pages.Store.Members(ctx, owner, store.Page{Limit: membersPerPage, Offset: (number - 1) * membersPerPage}); err != nil {
		return err
	}
	if number > 1 {
		p.Prev = p.Path() + "?page=" + strconv.FormatInt(number-1, 10)
	}
	if number*membersPerPage < p.Total {
		p.Next = p.Path() + "?page=" + strconv.FormatInt(number+1, 10)
	}
	if req.Access.Role.Allows(account.SpaceManage) {
		if err := pages.addInvitations(req, &p.invitationSettings, ""); err != nil {
			return err
		}
	}
	if p.Name == "" {
		p.Name = p.Space.Name
	}
	p.Title, p.Section = p.Space.Name, "spaces"
	done := req.URL.Query().Get("done")
	if p.NoticeKey = spaceNotices[done]; p.NoticeKey == "" {
		p.NoticeKey = invitationNotices[done]
	}
	return pages.templates.Render(req, status, "space", p)
}

// failSpace shows the page with a problem that the user can correct.
func (pages *Pages) failSpace(req *page.Request, p *spacePage, control string, err error) error {
	list, other := spaceProblems(err, control)
	if other != nil {
		return other
	}
	p.Problems = list
	return pages.renderSpace(req, http.StatusUnprocessableEntity, p)
}

// RenameSpace changes the name of a space.
func (pages *Pages) RenameSpace(req *page.Request) error {
	name, err := account.ParseSpaceName(req.Field("name"))
	if err == nil {
		err = pages.Store.ManagedBy(req.User.ID).RenameSpace(req.Context(), req.Owner(), name)
	}
	if err != nil {
		return pages.failSpace(req, &spacePage{Name: req.Field("name")}, "name", err)
	}
	return req.Redirect(spacePath(req.Owner()) + "?done=renamed")
}

// ChangeMember changes the role of a member.
func (pages *Pages) ChangeMember(req *page.Request) error {
	person, err := personOf(req)
	if err != nil {
		return err
	}
	role, err := account.ParseRole(req.Field("role"))
	if err == nil {
		if err = pages.checkMember(req, person); err != nil {
			return err
		}
		err = pages.Store.ManagedBy(req.User.ID).SetMember(req.Context(), req.Owner(), person, role, pages.Now())
	}
	if err != nil {
		return pages.failSpace(req, &spacePage{}, "members", err)
	}
	return req.Redirect(spacePath(req.Owner()) + "?done=role")
}

// personOf is the person that the path names.
func personOf(req *page.Request) (string, error) {
	person := req.PathValue("person")
	if _, ok := id.Parse(id.User, person); !ok {
		return "", fault.NotFound
	}
	return person, nil
}

// checkMember returns an error if a person is no member: only an invitation adds people.
func (pages *Pages) checkMember(req *page.Request, person string) error {
	access, err := pages.Store.Access(req.Context(), person, req.Owner())
	if err == nil && access.Role == account.Guest {
		return fault.NotFound
	}
	return err
}

// RemoveMember removes a member from a space.
func (pages *Pages) RemoveMember(req *page.Request) error {
	person, err := personOf(req)
	if err != nil {
		return err
	}
	if err := pages.Store.ManagedBy(req.User.ID).RemoveMember(req.Context(), req.Owner(), person, pages.Now()); err != nil {
		return pages.failSpace(req, &spacePage{}, "members", err)
	}
	if person == req.User.ID {
		return req.Redirect("/spaces?done=left")
	}
	return req.Redirect(spacePath(req.Owner()) + "?done=removed")
}

// LeaveSpace ends what the user has in a space of others: the membership, or the forms that are
// shared with them.
func (pages *Pages) LeaveSpace(req *page.Request) error {
	owner := req.Owner()
	if owner == req.User.ID {
		return fault.NotFound
	}
	var err error
	if req.Access.Role == account.Guest {
		err = pages.Store.EndShares(req.Context(), owner, req.User.ID, pages.Now())
	} else {
		err = pages.Store.RemoveMember(req.Context(), owner, req.User.ID, pages.Now())
	}
	if err != nil {
		return pages.failSpace(req, &spacePage{}, "leave", err)
	}
	if req.ChosenSpace() == owner {
		pages.Sessions.ChooseSpace(req, req.User.ID)
	}
	return req.Redirect("/spaces?done=left")
}

// DeleteSpace deletes a space with everything in it, if the user has typed its name.
func (pages *Pages) DeleteSpace(req *page.Request) error {
	space, err := pages.Store.Space(req.Context(), req.Owner())
	if err != nil {
		return err
	}
	if req.Field("confirm") != space.Name {
		return pages.failSpace(req, &spacePage{}, "confirm", fault.InvalidField("confirm", "enter the name of the space to confirm"))
	}
	if _, err := pages.Store.ManagedBy(req.User.ID).DeleteSpace(req.Context(), space.Key, pages.Now()); err != nil {
		return err
	}
	if req.ChosenSpace() == space.Key {
		pages.Sessions.ChooseSpace(req, req.User.ID)
	}
	return req.Redirect("/spaces?done=deleted")
}
