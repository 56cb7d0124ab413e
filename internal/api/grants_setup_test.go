package api_test

import (
	"net/url"
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
