package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"formulary/internal/account"
	"formulary/internal/compress"
	"formulary/internal/fault"
	"formulary/internal/id"
	"formulary/internal/oauth"
)

// operation is one method of one path, with its documentation and its handler.
type operation struct {
	Method      string
	Path        string
	ID          string
	Summary     string
	Description string
	Tag         string
	Scope       account.Scope // required scope; empty: any token
	WholeSpace  bool          // needs the permission for the whole space, although the path names a form
	AllForms    bool          // needs access to all forms of the space
	Open        bool          // needs no token
	CORS        bool
	Status      int          // HTTP status of success
	Errors      []fault.Code // beside those that are possible everywhere
	MaxBody     int64        // maximum size of the request body in bytes; 0: no body

	input        reflect.Type // parameters and body
	binary       bool         // the body is the bytes of a file, which the operation reads itself
	form         reflect.Type // body sent as application/x-www-form-urlencoded
	output       reflect.Type // body of the response
	media        []string     // content types of responses that are not JSON
	ranges       bool         // parts of the response can be requested
	compressible bool         // responses may be compressed
	serve        func(a *API, w http.ResponseWriter, r *http.Request) error
}

// isOfForm reports whether the path names a form, as {id}.
func (op *operation) isOfForm() bool { return strings.HasPrefix(op.Path, "/api/v1/forms/{id}") }

// reply is the part of a response beside its typed body.
type reply struct {
	Body     []byte            // rendered body, instead of the typed one
	Reused   *[]byte           // the same in a buffer of newBody, for large ones
	Cached   *compress.Content // Body as stored in a cache
	ETag     string
	Location string
	Link     string
}

// typedOperation is an operation of /api/v1: its input and output types are the
// document's, and its function is all that differs from the others. In and Out are pointers,
// which are all the same to the compiler, so that it compiles newOperation once.
type typedOperation[In, Out any] struct {
	operation
	run func(ctx context.Context, caller *oauth.Principal, in In) (Out, reply, error)
}

// newOperation converts a typed operation into one that can be served.
func newOperation[In, Out any](t typedOperation[In, Out]) *operation {
	op := t.operation
	op.input = reflect.TypeFor[In]().Elem()
	if out := reflect.TypeFor[Out]().Elem(); out != reflect.TypeFor[empty]() {
		op.output = out
	}
	return (&typedHandler{
		operation: op,
		run: func(ctx context.Context, caller *oauth.Principal, in any) (any, reply, error) {
			return t.run(ctx, caller, in.(In))
		},
	}).handle()
}

// typedHandler serves a typed operation.
type typedHandler struct {
	operation
	run  func(ctx context.Context, caller *oauth.Principal, in any) (out any, _ reply, err error)
	read reader
}

func (op *typedHandler) handle() *operation {
	op.CORS = !op.Open
	op.read = newInputReader(op.input, op.MaxBody)
	op.serve = op.serveRequest
	return &op.operation
}

func (op *typedHandler) serveRequest(a *API, w http.ResponseWriter, r *http.Request) (failed error) {
	var caller oauth.Principal
	if !op.Open {
		started := a.Now()
		var err error
		caller, err = a.authorize(w, r, &op.operation)
		defer func() { a.logRequest(&caller, w, r, statusOf(op.Status, failed), started) }()
		if err != nil {
			return err
		}
	}
	in := reflect.New(op.input)
	if err := op.read(in.Elem(), w, r); err != nil {
		return err
	}
	ctx := r.Context()
	if !op.Open {
		ctx = a.contextFor(r, &caller)
	}
	out, rep, err := op.run(ctx, &caller, in.Interface())
	if err != nil {
		return err
	}
	h := w.Header()
	h["Cache-Control"] = privateNoStoreHeader
	if rep.ETag != "" {
		h["Etag"] = []string{rep.ETag}
	}
	if rep.Location != "" {
		h["Location"] = []string{rep.Location}
	}
	if rep.Link != "" {
		h["Link"] = []string{rep.Link}
	}
	switch {
	case op.output == nil:
		w.WriteHeader(op.Status)
	case rep.Cached != nil:
		writeCached(w, op.Status, rep.Cached, rep.Body)
	case rep.Body != nil:
		writeBytes(w, op.Status, rep.Body)
	case rep.Reused != nil:
		writeBytes(w, op.Status, *rep.Reused)
		reuseBody(rep.Reused)
	default:
		writeJSON(w, op.Status, out)
	}
	return nil
}

// empty is the input of operations without parameters and the output of those without a
// body.
type empty struct{}

var privateNoStoreHeader = []string{"private, no-store"}

// parameter is a field of an input struct that comes from the path, the query or a
// header. Its tags define the validation rules, which the OpenAPI document shows.
type parameter struct {
	index      []int
	in         string // path, query, header
	name       string
	header     string // canonical name of the header
	number     bool
	optional   bool // a *string: nil if it is missing
	deepObject bool // a map: name[key]=value
	fallback   string
	minimum    int64
	maximum    int64
	enum       []string
	length     int
}

type reader func(in reflect.Value, w http.ResponseWriter, r *http.Request) error

// newInputReader prepares reading an input type, whose body may have up to maxBody
// bytes.
func newInputReader(t reflect.Type, maxBody int64) reader {
	var params []parameter
	body, sent, hasQuery := -1, -1, false
	for _, f := range inputFields(t) {
		switch f.Name {
		case "Body":
			body = f.Index[0]
			continue
		case "Sent": // the unparsed body
			sent = f.Index[0]
			continue
		}
		kind := f.Type.Kind()
		p := parameter{index: f.Index, fallback: f.Tag.Get("default"), number: kind == reflect.Int64, optional: kind == reflect.Pointer, deepObject: kind == reflect.Map}
		for _, in := range []string{"path", "query", "header"} {
			if name := f.Tag.Get(in); name != "" {
				p.in, p.name, p.header = in, name, http.CanonicalHeaderKey(name)
			}
		}
		if p.in == "" {
			panic(fmt.Sprintf("%s.%s has no request location tag", t, f.Name))
		}
		// Operations without query parameters ignore the query.
		hasQuery = hasQuery || p.in == "query"
		p.minimum, p.maximum = tagNumber(f, "minimum"), tagNumber(f, "maximum")
		p.length = int(tagNumber(f, "maxLength"))
		if enum := f.Tag.Get("enum"); enum != "" {
			p.enum = strings.Split(enum, ",")
		}
		params = append(params, p)
	}
	if (body >= 0) != (maxBody > 0) {
		panic(fmt.Sprintf("%s must have both a body and a limit for it, or neither", t))
	}
	return func(in reflect.Value, w http.ResponseWriter, r *http.Request) error {
		var query url.Values
		if hasQuery && r.URL.RawQuery != "" {
			var err error
			if query, err = url.ParseQuery(r.URL.RawQuery); err != nil {
				return fault.New(fault.BadQuery, "The query string could not be parsed.")
			}
			if r.Method == http.MethodDelete { // an ignored filter would delete too much
				if err := rejectUnknown(params, query); err != nil {
					return err
				}
			}
		}
		for i := range params {
			if err := params[i].read(in.FieldByIndex(params[i].index), r, query); err != nil {
				return err
			}
		}
		if body < 0 {
			return nil
		}
		into := in.Field(body)
		if into.Kind() == reflect.Pointer { // it may be left out
			if r.ContentLength == 0 {
				return nil
			}
			into.Set(reflect.New(into.Type().Elem()))
			into = into.Elem()
		}
		text, err := readBody(w, r, maxBody, into.Addr().Interface())
		if err == nil && sent >= 0 && r.Header.Get("Idempotency-Key") != "" {
			in.Field(sent).SetString(string(text))
		}
		return err
	}
}

// rejectUnknown returns an error if the query has an unknown parameter.
func rejectUnknown(params []parameter, query url.Values) error {
	for name := range query {
		known := slices.ContainsFunc(params, func(p parameter) bool {
			return p.in == "query" && (p.name == name && !p.deepObject || p.deepObject && p.objectKey(name) != "")
		})
		if !known {
			return badQuery(name, "is not a supported parameter")
		}
	}
	return nil
}

// inputFields returns the fields of an input type, including those of embedded structs.
func inputFields(t reflect.Type) []reflect.StructField {
	var list []reflect.StructField
	for _, f := range reflect.VisibleFields(t) {
		if !f.Anonymous {
			list = append(list, f)
		}
	}
	return list
}

func tagNumber(f reflect.StructField, tag string) int64 {
	n, _ := strconv.ParseInt(f.Tag.Get(tag), 10, 64)
	return n
}

func (p *parameter) read(field reflect.Value, r *http.Request, query url.Values) error {
	var values []string
	switch p.in {
	case "path":
		field.SetString(r.PathValue(p.name))
		return nil
	case "query":
		values = query[p.name]
	case "header":
		values = r.Header[p.header]
	}
	if p.deepObject {
		return p.readDeepObject(field, query)
	}
	if len(values) > 1 {
		return p.invalid("appears more than once")
	}
	text := p.fallback
	// An empty value of an enumeration means that it is missing.
	if len(values) == 1 && (values[0] != "" || p.enum == nil) {
		text = values[0]
	}
	if !p.number {
		switch {
		case !id.IsStorable(text):
			return p.invalid("is not valid UTF-8 text")
		case p.length > 0 && utf8.RuneCountInString(text) > p.length:
			return p.invalid("is too long; the limit is %d characters", p.length)
		case text != "" && p.enum != nil && !containsString(p.enum, text):
			return p.invalid("must be one of %s", strings.Join(p.enum, ", "))
		}
		switch {
		case !p.optional:
			field.SetString(text)
		case len(values) == 1:
			given := text // a copy, so that only this variable escapes to the heap
			field.Set(reflect.ValueOf(&given))
		}
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || strings.HasPrefix(text, "+") || n < p.minimum || p.maximum > 0 && n > p.maximum {
		if p.maximum > 0 {
			return p.invalid("must be a whole number from %d to %d", p.minimum, p.maximum)
		}
		return p.invalid("must be a whole number of at least %d", p.minimum)
	}
	field.SetInt(n)
	return nil
}

// objectKey returns the key in name[key].
func (p *parameter) objectKey(name string) string {
	rest, hasPrefix := strings.CutPrefix(name, p.name+"[")
	key, hasSuffix := strings.CutSuffix(rest, "]")
	if !hasPrefix || !hasSuffix {
		return ""
	}
	return key
}

// readDeepObject reads name[key]=value for any number of keys.
func (p *parameter) readDeepObject(field reflect.Value, query url.Values) error {
	found := map[string]string{}
	for name, values := range query {
		if !strings.HasPrefix(name, p.name+"[") {
			continue
		}
		key := p.objectKey(name)
		switch {
		case key == "":
			return badQuery(name, "is not a supported parameter")
		case len(values) > 1:
			return p.invalid("contains %q more than once", key)
		case !id.IsStorable(key + values[0]):
			return p.invalid("is not valid UTF-8 text")
		case utf8.RuneCountInString(values[0]) > p.length:
			return p.invalid("is too long; the limit is %d characters", p.length)
		}
		found[key] = values[0]
	}
	if len(found) > 0 {
		field.Set(reflect.ValueOf(found))
	}
	return nil
}

func containsString(list []string, text string) bool {
	for _, known := range list {
		if known == text {
			return true
		}
	}
	return false
}

func (p *parameter) invalid(format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	return &fault.Error{
		Code:    fault.BadQuery,
		Message: p.name + " " + message + ".",
		Details: []fault.Detail{{Field: p.name, Message: message}},
	}
}
