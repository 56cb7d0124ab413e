package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"formulary/internal/blob/blobtest"
	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
)

const (
	ada = "ada.lovelace@example.org"
	bob = "bob@example.org"

	callback = "https://app.example.com/cb"
)

// fixture is a service with two users, each with a token that has all scopes.
type fixture struct {
	*clitest.Service
	t        *testing.T
	app      clitest.App
	ada, bob string
	s3       *blobtest.S3 // nil: files are in a folder
}

func forEachEngine(t *testing.T, test func(t *testing.T, w *fixture), flags ...string) {
	t.Helper()
	t.Parallel()
	storetest.EachReused(t, func(t *testing.T, storage storetest.Storage) { test(t, newFixture(t, storage, flags...)) })
}

func newFixture(t *testing.T, storage storetest.Storage, flags ...string) *fixture {
	t.Helper()
	w := &fixture{Service: clitest.Start(t, storage, flags...), t: t}
	w.AddUser(ada)
	w.AddUser(bob)
	w.app = w.AddApp(ada, callback)
	const all = "forms:read,forms:write,responses:read,responses:write,webhooks:read,webhooks:write"
	w.ada = w.Token(ada, w.app, all).Access
	w.bob = w.Token(bob, w.app, all).Access
	return w
}

// create creates a form and returns its ID.
func (w *fixture) create(token, title string, more ...string) string {
	w.t.Helper()
	fields := map[string]string{"title": title}
	for i := 0; i < len(more); i += 2 {
		fields[more[i]] = more[i+1]
	}
	body, err := json.Marshal(fields)
	if err != nil {
		w.t.Fatal(err)
	}
	a := w.Call("POST", "/api/v1/forms", token, string(body))
	if a.StatusCode != 201 {
		w.t.Fatalf("create %q: %d %s", title, a.StatusCode, a.Text)
	}
	return a.String("id")
}

// expectCode checks the error code of a response, and that its status matches.
func (w *fixture) expectCode(name string, a clitest.Response, code int) {
	w.t.Helper()
	isStatus := a.StatusCode == code/1000
	if code == 0 {
		isStatus = a.StatusCode < 400
	}
	if a.Code() != code || !isStatus {
		w.t.Errorf("%s: got %d with status %d, want %d\n%s", name, a.Code(), a.StatusCode, code, a.Text)
	}
}

// eventually is expectCode for a GET after a change by another process, of which a server on
// PostgreSQL learns a little later.
func (w *fixture) eventually(name, path, token string, code int) {
	w.t.Helper()
	a := w.Call("GET", path, token, "")
	for deadline := time.Now().Add(10 * time.Second); a.Code() != code && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
		a = w.Call("GET", path, token, "")
	}
	w.expectCode(name, a, code)
}

// expectFields compares fields in the body of a response.
func (w *fixture) expectFields(name string, a clitest.Response, want map[string]any) {
	w.t.Helper()
	got := map[string]any{}
	for field := range want {
		got[field] = a.Body[field]
	}
	w.expectEqual(name, got, want)
}

func (w *fixture) expectEqual(name string, got, want any) {
	w.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// expectStatus checks the HTTP status of a response.
func (w *fixture) expectStatus(name string, a clitest.Response, want int) {
	w.t.Helper()
	if a.StatusCode != want {
		w.t.Errorf("%s: status %d, want %d\n%s", name, a.StatusCode, want, a.Text)
	}
}

// expectHeader checks that a header contains a text.
func (w *fixture) expectHeader(name string, header http.Header, field, part string) {
	w.t.Helper()
	if got := header.Get(field); !strings.Contains(got, part) {
		w.t.Errorf("%s: header %s is %q, want %q in it", name, field, got, part)
	}
}

// titles returns the titles of the forms on a page.
func titles(a clitest.Response) []string {
	list := []string{}
	for _, f := range a.Body["data"].([]any) {
		list = append(list, f.(map[string]any)["title"].(string))
	}
	return list
}
