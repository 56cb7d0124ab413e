package web_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"formulary/internal/account"
	"formulary/internal/cli/clitest"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
	"formulary/internal/web"
)

// What belongs to a person is of no use to others, not even to the owner of a space that both are
// in: applications, tokens, grants, sessions and mails.
func TestPersonalRoutes(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		f := newSpaceFixture(t, s)
		s.Token(ada, f.app, "forms:read")
		s.PersonalToken(ada, "Mine", "forms:read")
		if err := f.store.SetMember(t.Context(), f.space, f.bob.ID, account.Owner, time.Now()); err != nil {
			t.Fatal(err)
		}
		b := s.Browser()
		b.SignIn(bob)
		ids := f.personalIDs(t)
		rows := func() []string { return storetest.Rows(t, f.store, "app_call", "device", "mail", "setting") }
		before, tried := rows(), 0
		for _, r := range web.Routes() {
			method, path, _ := strings.Cut(r.Pattern, " ")
			if r.Needs != "" || !r.SignedIn || !strings.Contains(path, "{") {
				continue
			}
			for _, name := range strings.Split(ids.Get(strings.Split(path, "/")[1]), " ") {
				if name == "" {
					t.Fatalf("%s: whose is it?", r.Pattern)
				}
				target := strings.NewReplacer("{id}", name, "{secret}", ids.Get("secret"), "{account}", f.ada.ID, "{mail}", name).Replace(path)
				tried++
				if method == "GET" {
					want := 404
					if strings.HasPrefix(target, "/mails/") {
						want = 403 // for administrators
					}
					status(t, target, b.Get(target), want)
					continue
				}
				fields := url.Values{"name": {"X"}, "redirect_uris": {f.app.Redirect}, "scope": {"forms:read"}, "forms": {"some"}, "form": {f.own}}
				if p := b.Post(target, fields); p.StatusCode != 404 && p.StatusCode != 303 {
					t.Errorf("%s: %d", target, p.StatusCode)
				}
			}
		}
		if diff := cmp.Diff(before, rows()); diff != "" || tried < 10 {
			t.Errorf("%d requests have changed something:\n%s", tried, diff)
		}
	})
}

// personalIDs returns IDs of what Ada has, by the first part of the path.
func (f spaceFixture) personalIDs(t *testing.T) url.Values {
	t.Helper()
	grants, err := f.store.Grants(t.Context(), f.ada.ID, store.LiveGrants{Now: time.Now()})
	if err != nil || len(grants) == 0 {
		t.Fatal("no grant", err)
	}
	ids := url.Values{"applications": {f.app.ID}, "connections": {grants[0].ID + " " + f.app.ID}}
	for _, row := range storetest.Rows(t, f.store) {
		table, values, _ := strings.Cut(row, " ")
		columns := strings.Split(values, `"`) // the first one, the account, is columns[1]
		switch {
		case columns[1] != f.ada.ID:
		case table == "session":
			ids.Set("account", columns[3])
		case table == "personal_token":
			ids.Set("tokens", columns[3])
		case table == "mail":
			ids.Set("mails", columns[3])
		case table == "app_secret":
			ids.Set("secret", columns[5])
		}
	}
	return ids
}
