package reference

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"formulary/internal/fault"
)

// apiOperation is one operation of the API as its page shows it.
type apiOperation struct {
	ID      string
	Group   *apiGroup
	Method  string
	Path    string
	Summary string
	About   string
	Open    bool   // needs no token
	Scope   string // empty: any token

	Parameters []apiField
	BodyType   string
	Body       []apiField
	Sample     string // example of a JSON body

	Status       string
	MoreStatuses []string // other successful answers
	AnswerTypes  []string
	Headers      []apiField
	Answer       []apiField

	Errors      []apiError
	ErrorObject string      // schema of errors
	Objects     []apiObject // schemas that fields refer to

	Curl         string
	Example      string // of the HTTP response
	ErrorExample string
	ErrorStatus  int

	Before, After *apiOperation
	order         int
}

// apiField is a parameter, a header, or a property of a body.
type apiField struct {
	Name     string
	In       string // path, query or header
	Type     string
	Format   string
	List     bool
	Object   string // name of its schema, or of that of its items
	Required bool
	About    string
	Values   []string // if only these are valid
	Default  string
	Pattern  string
	limits   *schema
}

type apiObject struct {
	Name   string
	Sent   bool // by the client
	Fields []apiField
}

// apiError is an error of the API.
type apiError struct {
	Code fault.Code
	When string // explains it to developers
}

func (d *document) operation(base, method, path string, op *documented) *apiOperation {
	o := &apiOperation{
		ID: op.ID, Method: method, Path: path, Summary: op.Summary, About: op.Description, Open: op.Security == nil, order: op.Order,
		Curl: d.curl(base, method, path, op),
	}
	for _, needs := range op.Security {
		for _, scopes := range needs {
			o.Scope = strings.Join(scopes, ",")
		}
	}
	for _, p := range op.Parameters {
		f := d.field(p.Name, p.Schema, p.Required)
		f.In, f.About = p.In, p.Description
		o.Parameters = append(o.Parameters, f)
	}
	var sent, received []*schema
	media, body := op.Body.media()
	if body != nil {
		o.BodyType, o.Body = media, d.fields("", d.resolve(body))
		sent = append(sent, d.resolve(body))
		if media == "application/json" {
			o.Sample = formatExample(d.example(body), "")
		}
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		a := op.Responses[status]
		if status >= "400" {
			o.addErrors(a.Description)
			if _, s := a.media(); s != nil {
				o.ErrorObject = s.name()
				received = append(received, &schema{Items: s})
			}
			continue
		}
		if o.Status != "" { // such as a part of a file
			o.MoreStatuses = append(o.MoreStatuses, status)
			continue
		}
		o.Status, o.AnswerTypes = status, a.types()
		for _, name := range slices.Sorted(maps.Keys(a.Headers)) {
			f := d.field(name, a.Headers[name].Schema, true)
			f.In, f.About = "header", a.Headers[name].Description
			o.Headers = append(o.Headers, f)
		}
		if _, s := a.media(); s != nil && len(d.resolve(s).Properties) > 0 {
			o.Answer = d.fields("", d.resolve(s))
			o.Example = strings.ReplaceAll(formatExample(d.example(s), ""), exampleBase, base)
			received = append(received, d.resolve(s))
		}
	}
	seen := map[string]bool{}
	o.Objects = append(d.objects(sent, true, seen), d.objects(received, false, seen)...)
	o.setErrorExample()
	return o
}

// addErrors adds the errors whose codes are in the description of an HTTP response.
func (o *apiOperation) addErrors(description string) {
	for _, digits := range sixDigits.FindAllString(description, -1) {
		n, _ := strconv.Atoi(digits) // always valid
		o.Errors = append(o.Errors, apiError{fault.Code(n), errorMeaning(fault.Code(n))})
	}
}

var sixDigits = regexp.MustCompile(`\b\d{6}\b`)

// setErrorExample sets an example of the most likely error.
func (o *apiOperation) setErrorExample() {
	for _, code := range []fault.Code{fault.NotFoundInAccount, fault.InvalidGrant, fault.InvalidClient, fault.ExpiredToken, fault.RateLimited} {
		if slices.ContainsFunc(o.Errors, func(e apiError) bool { return e.Code == code }) {
			o.ErrorStatus = code.Status()
			o.ErrorExample = formatExample(errorExample(code, strings.HasPrefix(o.Path, "/api/oauth2/")), "")
			return
		}
	}
}

// fields lists the properties of an object. Those of nested objects without a name have
// dots in their names.
func (d *document) fields(within string, s *schema) []apiField {
	var list []apiField
	for _, name := range s.names() {
		p := s.Properties[name]
		list = append(list, d.field(within+name, p, slices.Contains(s.Required, name)))
		if p.Ref == "" && len(p.Properties) > 0 {
			list = append(list, d.fields(within+name+".", p)...)
		}
	}
	return list
}

func (d *document) field(name string, s *schema, required bool) apiField {
	f := apiField{Name: name, Required: required, About: s.Description, Pattern: s.Pattern, limits: s}
	entry := s
	if s.Type == "array" && s.Items != nil {
		f.List, entry = true, s.Items
	}
	f.Type, f.Format, f.Object = string(entry.Type), entry.Format, entry.name()
	if f.Format == "int64" || f.Format == "double" {
		f.Format = "" // of no use to readers
	}
	for _, value := range s.Enum {
		f.Values = append(f.Values, fmt.Sprint(value))
	}
	if s.Default != nil && s.Default != 0.0 {
		f.Default = fmt.Sprint(s.Default)
	}
	return f
}

// objects lists the named schemas within the given ones, except those seen before, in the
// order in which they appear on the page.
func (d *document) objects(queue []*schema, sent bool, seen map[string]bool) []apiObject {
	var list []apiObject
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		parts := []*schema{s.Items}
		for _, name := range s.names() {
			p := s.Properties[name]
			if parts = append(parts, p, p.Items); p.Ref == "" && len(p.Properties) > 0 {
				queue = append(queue, p)
			}
		}
		for _, part := range parts {
			if part == nil || part.Ref == "" || seen[part.Ref] {
				continue
			}
			seen[part.Ref] = true
			queue = append(queue, d.resolve(part))
			list = append(list, apiObject{part.name(), sent, d.fields("", d.resolve(part))})
		}
	}
	return list
}
