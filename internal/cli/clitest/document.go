package clitest

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// checked is a transport that holds every answer of the API against the
// service's own OpenAPI document: an answer that the document does not have
// fails the test, whatever the test was about.
type checked struct {
	t    testing.TB
	base string
	once sync.Once
	doc  *openapi3.T
}

func (c *checked) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || !strings.HasPrefix(r.URL.String(), c.base) || !forPrograms(r) || r.Method == http.MethodHead || r.Method == http.MethodOptions {
		return res, err
	}
	body, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	c.check(r, res, body)
	return res, nil
}

func forPrograms(r *http.Request) bool {
	path := r.URL.Path
	return strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/.well-known/") ||
		strings.HasPrefix(path, "/f/") && r.Header.Get("Content-Type") == "application/json"
}

func (c *checked) load() {
	res, err := http.Get(c.base + "/api/v1/openapi.json")
	if err != nil {
		c.t.Errorf("read the document: %v", err)
		return
	}
	defer res.Body.Close()
	loader := openapi3.NewLoader()
	doc, err := loader.LoadFromIoReader(res.Body)
	if err != nil {
		c.t.Errorf("the document cannot be loaded: %v", err)
		return
	}
	if err := doc.Validate(loader.Context); err != nil {
		c.t.Errorf("the document is not valid: %v", err)
	}
	c.doc = doc
}

func (c *checked) check(r *http.Request, res *http.Response, body []byte) {
	c.t.Helper()
	c.once.Do(c.load)
	if c.doc == nil {
		return
	}
	schema := c.doc.Components.Schemas["Error"]
	if strings.HasPrefix(r.URL.Path, "/api/oauth2/") {
		schema = c.doc.Components.Schemas["OAuthError"]
	}
	if op := find(c.doc, r.Method, r.URL.Path); op != nil {
		said := op.Responses.Status(res.StatusCode)
		if said == nil {
			c.t.Errorf("%s %s: the document has no status %d\n%s", r.Method, r.URL.Path, res.StatusCode, body)
			return
		}
		media := said.Value.Content.Get("application/json")
		if media == nil && said.Value.Content.Get(res.Header.Get("Content-Type")) != nil {
			return // a file
		}
		if media == nil {
			if len(body) > 0 {
				c.t.Errorf("%s %s: %d has a body, in the document it has none", r.Method, r.URL.Path, res.StatusCode)
			}
			return
		}
		schema = media.Schema
	}
	if kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		c.t.Errorf("%s %s: %d is sent as %q", r.Method, r.URL.Path, res.StatusCode, res.Header.Get("Content-Type"))
		return
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		c.t.Errorf("%s %s: %d is not JSON: %v\n%s", r.Method, r.URL.Path, res.StatusCode, err, body)
		return
	}
	if err := schema.Value.VisitJSON(value, openapi3.EnableJSONSchema2020()); err != nil {
		c.t.Errorf("%s %s: %d is not as in the document: %v\n%s", r.Method, r.URL.Path, res.StatusCode, err, body)
	}
}

// find returns the operation of a method and path, or nil. A path that is spelt
// out goes before one with a parameter in its place.
func find(doc *openapi3.T, method, path string) *openapi3.Operation {
	segments := strings.Split(path, "/")
	var best *openapi3.PathItem
	fewest := len(segments)
next:
	for template, item := range doc.Paths.Map() {
		wanted := strings.Split(template, "/")
		if len(wanted) != len(segments) {
			continue
		}
		parameters := 0
		for i, want := range wanted {
			switch {
			case strings.HasPrefix(want, "{"):
				parameters++
			case want != segments[i]:
				continue next
			}
		}
		if parameters < fewest {
			best, fewest = item, parameters
		}
	}
	if best == nil {
		return nil
	}
	return best.GetOperation(method)
}

// Answer is what the API said.
type Answer struct {
	Page
	Body map[string]any
}

// Code is the errorCode, or 0.
func (a Answer) Code() int {
	code, _ := a.Body["errorCode"].(float64)
	return int(code)
}

// String returns a field of the answer that is text.
func (a Answer) String(field string) string {
	text, _ := a.Body[field].(string)
	return text
}

// Call sends a request to the API: body is JSON, header lines are "Name: value".
func (s *Service) Call(method, path, token, body string, headers ...string) Answer {
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
		r.Header.Add(name, value)
	}
	return s.Do(r)
}

// Do sends a request to the API.
func (s *Service) Do(r *http.Request) Answer {
	s.t.Helper()
	res, err := s.client.Do(r)
	a := Answer{Page: read(s.t, res, err)}
	if len(a.Text) > 0 && a.Header.Get("Content-Disposition") == "" {
		if err := json.Unmarshal([]byte(a.Text), &a.Body); err != nil {
			s.t.Fatalf("%s %s: %d is not a JSON object: %v\n%s", r.Method, r.URL.Path, a.StatusCode, err, a.Text)
		}
	}
	return a
}
