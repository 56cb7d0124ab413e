package api_test

import (
	"net/url"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/cli/clitest"
	"formulary/internal/store"
)

// A grant ends at once when its user leaves the space, at its end date, and for the forms that are
// taken away: on every node, for tokens, refreshes, live streams and webhooks.
func TestGrantEnds(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		f := newSpaceFixture(t, w)
		nodes := []*clitest.Service{w.Service}
		if w.Storage.URL != "" {
			nodes = append(nodes, clitest.Start(t, w.Storage))
		}
		limits := url.Values{"space": {account.SpaceID(f.space)}}
		owner := f.grant(ada, f.space)
		for name, c := range map[string]struct {
			end       func(grant string) error
			forms     int  // error code of a request for the list of forms; 0: it succeeds
			unlimited bool // the refresh token stays valid
		}{
			"leaving the space": {func(string) error { return f.store.RemoveMember(t.Context(), f.space, f.bobUser.ID, time.Now()) }, 401001, false},
			"the end date": {func(grant string) error {
				return f.narrow(f.bobUser.ID, grant, store.GrantLimits{Space: f.space, Ends: time.Now().Add(500 * time.Millisecond)})
			}, 401001, false},
			"another form": {func(grant string) error {
				return f.narrow(f.bobUser.ID, grant, store.GrantLimits{Space: f.space, SomeForms: true, Forms: []string{f.second}})
			}, 0, true},
			"disconnecting": {func(grant string) error { return f.store.EndGrant(t.Context(), f.bobUser.ID, grant, time.Now()) }, 401001, false},
			"a new password": {func(string) error {
				return f.store.SetPassword(t.Context(), store.PasswordChange{Owner: f.bobUser.ID, Hash: f.bobUser.Password}, time.Now())
			}, 401001, false},
		} {
			f.must(f.store.SetMember(t.Context(), f.space, f.bobUser.ID, account.Editor, time.Now()))
			token := w.TokenLimited(bob, w.app, defaultScopes, limits)
			hooks := "/api/v1/forms/" + f.form + "/webhooks"
			hook := w.Call("POST", hooks, token.Access, `{"url": "https://example.com/hook"}`)
			w.expectStatus("create a webhook", hook, 201)
			var streams []*clitest.EventStream
			for _, node := range nodes {
				streams = append(streams, node.Events(nil, "/api/v1/forms/"+f.form+"/responses/live", token.Access))
			}
			grants, err := f.store.Grants(t.Context(), f.bobUser.ID, store.LiveGrants{Now: time.Now()})
			f.must(err)
			var grant string
			for _, g := range grants {
				if g.Limits.Space == f.space {
					grant = max(grant, g.ID) // the newest one
				}
			}
			if err := c.end(grant); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for i, node := range nodes {
				form := func() int { return node.Call("GET", "/api/v1/forms/"+f.form, token.Access, "").Code() }
				want := c.forms
				if want == 0 {
					want = 404002
				}
				if !clitest.WaitFor(func() bool { return form() == want }) {
					t.Errorf("%s, node %d: the form is %d, want %d", name, i, form(), want)
				}
				if got := node.Call("GET", "/api/v1/forms", token.Access, "").Code(); got != c.forms {
					t.Errorf("%s, node %d: the list is %d, want %d", name, i, got, c.forms)
				}
				streams[i].WaitEnd()
				refreshed := node.Form("/api/oauth2/refresh", w.app.Refresh(token.Refresh))
				if ok := refreshed.StatusCode == 200; ok != c.unlimited || !ok && refreshed.String("error") != "invalid_grant" {
					t.Errorf("%s, node %d: refresh: %s", name, i, refreshed.Text)
				}
				for _, secret := range []string{token.Access, token.Refresh} {
					about := node.Form("/api/oauth2/introspect", w.app.Authenticate(url.Values{"token": {secret}}))
					if about.Body["active"] != c.unlimited || !c.unlimited && len(about.Body) != 1 {
						t.Errorf("%s, node %d: introspection: %s", name, i, about.Text)
					}
				}
			}
			f.must(f.store.EndExpiredGrants(t.Context(), time.Now()))
			if got := w.Call("GET", hooks+"/"+hook.String("id"), owner, "").String("status"); got != "paused" {
				t.Errorf("%s: the webhook is %s", name, got)
			}
			w.expectStatus("delete the webhook", w.Call("DELETE", hooks+"/"+hook.String("id"), owner, ""), 204)
		}
	})
}

// narrow limits a grant further, as its page does.
func (f spaceFixture) narrow(person, grant string, limits store.GrantLimits) error {
	choice, err := f.store.GrantChoice(f.t.Context(), person, limits)
	if err != nil {
		return err
	}
	return f.store.NarrowGrant(f.t.Context(), person, grant, choice, time.Now())
}
