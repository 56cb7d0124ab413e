package page

import (
	"strings"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/store"
)

// ChosenSpace is the space that the user has switched to; empty: their own.
func (req *Request) ChosenSpace() string {
	cookie, err := req.Cookie(SpaceCookie)
	if err != nil {
		return ""
	}
	space, _ := account.ParseSpaceID(cookie.Value)
	if req.User != nil && space == req.User.ID {
		return ""
	}
	return space
}

// ChooseSpace switches to a space: pages that are about no form are in it from now on.
func (s *Sessions) ChooseSpace(req *Request, space string) {
	if space == req.User.ID {
		s.SetCookie(req, SpaceCookie, "", 0)
		return
	}
	s.SetCookie(req, SpaceCookie, account.SpaceID(space), account.SessionAbsolute)
}

// PathSpace is the space that the path of the page names; empty: it names none.
func (req *Request) PathSpace() (space string, err error) {
	if _, path, _ := strings.Cut(req.Pattern, " "); !strings.HasPrefix(path, "/spaces/{space}") {
		return "", nil
	}
	space, ok := account.ParseSpaceID(req.PathValue("space"))
	if !ok {
		return "", fault.NotFound
	}
	return space, nil
}

// enterSpace tells the layout in which space the page is, and what the user may do in it.
func (t Templates) enterSpace(req *Request, l *Layout) {
	l.access, l.formID = req.Access, req.FormID()
	if l.access.Space == "" {
		l.access = account.OwnSpace(req.User.ID)
	}
	if !req.Session.InOtherSpaces || l.Narrow || l.Public || t.site.Spaces == nil {
		return
	}
	current := req.Access.Space
	if current == "" {
		current = req.ChosenSpace()
	}
	menu, err := t.site.Spaces(req.Context(), req.User.ID, current)
	if err != nil {
		return // the page is of use without the menu
	}
	l.Spaces = &menu
}

// Can reports whether the user's role allows something in the space or, on a page about a form,
// for the form: {{if .Can "forms:write"}}.
//
//go:noinline
func (l *Layout) Can(needed string) bool { return l.CanForm(needed, l.formID) }

// CanForm is Can for a form in a list.
//
//go:noinline
func (l *Layout) CanForm(needed, formID string) bool {
	return l.access.Check(account.Scope(needed), formID) == nil
}

// CanAll is Can for the whole space, also on a page about a form.
//
//go:noinline
func (l *Layout) CanAll(needed string) bool { return l.CanForm(needed, "") }

// OwnSpaceID is the ID of the user's own space.
//
//go:noinline
func (l *Layout) OwnSpaceID() string { return account.SpaceID(l.User.ID) }

// SpaceName is the name of the space that the page is in; empty: the user's own.
//
//go:noinline
func (l *Layout) SpaceName() string {
	if l.Spaces == nil {
		return ""
	}
	return l.Spaces.Current.Name
}

// ShortSpaceName is SpaceName for the builder, which has no style for long names.
//
//go:noinline
func (l *Layout) ShortSpaceName() string {
	const most = 24
	if name := []rune(l.SpaceName()); len(name) > most {
		return string(name[:most-1]) + "…"
	}
	return l.SpaceName()
}

// InSpace reports whether the page is in a space of the menu.
//
//go:noinline
func (l *Layout) InSpace(space store.Space) bool { return l.Spaces.Current.Key == space.Key }

// MembersPath is the address of the page with the members of the shared space that the page is
// in; empty: it is in none, or the user may not see them.
func (l *Layout) MembersPath() string {
	if l.SpaceName() == "" || l.access.Space != l.Spaces.Current.Key || !l.CanAll(string(account.SpaceRead)) {
		return ""
	}
	return "/spaces/" + l.Spaces.Current.ID()
}

// roleNames are the names of roles.
var roleNames = map[account.Role]string{
	account.Owner: "Owner", account.Editor: "Editor", account.Viewer: "Viewer", account.Guest: "Guest",
}

// RoleName is the name of a role.
//
//go:noinline
func (l *Layout) RoleName(role account.Role) string { return l.T(roleNames[role]) }
