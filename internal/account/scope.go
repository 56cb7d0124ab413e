package account

import (
	"slices"
	"strings"
)

// Scope is one permission that an application can be given.
type Scope string

const (
	FormsRead      Scope = "forms:read"
	FormsWrite     Scope = "forms:write"
	ResponsesRead  Scope = "responses:read"
	ResponsesWrite Scope = "responses:write"
	WebhooksRead   Scope = "webhooks:read"
	WebhooksWrite  Scope = "webhooks:write"
)

// ScopeList lists every scope with the sentence that the consent page shows.
var ScopeList = []struct {
	Scope       Scope
	Description string
}{
	{FormsRead, "See your forms"},
	{FormsWrite, "Create, change, publish and delete your forms"},
	{ResponsesRead, "Read and export the responses to your forms"},
	{ResponsesWrite, "Submit responses for you, edit and delete responses"},
	{WebhooksRead, "See the webhooks of your forms"},
	{WebhooksWrite, "Add, change and remove webhooks"},
}

// Description is the scope in the words of the consent page.
func (s Scope) Description() string {
	for _, known := range ScopeList {
		if known.Scope == s {
			return known.Description
		}
	}
	return string(s)
}

// Scopes is a set of permissions in the order in which they were asked for.
type Scopes []Scope

// DefaultScopes is what an application gets that names none at registration.
func DefaultScopes() Scopes {
	all := make(Scopes, len(ScopeList))
	for i, known := range ScopeList {
		all[i] = known.Scope
	}
	return all
}

// ParseScopes reads scopes separated by commas or spaces; duplicates collapse.
// The second result is the first unknown name, or empty.
func ParseScopes(text string) (Scopes, string) {
	var scopes Scopes
	for _, name := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		s := Scope(name)
		if !slices.ContainsFunc(ScopeList, func(known struct {
			Scope       Scope
			Description string
		}) bool {
			return known.Scope == s
		}) {
			return nil, name
		}
		if !slices.Contains(scopes, s) {
			scopes = append(scopes, s)
		}
	}
	return scopes, ""
}

// String joins the scopes by a comma, as every answer does.
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

// Has says whether the scope is in the set.
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

// Intersect keeps what is also in the allowed set.
func (s Scopes) Intersect(allowed Scopes) Scopes {
	var kept Scopes
	for _, scope := range s {
		if allowed.Has(scope) {
			kept = append(kept, scope)
		}
	}
	return kept
}
