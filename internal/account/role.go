package account

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"formulary/internal/fault"
	"formulary/internal/id"
)

// Role is what a person may do in a space.
type Role string

const (
	Owner  Role = "owner"
	Editor Role = "editor"
	Viewer Role = "viewer"
	// Guest is somebody who is no member of a space, but with whom forms of it are shared. For each
	// of these forms, they are an editor or a viewer.
	Guest Role = "guest"
)

// Permissions that no application can ask for: these are not scopes of a token.
const (
	SpaceRead   Scope = "space:read"   // see the members
	SpaceManage Scope = "space:manage" // name, members, invitations, moving forms out of the space, deletion
)

// Permission is a row of the table of roles.
type Permission struct {
	Scope   Scope
	Meaning string
	Roles   []Role // that have it
}

// Permissions is the table of roles. Every request to a page of the workspace and to the API is
// checked against it, and the documentation prints it. A guest has what is said here of guests
// for the space, and what their role allows for each form that is shared with them.
var Permissions = []Permission{
	{FormsRead, "See forms, versions and themes", []Role{Owner, Editor, Viewer, Guest}},
	{FormsWrite, "Create, edit, publish, close and delete forms", []Role{Owner, Editor}},
	{ResponsesRead, "See, search and export responses and summaries", []Role{Owner, Editor, Viewer}},
	{ResponsesWrite, "Add, edit, mark and delete responses", []Role{Owner, Editor}},
	{WebhooksRead, "See webhooks and their deliveries", []Role{Owner, Editor}},
	{WebhooksWrite, "Create, edit and delete webhooks", []Role{Owner, Editor}},
	{SpaceRead, "See the members of the space", []Role{Owner, Editor, Viewer}},
	{SpaceManage, "Manage name, members, invitations and shared forms; move forms to other spaces; delete the space", []Role{Owner}},
	{AuditRead, "See the audit log", []Role{Owner}},
}

// Allows reports whether the role has a permission. The empty permission is for requests that
// concern only the person.
func (r Role) Allows(needed Scope) bool {
	if needed == "" {
		return true
	}
	for _, p := range Permissions {
		if p.Scope == needed {
			return slices.Contains(p.Roles, r)
		}
	}
	return false
}

// MemberRoles lists the roles of members, those with more permissions first.
var MemberRoles = []Role{Owner, Editor, Viewer}

// ParseRole parses the role of a member.
func ParseRole(text string) (Role, error) {
	if r := Role(text); slices.Contains(MemberRoles, r) {
		return r, nil
	}
	return "", fault.InvalidField("role", "choose owner, editor or viewer")
}

// ParseFormRole parses the role of somebody with whom a form is shared.
func ParseFormRole(text string) (Role, error) {
	if r := Role(text); r == Editor || r == Viewer {
		return r, nil
	}
	return "", fault.InvalidField("role", "choose editor or viewer")
}

// Access is what a person, or an application that acts for them, may do in a space.
type Access struct {
	Space string // ID of the account that is the space
	Role  Role
	// Forms are the forms that may be used, with the role for each; nil: all of them, with Role.
	// It is shared between requests: do not modify it.
	Forms map[string]Role
	// FormList is the IDs of Forms as a JSON array, in order; empty: all forms.
	FormList string
}

// OwnSpace is the access of a person to their own space.
func OwnSpace(person string) Access { return Access{Space: person, Role: Owner} }

// ErrMissingRole is the error for what the role of a person does not allow.
var ErrMissingRole = fault.New(fault.MissingRole, "Your role in this space does not allow this.")

// Check returns an error if a permission is missing: for a form, or for the whole space if formID
// is empty. A form that may not be used looks like one that does not exist.
func (a Access) Check(needed Scope, formID string) error {
	role := a.Role
	if a.Forms != nil && formID != "" {
		var ok bool
		if role, ok = a.Forms[formID]; !ok {
			return fault.NotFound
		}
	}
	// The audit log is about all forms of a space.
	if !role.Allows(needed) || needed == AuditRead && a.Forms != nil {
		return ErrMissingRole
	}
	return nil
}

// WithForms returns the access to these forms only.
func (a Access) WithForms(forms map[string]Role) Access {
	a.Forms = forms
	ids := slices.AppendSeq([]string{}, maps.Keys(forms)) // not nil, which would be no array
	slices.Sort(ids)
	list, err := json.Marshal(ids)
	if err != nil {
		panic(err) // they are texts
	}
	a.FormList = string(list)
	return a
}

// Limit returns the access without the forms that are not in the list.
func (a Access) Limit(formIDs []string) Access {
	limited := make(map[string]Role, len(formIDs))
	for _, formID := range formIDs {
		role, ok := a.Role, true
		if a.Forms != nil {
			role, ok = a.Forms[formID]
		}
		if ok {
			limited[formID] = role
		}
	}
	return a.WithForms(limited)
}

// SpaceID returns the ID under which a space is known, from that of its account.
func SpaceID(accountID string) string { return id.Space + strings.TrimPrefix(accountID, id.User) }

// ParseSpaceID returns the ID of the account that is the space.
func ParseSpaceID(text string) (accountID string, ok bool) {
	u, ok := id.Parse(id.Space, text)
	return u.String(id.User), ok
}

// MaxSpaceName is the longest name of a space, in characters.
const MaxSpaceName = 60

// ParseSpaceName validates the name of a space.
func ParseSpaceName(text string) (string, error) {
	name, err := ParseName(text)
	switch {
	case err != nil:
		return "", fault.InvalidFields(fault.DetailOf("name", err))
	case name == "":
		return "", fault.InvalidField("name", "enter a name")
	case !IsTrustworthyName(name) || hasInvisible([]rune(norm.NFC.String(name))):
		return "", fault.InvalidField("name", "use only visible characters in the name")
	case len([]rune(name)) > MaxSpaceName:
		return "", fault.InvalidField("name", "use %d characters or fewer for the name", MaxSpaceName)
	}
	return name, nil
}
