package reference

import (
	"html/template"
	"net/http"
	"regexp"
	"slices"
	"strconv"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/web/page"
)

// referencePage is the overview of the API, or one operation.
type referencePage struct {
	page.Layout
	*reference
	Operation *apiOperation // nil: the overview
	Base      string
	Client    string // client_id of the explorer
	Callback  string // its redirect URI
}

// ShowOverview explains the API and lists its operations.
func (pages *Pages) ShowOverview(req *page.Request) error { return pages.render(req, "API", nil) }

// ShowOperation explains one operation.
func (pages *Pages) ShowOperation(req *page.Request) error {
	ref, err := pages.reference()
	if err != nil {
		return err
	}
	o := ref.byID[req.PathValue("operation")]
	if o == nil {
		return fault.New(fault.UnknownPath, "We can’t find this page. Check the address, or go back to your forms.")
	}
	return pages.render(req, o.Summary+" · API", o)
}

func (pages *Pages) render(req *page.Request, title string, o *apiOperation) error {
	ref, err := pages.reference()
	if err != nil {
		return err
	}
	return pages.templates.Render(req, http.StatusOK, "reference", &referencePage{
		Layout:    page.Layout{Title: title, Section: "api", Style: "reference.css", Script: "explorer.js"},
		reference: ref, Operation: o, Base: pages.Site.BaseURL, Client: pages.Explorer, Callback: pages.Site.BaseURL + ExplorerCallbackPath,
	})
}

// Find returns an operation that the overview shows.
func (p *referencePage) Find(id string) *apiOperation { return p.byID[id] }

// Scopes lists all scopes.
func (p *referencePage) Scopes() account.Scopes { return account.DefaultScopes() }

// Errors lists all errors of the API.
func (p *referencePage) Errors() []apiError { return errorMeanings }

// Error is an example of a validation error.
func (p *referencePage) Error() string { return formatExample(inputError(), "") }

// ScopeDescription describes what a scope allows.
func (p *referencePage) ScopeDescription(scope string) string {
	return p.T(account.Scope(scope).Description())
}

// These are arguments of templates that need the page as well.
type (
	fieldList struct {
		*referencePage
		Sent   bool // by the client: then some fields are required
		Fields []apiField
	}
	fieldType struct {
		*referencePage
		apiField
	}
	errorList struct {
		*referencePage
		Errors []apiError
	}
)

// FieldList is the argument of the template "field-table".
func (p *referencePage) FieldList(sent bool, fields ...[]apiField) fieldList {
	return fieldList{p, sent, slices.Concat(fields...)}
}

// FieldType is the argument of the template "type".
func (p *referencePage) FieldType(f apiField) fieldType { return fieldType{p, f} }

// ErrorList is the argument of the template "error-table".
func (p *referencePage) ErrorList(errors []apiError) errorList { return errorList{p, errors} }

// Limits describes the valid values of a field.
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

// inline renders a text in which backticks mark code.
func inline(text string) template.HTML {
	return template.HTML(inTicks.ReplaceAllString(template.HTMLEscapeString(text), "<code>$1</code>"))
}
