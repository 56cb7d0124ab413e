package account

import (
	"slices"
	"strings"
)

// Scope is one permission of a token.
type Scope string

const (
	FormsRead      Scope = "forms:read"
	FormsWrite     Scope = "forms:write"
	ResponsesRead  Scope = "responses:read"
	ResponsesWrite Scope = "responses:write"
	WebhooksRead   Scope = "webhooks:read"
	WebhooksWrite  Scope = "webhooks:write"
	// AuditRead is not among the scopes that new applications get.
	AuditRead Scope = "audit:read"
)

// ScopeList lists all scopes with their descriptions on the consent page.
var ScopeList = []struct {
	Scope       Scope
	Description string
}{
	{FormsRead, "View your forms"},
	{FormsWrite, "Create, edit, publish and delete your forms"},
	{ResponsesRead, "View and export responses to your forms"},
	{ResponsesWrite, "Submit, edit and delete responses on your behalf"},
	{WebhooksRead, "View the webhooks of your forms"},
	{WebhooksWrite, "Create, edit and delete webhooks"},
	{AuditRead, "View the audit log of the space, if you are an owner of it"},
}

// Description returns the description of the scope on the consent page.
func (s Scope) Description() string {
	for _, entry := range ScopeList {
		if entry.Scope == s {
			return entry.Description
		}
	}
	return string(s)
}

// Scopes is a set of scopes in the order in which they were requested.
type Scopes []Scope

// DefaultScopes returns the scopes of new applications: all but the one for the audit log, which
// has to be chosen.
func DefaultScopes() Scopes {
	var list Scopes
	for _, entry := range ScopeList {
		if entry.Scope != AuditRead {
			list = append(list, entry.Scope)
		}
	}
	return list
}

// ParseScopes parses scopes separated by commas or spaces and drops duplicates. If a name
// is unknown, it returns no scopes and that name.
func ParseScopes(text string) (scopes Scopes, unknown string) {
	for _, name := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		s := Scope(name)
		if !slices.ContainsFunc(ScopeList, func(entry struct {
			Scope       Scope
			Description string
		}) bool {
			return entry.Scope == s
		}) {
			return nil, name
		}
		if !slices.Contains(scopes, s) {
			scopes = append(scopes, s)
		}
	}
	return scopes, ""
}

// String joins the scopes with commas, the format of all responses.
func (s Scopes) String() string {
	var b strings.Builder
	for i, scope := range s {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(string(scope))
	}
	return b.String()
}

// Has reports whether the scope is in the set.
func (s Scopes) Has(scope Scope) bool { return slices.Contains(s, scope) }

// FirstNotIn returns the first scope that is not in the allowed set, or empty.
func (s Scopes) FirstNotIn(allowed Scopes) Scope {
	for _, scope := range s {
		if !allowed.Has(scope) {
			return scope
		}
	}
	return ""
}

// Intersect returns the scopes that are also in the allowed set.
func (s Scopes) Intersect(allowed Scopes) Scopes {
	var common Scopes
	for _, scope := range s {
		if allowed.Has(scope) {
			common = append(common, scope)
		}
	}
	return common
}
