package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"formulary/internal/account"
	"formulary/internal/fault"
)

// reference is the API document as people read it: a page that explains, and one
// for each operation. It is made when somebody first looks, and kept.
type reference struct {
	Groups []*apiGroup
	byID   map[string]*apiOperation
}

// apiGroup is operations about one thing.
type apiGroup struct {
	Name       string
	About      string
	Anchor     string
	Operations []*apiOperation
}

// readReference makes the reference of a document.
func readReference(text []byte, base string) (*reference, error) {
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("read the API document: %w", err)
	}
	ref := &reference{byID: map[string]*apiOperation{}}
	groups := map[string]*apiGroup{}
	for _, tag := range d.Tags {
		g := &apiGroup{Name: tag.Name, About: tag.Description, Anchor: anchor(tag.Name)}
		groups[tag.Name] = g
		ref.Groups = append(ref.Groups, g)
	}
	for path, methods := range d.Paths {
		for method, op := range methods {
			if len(op.Tags) != 1 || groups[op.Tags[0]] == nil {
				return nil, fmt.Errorf("the API document has %s without a group", op.ID)
			}
			g := groups[op.Tags[0]]
			o := d.operation(base, strings.ToUpper(method), path, op)
			o.Group = g
			g.Operations = append(g.Operations, o)
			ref.byID[o.ID] = o
		}
	}
	var last *apiOperation
	for _, g := range ref.Groups {
		slices.SortFunc(g.Operations, func(a, b *apiOperation) int { return cmp.Compare(a.order, b.order) })
		for _, o := range g.Operations {
			if o.Before = last; last != nil {
				last.After = o
			}
			last = o
		}
	}
	return ref, nil
}

// anchor is a name as it stands after # in an address.
func anchor(name string) string {
	return strings.Trim(notInAnchor.ReplaceAllString(strings.ToLower(name), "-"), "-")
}

var notInAnchor = regexp.MustCompile(`[^a-z0-9]+`)

// referencePage explains the API as a whole, or one operation of it.
type referencePage struct {
	layout
	*reference
	Operation *apiOperation // nil: the whole
	Base      string
	Client    string // client_id with which calls are tried
	Callback  string
}

func (web *Handler) showReference(v *pageRequest) error { return web.explainError(v, "API", nil) }

func (web *Handler) showOperation(v *pageRequest) error {
	ref, err := web.reference()
	if err != nil {
		return err
	}
	o := ref.byID[v.r.PathValue("operation")]
	if o == nil {
		return fault.New(fault.UnknownPath, "We can’t find this page. Check the address, or go back to your forms.")
	}
	return web.explainError(v, o.Summary+" · API", o)
}

func (web *Handler) explainError(v *pageRequest, title string, o *apiOperation) error {
	ref, err := web.reference()
	if err != nil {
		return err
	}
	return web.render(v, http.StatusOK, "reference", &referencePage{
		layout:    layout{Title: title, Here: "api", Wide: true, Style: "reference.css", Script: "explorer.js"},
		reference: ref, Operation: o, Base: web.BaseURL, Client: web.Explorer, Callback: web.BaseURL + ExplorerCallbackPath,
	})
}

// Find is an operation that the page explains beside others.
func (p *referencePage) Find(id string) *apiOperation { return p.byID[id] }

// Scopes are all that there are.
func (p *referencePage) Scopes() account.Scopes { return account.DefaultScopes() }

// Errors are all errors that there are.
func (p *referencePage) Errors() []apiError { return errorMeanings }

// Error is what the body of an error about input looks like.
func (p *referencePage) Error() string { return written(inputError(), "") }

// ScopeDescription says what a scope allows.
func (p *referencePage) ScopeDescription(scope string) string {
	return p.T(account.Scope(scope).Description())
}

// listed are fields, typed is one of them and mistaken are errors, each with the
// page around them for the template that shows them.
type (
	listed struct {
		*referencePage
		Sent   bool // by the caller: then some are required
		Fields []apiField
	}
	typed struct {
		*referencePage
		apiField
	}
	mistaken struct {
		*referencePage
		Errors []apiError
	}
)

// Listed hands fields to their template.
func (p *referencePage) Listed(sent bool, fields ...[]apiField) listed {
	return listed{p, sent, slices.Concat(fields...)}
}

// Typed hands a field to the template of its type.
func (p *referencePage) Typed(f apiField) typed { return typed{p, f} }

// Mistaken hands errors to their template.
func (p *referencePage) Mistaken(errors []apiError) mistaken { return mistaken{p, errors} }

// Limits says what values a field takes.
func (p *referencePage) Limits(f apiField) []string {
	var list []string
	number := func(n *float64) string { return strconv.FormatFloat(*n, 'f', -1, 64) }
	s := f.limits
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		list = append(list, p.T("%s to %s|limits", number(s.Minimum), number(s.Maximum)))
	case s.Minimum != nil:
		list = append(list, p.T("at least %s", number(s.Minimum)))
	case s.Maximum != nil:
		list = append(list, p.T("at most %s", number(s.Maximum)))
	}
	switch {
	case s.MinLength > 0 && s.MaxLength > 0:
		list = append(list, p.T("%d to %d characters", s.MinLength, s.MaxLength))
	case s.MaxLength > 0:
		list = append(list, p.T("up to %d characters", s.MaxLength))
	}
	if s.MaxItems > 0 {
		list = append(list, p.T("up to %d items", s.MaxItems))
	}
	return list
}

var inTicks = regexp.MustCompile("`([^`]+)`")

// inline is a text in which backticks mark code.
func inline(text string) template.HTML {
	return template.HTML(inTicks.ReplaceAllString(template.HTMLEscapeString(text), "<code>$1</code>"))
}
