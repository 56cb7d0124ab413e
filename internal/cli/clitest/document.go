package clitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Document is the service's OpenAPI document. It validates API responses.
type Document struct {
	*openapi3.T

	mu       sync.Mutex
	compiler *jsonschema.Compiler // compiles each schema once, because that is slow
}

// ReadDocument parses and validates a document.
func ReadDocument(r io.Reader) (*Document, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	loader := openapi3.NewLoader()
	doc, err := loader.LoadFromData(text)
	if err != nil {
		return nil, fmt.Errorf("the document cannot be loaded: %w", err)
	}
	if err := doc.Validate(loader.Context); err != nil {
		return nil, fmt.Errorf("the document is not valid: %w", err)
	}
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	d := &Document{T: doc, compiler: jsonschema.NewCompiler()}
	d.compiler.AssertFormat()
	return d, d.compiler.AddResource(documentName, root)
}

const documentName = "openapi.json"

// schema compiles the schema at a path in the document.
func (d *Document) schema(path ...string) (*jsonschema.Schema, error) {
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	pointer := documentName + "#"
	for _, name := range path {
		pointer += "/" + url.PathEscape(escape.Replace(name))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.compiler.Compile(pointer)
}

// Check reports how a response differs from the document. Requests without an operation
// must get an error response, whose schema is in the document too.
func (d *Document) Check(method, path string, status int, contentType string, body []byte) error {
	schemaPath := []string{"components", "schemas", "Error"}
	if strings.HasPrefix(path, "/api/oauth2/") {
		schemaPath[2] = "OAuthError"
	}
	if template, op := d.findOperation(method, path); op != nil {
		response := op.Responses.Status(status)
		if response == nil {
			return fmt.Errorf("the document has no status %d", status)
		}
		media := response.Value.Content["application/json"]
		if media == nil && response.Value.Content.Get(contentType) != nil {
			return nil // a file
		}
		if media == nil {
			if len(body) > 0 {
				return fmt.Errorf("%d has a body, in the document it has none", status)
			}
			return nil
		}
		schemaPath = []string{"paths", template, strings.ToLower(method), "responses", strconv.Itoa(status), "content", "application/json", "schema"}
	}
	if kind, _, err := mime.ParseMediaType(contentType); err != nil || kind != "application/json" {
		return fmt.Errorf("%d is sent as %q", status, contentType)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%d is not JSON: %w", status, err)
	}
	schema, err := d.schema(schemaPath...)
	if err != nil {
		return err
	}
	if err := schema.Validate(value); err != nil {
		return fmt.Errorf("%d is not as in the document: %w", status, err)
	}
	return nil
}

// Operation returns the operation of a method and path, or nil.
func (d *Document) Operation(method, path string) *openapi3.Operation {
	_, op := d.findOperation(method, path)
	return op
}

// checkedTransport validates every API response against the service's own OpenAPI
// document. A response that does not conform fails the test, whatever the test is
// about.
type checkedTransport struct {
	t    testing.TB
	base string
}

func (c *checkedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(r)
	hasBody := r.Method != http.MethodHead && r.Method != http.MethodOptions
	isChecked := hasBody && isAPIRequest(r) && strings.HasPrefix(r.URL.String(), c.base)
	if err != nil || !isChecked {
		return res, err
	}
	body, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	doc, err := sharedDocument.get(c.base)
	if err != nil {
		c.t.Errorf("read the document: %v", err)
	} else {
		if err := doc.Check(r.Method, r.URL.Path, res.StatusCode, res.Header.Get("Content-Type"), body); err != nil {
			c.t.Errorf("%s %s: %v\n%s", r.Method, r.URL.Path, err, body)
		}
	}
	return res, nil
}

func isAPIRequest(r *http.Request) bool {
	path := r.URL.Path
	if path == "/.well-known/security.txt" || path == "/.well-known/change-password" {
		return false
	}
	return strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/.well-known/") ||
		strings.HasPrefix(path, "/f/") && r.Header.Get("Content-Type") == "application/json"
}

// documentCache holds the document of a test binary. All services of a test binary run
// the same code, so the first one's document is everyone's. Building and parsing it
// takes longer than many tests.
type documentCache struct {
	mu  sync.Mutex
	doc *Document
}

var sharedDocument documentCache

func (d *documentCache) get(base string) (*Document, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.doc != nil {
		return d.doc, nil
	}
	res, err := http.Get(base + "/api/v1/openapi.json")
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	doc, err := ReadDocument(res.Body)
	if err != nil {
		return nil, err
	}
	d.doc = doc
	return doc, nil
}

// findOperation returns the operation of a method and path, or nil, and the path as in
// the document. Literal segments take precedence over parameters.
func (d *Document) findOperation(method, path string) (template string, op *openapi3.Operation) {
	segments := strings.Split(path, "/")
	fewest := len(segments)
next:
	for candidate := range d.Paths.Map() {
		pattern := strings.Split(candidate, "/")
		if len(pattern) != len(segments) {
			continue
		}
		parameters := 0
		for i, want := range pattern {
			switch {
			case strings.HasPrefix(want, "{"):
				parameters++
			case want != segments[i]:
				continue next
			}
		}
		if parameters < fewest {
			template, fewest = candidate, parameters
		}
	}
	if template == "" {
		return "", nil
	}
	return template, d.Paths.Value(template).Operations()[method] // nil for other methods
}

// Response is an HTTP response of the API.
type Response struct {
	Page
	Body map[string]any
}

// Code returns the errorCode, or 0.
func (a Response) Code() int {
	code, _ := a.Body["errorCode"].(float64)
	return int(code)
}

// String returns a string field of the body.
func (a Response) String(field string) string {
	text, _ := a.Body[field].(string)
	return text
}

// Call sends a request to the API. body is JSON; headers have the form "Name: value".
func (s *Service) Call(method, path, token, body string, headers ...string) Response {
	s.t.Helper()
	r, err := http.NewRequest(method, s.URL+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Content-Type" {
			r.Header.Del(name)
		}
		r.Header.Add(name, value)
	}
	return s.Do(r)
}

// Do sends a request to the API.
func (s *Service) Do(r *http.Request) Response {
	s.t.Helper()
	res, err := s.client.Do(r)
	a := Response{Page: read(s.t, res, err)}
	if len(a.Text) > 0 && a.Header.Get("Content-Disposition") == "" {
		if err := json.Unmarshal([]byte(a.Text), &a.Body); err != nil {
			s.t.Fatalf("%s %s: %d is not a JSON object: %v\n%s", r.Method, r.URL.Path, a.StatusCode, err, a.Text)
		}
	}
	return a
}
