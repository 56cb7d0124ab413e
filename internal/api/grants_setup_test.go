package api_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/form"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

const defaultScopes = "forms:read,forms:write,responses:read,responses:write,webhooks:read,webhooks:write"

// spaceFixture is a service with a shared space of Ada.
type spaceFixture struct {
	*fixture
	store             *store.Store
	adaUser, bobUser  account.User
	space             string // ID of its account
	form, second, own string // two forms of the space, one of Ada
}

func newSpaceFixture(t *testing.T, w *fixture) spaceFixture {
	t.Helper()
	f := spaceFixture{fixture: w, store: storetest.Open(t, w.Storage), space: id.New(id.User, time.Now())}
	var err error
	if f.adaUser, err = f.store.UserByEmail(t.Context(), ada); err == nil {
		f.bobUser, err = f.store.UserByEmail(t.Context(), bob)
	}
	if err == nil {
		err = f.store.AddSpace(t.Context(), store.Space{Key: f.space, Name: "Team"}, f.adaUser, time.Now())
	}
	if err != nil {
		t.Fatal(err)
	}
	f.form, f.second, f.own = f.addForm(f.space, "Team one"), f.addForm(f.space, "Team two"), f.addForm(f.adaUser.ID, "Own")
	return f
}

func (f spaceFixture) addForm(owner, title string) string {
	f.t.Helper()
	made, err := f.store.CreateForm(f.t.Context(), owner, form.Header{Title: title, Language: "en"}, nil, time.Now())
	if err != nil {
		f.t.Fatal(err)
	}
	return made.ID
}

// grant returns the access token of a grant of the space, with all scopes.
func (f spaceFixture) grant(email, space string, forms ...string) string {
	f.t.Helper()
	limits := url.Values{"space": {account.SpaceID(space)}}
	if len(forms) > 0 {
		limits["forms"], limits["form"] = []string{"some"}, forms
	}
	return f.TokenLimited(email, f.app, defaultScopes, limits).Access
}

// must fails the test if a change of the fixture failed.
func (f spaceFixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// endpoint is an operation of the API, as the document describes it.
type endpoint struct {
	method, path, id string
	scope            account.Scope
}

// ofForm reports whether the path names a form.
func (e endpoint) ofForm() bool { return strings.HasPrefix(e.path, "/api/v1/forms/{id}") }

// endpoints lists the operations that need a scope, with deleteForm at the end.
func (f spaceFixture) endpoints() (list []endpoint) {
	doc := document(f.t, f.Service)
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.Security == nil {
				continue
			}
			for _, needs := range *op.Security {
				for _, scopes := range needs {
					// The audit log has tests of its own.
					if len(scopes) > 0 && strings.Contains(defaultScopes, scopes[0]) {
						list = append(list, endpoint{method, path, op.OperationID, account.Scope(scopes[0])})
					}
				}
			}
		}
	}
	slices.SortFunc(list, func(a, b endpoint) int { return strings.Compare(a.order(), b.order()) })
	if len(list) < 40 || list[len(list)-1].id != "deleteForm" {
		f.t.Fatalf("%d operations need a scope", len(list))
	}
	return list
}

func (e endpoint) order() string {
	if e.id == "deleteForm" {
		return "~"
	}
	return e.path + " " + e.method
}

// target returns the path for a form.
func (e endpoint) target(formID string) string {
	return strings.NewReplacer("{id}", formID, "{response}", "rsp_01k9z8m7q3e4r5t6y7v8w9x0a1", "{version}", "1", "{file}", "fil_01k9z8m7q3e4r5t6y7v8w9x0a1",
		"{webhook}", "whk_01k9z8m7q3e4r5t6y7v8w9x0a1", "{delivery}", "dlv_01k9z8m7q3e4r5t6y7v8w9x0a1", "{note}", "nte_01k9z8m7q3e4r5t6y7v8w9x0a1",
		"{view}", "viw_01k9z8m7q3e4r5t6y7v8w9x0a1", "{theme}", "thm_01k9z8m7q3e4r5t6y7v8w9x0a1").Replace(e.path)
}

// code sends a request to an operation and returns the error code; 0: it succeeded.
func (f spaceFixture) code(e endpoint, formID, token string) int {
	f.t.Helper()
	method, body := e.method, ""
	if method == "POST" || method == "PATCH" || method == "PUT" {
		body = "{}"
	}
	if strings.HasSuffix(e.path, "/views") && body != "" {
		body = `{"name": "Mine", "filter": {}}` // validation comes before the lookup
	}
	if strings.HasSuffix(e.path, "/live") {
		method = "HEAD" // a GET would not end
	}
	a := f.Call(method, e.target(formID), token, body)
	if method == "HEAD" && a.StatusCode >= 400 {
		return map[int]int{403: 403002, 404: 404002}[a.StatusCode]
	}
	return a.Code()
}

// listed returns the titles of all forms that a token can list, in order.
func (f spaceFixture) listed(token, query string) []string {
	f.t.Helper()
	a := f.Call("GET", "/api/v1/forms?sort=title"+query, token, "")
	if a.StatusCode != 200 {
		f.t.Fatalf("list forms: %s", a.Text)
	}
	list := titles(a)
	if got := a.Body["total_items"]; got != float64(len(list)) {
		f.t.Errorf("%v forms are counted, and %v listed", got, list)
	}
	return list
}
