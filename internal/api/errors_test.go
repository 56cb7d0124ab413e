package api_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
)

// Paths, methods and CORS headers, which work the same for every route.
func TestRoutes(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		for _, path := range []string{
			"/api", "/api/", "/api/v1", "/api/v1/", "/api/v2/me", "/api/v1/me/", "/api/v1/forms/", "/api/v1//forms", "/api/v1/forms/x/y", "/api/oauth2",
			"/api/oauth2/authorize", "/api/v1/../v1/me", "/.well-known/openid-configuration", "/api/v1/Forms",
		} {
			r, err := http.NewRequest("GET", w.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.URL.Path = path
			r.Header.Set("Authorization", "Bearer "+w.ada)
			w.expectCode(path, w.Do(r), 404001)
		}
		id := w.create(w.ada, "Form")
		// Escapes are decoded in parameters and in fixed parts of a path, except for a
		// slash.
		for path, code := range map[string]int{
			"/api/v1/%66orms": 0, "/api/v1/forms/%2e%2e": 404002, "/api/v1/forms/a%20b": 404002, "/api/v1/forms/a%25b": 404002,
			"/api/v1/forms/a%2Fb": 404001, "/api/v1/forms/a%2fresponses": 404001, "/api/v1/forms/..": 404001, "/api/v1/forms/.": 404001,
		} {
			w.expectCode(path, w.Call("GET", path, w.ada, ""), code)
		}
		for _, c := range []struct{ method, path, allow string }{
			{"POST", "/api/v1/me", "GET, HEAD"},
			{"DELETE", "/api/v1/forms", "GET, HEAD, POST"},
			{"PUT", "/api/v1/forms/" + id, "GET, HEAD, PATCH, DELETE"},
			{"BREW", "/api/v1/forms/" + id, "GET, HEAD, PATCH, DELETE"},
			{"GET", "/api/oauth2/refresh", "POST"},
			{"OPTIONS", "/api/oauth2/introspect", "POST"},
		} {
			a := w.Call(c.method, c.path, w.ada, "")
			w.expectCode(c.method+" "+c.path, a, 405001)
			if got := a.Header.Get("Allow"); got != c.allow {
				t.Errorf("%s %s: Allow is %q", c.method, c.path, got)
			}
		}
		// Operations without query parameters ignore the query.
		for path, code := range map[string]int{"/api/v1/me": 0, "/api/v1/forms/" + id: 0, "/api/v1/forms/" + id + "/retention": 0, "/api/v1/forms": 400001, "/api/v1/forms/" + id + "/summary": 400001} {
			if a := w.Call("GET", path+"?a%zz;b", w.ada, ""); a.Code() != code {
				t.Errorf("%s with a broken query: %d %s", path, a.StatusCode, a.Text)
			}
		}
		head := w.Call("HEAD", "/api/v1/forms", w.ada, "")
		if head.StatusCode != 200 || head.Text != "" || head.Header.Get("Link") == "" {
			t.Errorf("HEAD: %d %q", head.StatusCode, head.Text)
		}
		// CORS: the API allows any origin, without credentials; pages allow none.
		for path, open := range map[string]bool{
			"/api/v1/me": true, "/api/v1/forms/" + id: true, "/api/v1/nonsense": true, "/api/oauth2/token": true, "/api/oauth2/refresh": true,
			"/api/oauth2/revoke": true, "/api/oauth2/introspect": false,
		} {
			a := w.Call("GET", path, "", "", "Origin: https://elsewhere.example")
			if got := a.Header.Get("Access-Control-Allow-Origin") == "*"; got != open || a.Header.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s allows other origins: %v, want %v", path, got, open)
			}
			if got := strings.Contains(a.Header.Get("Access-Control-Expose-Headers"), "X-Request-Id"); got != open {
				t.Errorf("%s exposes its headers: %v, want %v", path, got, open)
			}
			if !open || path == "/api/v1/nonsense" {
				continue
			}
			a = w.Call("OPTIONS", path, "", "", "Origin: https://elsewhere.example", "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization")
			if a.StatusCode != 204 || !strings.Contains(a.Header.Get("Access-Control-Allow-Headers"), "Authorization") || a.Header.Get("Access-Control-Allow-Methods") == "" {
				t.Errorf("preflight of %s: %d %v", path, a.StatusCode, a.Header)
			}
		}
		for _, path := range []string{"/signin", "/authorize", "/docs/api"} {
			if p := w.Browser().Get(path); p.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s allows other origins", path)
			}
		}
	})
}

// Two users × every route × every method: no user can see data of the other.
func TestMatrix(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		doc := document(t, w.Service)
		const secret = "Only Ada's eyes"
		id := w.create(w.ada, secret, "description", secret)
		own := w.create(w.bob, "Bob's own")
		tried := 0
		for path := range doc.Paths.Map() {
			if !strings.HasPrefix(path, "/api/v1/") {
				continue
			}
			for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
				for _, query := range []string{"", "?search=ada", "?sort=title&per_page=200"} {
					for _, ifMatch := range []string{"", "*", `"1"`} {
						target := strings.NewReplacer("{id}", id, "{response}", "rsp_01k9z8m7q3e4r5t6y7v8w9x0a1", "{version}", "1",
							"{webhook}", "whk_01k9z8m7q3e4r5t6y7v8w9x0a1", "{delivery}", "dlv_01k9z8m7q3e4r5t6y7v8w9x0a1", "{note}", "nte_01k9z8m7q3e4r5t6y7v8w9x0a1", "{view}", "viw_01k9z8m7q3e4r5t6y7v8w9x0a1").Replace(path)
						body := ""
						if method == "POST" || method == "PATCH" {
							body = `{"title": "Bob was here"}`
						}
						if method == "PUT" {
							body = `{}`
						}
						if strings.Contains(path, "/responses") && body != "" {
							body = `{"answers": {}}`
						}
						if strings.HasSuffix(path, "/marks") && body != "" {
							body = `{"responses": ["rsp_01k9z8m7q3e4r5t6y7v8w9x0a1"], "status": "done"}`
						}
						if strings.Contains(path, "/notes") && body != "" {
							body = `{"text": "Bob was here"}`
						}
						if strings.Contains(path, "/views") && body != "" {
							body = `{"name": "Bob was here", "filter": {}}`
						}
						if strings.Contains(path, "/webhooks") && body != "" {
							body = `{}`
						}
						a := w.Call(method, target+query, w.bob, body, "If-Match: "+ifMatch)
						tried++
						if strings.Contains(a.Text, secret) || strings.Contains(a.Text, ada) || target != path && strings.Contains(a.Text, id) {
							t.Errorf("%s %s shows data of Ada to Bob: %s", method, target, a.Text)
						}
						want := 404002
						if method == "DELETE" && strings.HasSuffix(path, "/responses") && strings.Contains(query, "sort") {
							want = 400001 // validation comes before the lookup
						}
						if target != path && find(doc, path, method) && a.Code() != want && method != "HEAD" {
							t.Errorf("%s %s: %d, want %d", method, target, a.Code(), want)
						}
					}
				}
			}
		}
		if tried < 100 {
			t.Errorf("only %d requests", tried)
		}
		if a := w.Call("GET", "/api/v1/forms/"+id, w.ada, ""); a.String("title") != secret {
			t.Errorf("Bob has changed Ada's form: %s", a.Text)
		}
		if a := w.Call("GET", "/api/v1/forms/"+own, w.ada, ""); a.Code() != 404002 {
			t.Errorf("Ada sees Bob's form: %s", a.Text)
		}
		for _, odd := range []string{"frm_", "x", "%00", "frm_%ff", id + "0", strings.ToUpper(id), "frm_zzzzzzzzzzzzzzzzzzzzzzzzzz"} {
			w.expectCode("invalid ID "+odd, w.Call("GET", "/api/v1/forms/"+odd, w.ada, ""), 404002)
		}
		// No database can store these.
		parameters := regexp.MustCompile(`\{[a-z]+\}`)
		for path := range doc.Paths.Map() {
			for _, odd := range []string{"x%00", "%ff"} {
				target := parameters.ReplaceAllString(path, odd)
				for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
					if target != path && find(doc, path, method) {
						w.expectCode(method+" "+target, w.Call(method, target, w.ada, "{}", "Origin: https://elsewhere.example"), 404002)
					}
				}
			}
		}
		// The workspace with IDs of the other user.
		b := w.Browser()
		b.SignIn(bob)
		for _, page := range []string{"/applications/" + w.app.ID} {
			if p := b.Get(page); p.StatusCode != 404 {
				t.Errorf("GET %s: %d", page, p.StatusCode)
			}
			for _, action := range []string{"", "/secrets", "/secrets/sec_01k9z8m7q3e4r5t6y7v8w9x0a1/drop", "/disable", "/enable", "/delete"} {
				if p := b.Post(page+action, map[string][]string{"name": {"X"}, "redirect_uris": {callback}, "scope": {"forms:read"}}); p.StatusCode != 404 {
					t.Errorf("POST %s: %d", page+action, p.StatusCode)
				}
			}
		}
		if a := w.Call("GET", "/api/v1/me", w.ada, ""); a.StatusCode != 200 {
			t.Errorf("Ada's token after that: %s", a.Text)
		}
	})
}

func find(doc *openapi3.T, path, method string) bool {
	return doc.Paths.Value(path).GetOperation(method) != nil
}

func document(t *testing.T, s *clitest.Service) *openapi3.T {
	t.Helper()
	text := s.Call("GET", "/api/v1/openapi.json", "", "").Text
	documents.Lock()
	defer documents.Unlock()
	if documents.byText[text] == nil {
		doc, err := openapi3.NewLoader().LoadFromData([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		documents.byText[text] = doc
	}
	return documents.byText[text]
}

// documents has the documents that were read, because reading one takes long.
var documents = struct {
	sync.Mutex
	byText map[string]*openapi3.T
}{byText: map[string]*openapi3.T{}}

// docs/applications.md explains every error code in the document.
func TestErrorCodesAreExplained(t *testing.T) {
	docs := filepath.Join("..", "..", "docs")
	document, err := os.ReadFile(filepath.Join(docs, "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(docs, "applications.md"))
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(`\b[45]\d{5}\b`).FindAllString(string(document), -1)
	slices.Sort(codes)
	for _, code := range slices.Compact(codes) {
		if !strings.Contains(string(page), code) {
			t.Errorf("%s is not explained", code)
		}
	}
	if len(codes) == 0 {
		t.Error("no error codes")
	}
}

// docs/openapi.json is up to date.
func TestDocumentIsCommitted(t *testing.T) {
	t.Parallel()
	s := clitest.Start(t, storetest.MigratedSQLite(t))
	shown := s.Call("GET", "/api/v1/openapi.json", "", "")
	file := filepath.Join("..", "..", "docs", "openapi.json")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(shown.Text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	committed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(committed), shown.Text); diff != "" {
		t.Errorf("docs/openapi.json is outdated; run 'make document':\n%s", diff)
	}
	doc := document(t, s)
	if err := doc.Validate(context.Background()); err != nil {
		t.Errorf("the document is not valid: %v", err)
	}
	if doc.OpenAPI != "3.1.0" {
		t.Errorf("OpenAPI %s", doc.OpenAPI)
	}
	for _, path := range []string{"/api/oauth2/token", "/api/oauth2/refresh", "/api/oauth2/revoke", "/api/oauth2/introspect"} {
		body := doc.Paths.Value(path).Post.RequestBody.Value.Content.Get("application/x-www-form-urlencoded").Schema.Value
		if body.Properties["client_id"] == nil || body.Properties["client_secret"] == nil {
			t.Errorf("%s: the document does not describe its authentication", path)
		}
	}
	ids := map[string]bool{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.OperationID == "" || ids[op.OperationID] || op.Summary == "" || len(op.Tags) == 0 {
				t.Errorf("%s %s: id %q, summary %q", method, path, op.OperationID, op.Summary)
			}
			ids[op.OperationID] = true
			if strings.HasPrefix(path, "/api/v1/") && path != "/api/v1/openapi.json" && op.Security == nil {
				t.Errorf("%s %s: needs no token?", method, path)
			}
		}
	}
}
