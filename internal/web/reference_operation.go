package web

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"formulary/internal/fault"
)

// apiOperation is what its page says of one method of one path.
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
	Sample     string // of a body in JSON

	Status      string
	AnswerTypes []string
	Headers     []apiField
	Answer      []apiField

	Errors      []apiError
	ErrorObject string      // that the body of an error is
	Objects     []apiObject // that fields of the body and the answers are made of

	Curl         string
	Example      string // of the answer
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
	Object   string // name of the object that it is, or has in a list
	Required bool
	About    string
	Values   []string // to choose from
	Default  string
	Pattern  string
	limits   *schema
}

type apiObject struct {
	Name   string
	Sent   bool // by the caller
	Fields []apiField
}

// apiError is an error that the API can answer with.
type apiError struct {
	Code fault.Code
	When string // in words for people who write applications
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
	var sent, got []*schema
	media, body := op.Body.media()
	if body != nil {
		o.BodyType, o.Body = media, d.fields("", d.resolve(body))
		sent = append(sent, d.resolve(body))
		if media == "application/json" {
			o.Sample = written(d.example(body), "")
		}
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		a := op.Responses[status]
		if status >= "400" {
			o.fail(a.Description)
			if _, s := a.media(); s != nil {
				o.ErrorObject = s.name()
				got = append(got, &schema{Items: s})
			}
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
			o.Example = strings.ReplaceAll(written(d.example(s), ""), exampleBase, base)
			got = append(got, d.resolve(s))
		}
	}
	seen := map[string]bool{}
	o.Objects = append(d.objects(sent, true, seen), d.objects(got, false, seen)...)
	o.exampleOfError()
	return o
}

// fail adds the errors that the description of an answer lists by their codes.
func (o *apiOperation) fail(description string) {
	for _, digits := range sixDigits.FindAllString(description, -1) {
		n, _ := strconv.Atoi(digits) // as it is six digits
		o.Errors = append(o.Errors, apiError{fault.Code(n), errorMeaning(fault.Code(n))})
	}
}

var sixDigits = regexp.MustCompile(`\b\d{6}\b`)

// exampleOfError shows the error that a caller is most likely to meet.
func (o *apiOperation) exampleOfError() {
	for _, code := range []fault.Code{fault.NotFoundInAccount, fault.InvalidGrant, fault.InvalidClient, fault.ExpiredToken, fault.RateLimited} {
		if slices.ContainsFunc(o.Errors, func(e apiError) bool { return e.Code == code }) {
			o.ErrorStatus = code.Status()
			o.ErrorExample = written(errorExample(code, strings.HasPrefix(o.Path, "/api/oauth2/")), "")
			return
		}
	}
}

// fields are the properties of an object; one without a name of its own has them
// with dots.
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
		f.Format = "" // how much memory it takes is nobody's concern
	}
	for _, value := range s.Enum {
		f.Values = append(f.Values, fmt.Sprint(value))
	}
	if s.Default != nil && s.Default != 0.0 {
		f.Default = fmt.Sprint(s.Default)
	}
	return f
}

// objects are those with a name that are anywhere in the given ones and were not
// seen before, in the order in which a reader meets them.
func (d *document) objects(mentioned []*schema, sent bool, seen map[string]bool) []apiObject {
	var list []apiObject
	for len(mentioned) > 0 {
		s := mentioned[0]
		mentioned = mentioned[1:]
		parts := []*schema{s.Items}
		for _, name := range s.names() {
			p := s.Properties[name]
			if parts = append(parts, p, p.Items); p.Ref == "" && len(p.Properties) > 0 {
				mentioned = append(mentioned, p)
			}
		}
		for _, part := range parts {
			if part == nil || part.Ref == "" || seen[part.Ref] {
				continue
			}
			seen[part.Ref] = true
			mentioned = append(mentioned, d.resolve(part))
			list = append(list, apiObject{part.name(), sent, d.fields("", d.resolve(part))})
		}
	}
	return list
}
