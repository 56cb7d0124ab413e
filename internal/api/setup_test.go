package api_test

import (
	"encoding/json"
	"testing"

	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
)

const (
	ada = "ada.lovelace@example.org"
	bob = "bob@example.org"

	callback = "https://app.example.com/cb"
)

// fixture is a service with two users, each with a token that has all scopes.
type world struct {
	*clitest.Service
	t        *testing.T
	app      clitest.App
	ada, bob string
}

func each(t *testing.T, test func(t *testing.T, w *world), flags ...string) {
	t.Helper()
	t.Parallel()
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		w := &world{Service: clitest.Start(t, place, flags...), t: t}
		w.AddUser(ada)
		w.AddUser(bob)
		w.app = w.AddApp(ada, callback)
		const all = "forms:read,forms:write,responses:read,responses:write,webhooks:read,webhooks:write"
		w.ada = w.Token(ada, w.app, all).Access
		w.bob = w.Token(bob, w.app, all).Access
		test(t, w)
	})
}

// create creates a form and returns its ID.
func (w *world) create(token, title string, more ...string) string {
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

// is checks the error code of a response, and that its status matches.
func (w *world) is(name string, a clitest.Answer, code int) {
	w.t.Helper()
	if a.Code() != code || code != 0 && a.StatusCode != code/1000 || code == 0 && a.StatusCode >= 400 {
		w.t.Errorf("%s: got %d with status %d, want %d\n%s", name, a.Code(), a.StatusCode, code, a.Text)
	}
}

// titles returns the titles of the forms on a page.
func titles(a clitest.Answer) []string {
	list := []string{}
	for _, f := range a.Body["data"].([]any) {
		list = append(list, f.(map[string]any)["title"].(string))
	}
	return list
}
