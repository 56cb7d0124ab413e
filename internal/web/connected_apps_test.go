package web_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/cli/clitest"
)

func TestConnectedApps(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		app := s.AddApp(ada, "https://app.example/cb")
		b := s.Browser()
		b.SignIn(ada)
		if p := b.Get("/connections"); !strings.Contains(p.Text, "No connected apps") {
			t.Error("no empty state")
		}
		token := s.Exchange(app, b.Allow(app.AuthorizeURL("forms:read")).Query().Get("code"))
		s.Exchange(app, b.Allow(app.AuthorizeURL("responses:read,forms:read")).Query().Get("code"))
		p := b.Get("/connections")
		for text, count := range map[string]int{"/disconnect": 3, "View your forms": 2, "View and export": 1, "last used": 2, "You registered this application": 1, "All forms": 2} {
			if got := strings.Count(p.Text, text); got != count {
				t.Errorf("%q is there %d times, want %d\n%s", text, got, count, p.Text)
			}
		}
		status(t, "disconnect", b.Post("/connections/"+app.ID+"/disconnect", nil), 303)
		if got := s.Call("GET", "/api/v1/me", token.Access, "").Code(); got != 401001 {
			t.Errorf("the token after disconnecting: %d", got)
		}
		if p := b.Get("/connections"); strings.Contains(p.Text, "/disconnect\"") {
			t.Error("it is still listed")
		}
		status(t, "disconnect an app that is not connected", b.Post("/connections/"+app.ID+"/disconnect", nil), 303)
		status(t, "disconnect nonsense", b.Post("/connections/%00/disconnect", nil), 404)
		status(t, "a grant that does not exist", b.Get("/connections/con_01k9z8m7q3e4r5t6y7v8w9x0a1"), 404)
		status(t, "a grant that is nonsense", b.Get("/connections/%00"), 404)
	})
}

var grantLink = regexp.MustCompile(`href="/connections/(con_\w+)"`)

// grants returns the IDs of the grants on the page.
func grants(b *clitest.Browser) (list []string) {
	for _, m := range grantLink.FindAllStringSubmatch(b.Get("/connections").Text, -1) {
		list = append(list, m[1])
	}
	return list
}

// Users narrow grants later, which takes effect at once and never gives more.
func TestNarrowGrant(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		f := newSpaceFixture(t, s)
		second := f.addForm(t, f.space, "Second of the team")
		b := s.Browser()
		b.SignIn(ada)
		team := account.SpaceID(f.space)
		token := s.TokenLimited(ada, f.app, "forms:read", url.Values{"space": {team}})
		id := grants(b)[0]
		if got := f.forms(t, token.Access); got != second+" "+f.other {
			t.Fatalf("all forms: %s", got)
		}
		has(t, b.Get("/connections"), "Team", "All forms")
		has(t, b.Get("/connections/"+id), "Of the team", "Second of the team", "!My own", `value="all" checked`)
		for _, c := range []struct {
			name   string
			fields url.Values
			status int
		}{
			{"a form of another space", url.Values{"forms": {"some"}, "form": {f.own}}, 403},
			{"no form", url.Values{"forms": {"some"}}, 422},
			{"an end in the past", url.Values{"until": {"2001-01-01"}}, 422},
		} {
			status(t, c.name, b.Post("/connections/"+id, c.fields), c.status)
		}
		status(t, "search", b.Post("/connections/"+id, url.Values{"answer": {"show"}, "forms": {"some"}, "search": {"second"}}), 200)
		if got := f.forms(t, token.Access); got != second+" "+f.other {
			t.Errorf("after what was refused: %s", got)
		}
		status(t, "narrow", b.Post("/connections/"+id, url.Values{"forms": {"some"}, "form": {f.other}}), 303)
		if got := f.forms(t, token.Access); got != f.other {
			t.Errorf("one form: %s", got)
		}
		has(t, b.Get("/connections"), "Of the team", "!Second of the team", "!All forms")
		// What was taken away does not come back.
		status(t, "widen", b.Post("/connections/"+id, url.Values{"forms": {"some"}, "form": {f.other, second}}), 303)
		status(t, "all forms", b.Post("/connections/"+id, url.Values{"forms": {"all"}}), 303)
		if got := f.forms(t, token.Access); got != f.other {
			t.Errorf("widened: %s", got)
		}
		soon, later := time.Now().AddDate(0, 0, 3).Format("2006-01-02"), time.Now().AddDate(0, 0, 30).Format("2006-01-02")
		status(t, "an end", b.Post("/connections/"+id, url.Values{"until": {soon}}), 303)
		has(t, b.Get("/connections/"+id), `max="`+soon+`"`, `value="`+soon+`"`)
		status(t, "a later end", b.Post("/connections/"+id, url.Values{"until": {later}}), 422)
		status(t, "no end", b.Post("/connections/"+id, url.Values{"until": {""}}), 303)
		has(t, b.Get("/connections/"+id), `max="`+soon+`"`)

		stranger := s.Browser()
		stranger.SignIn(bob)
		status(t, "another person's grant", stranger.Get("/connections/"+id), 404)
		status(t, "narrow another person's grant", stranger.Post("/connections/"+id, url.Values{"forms": {"some"}}), 404)
		stranger.Post("/connections/"+id+"/disconnect", nil)
		other := s.TokenLimited(ada, f.app, "forms:read", url.Values{"space": {team}})
		if got := f.forms(t, token.Access); got != f.other {
			t.Errorf("after another person tried: %s", got)
		}
		status(t, "disconnect one", b.Post("/connections/"+id+"/disconnect", nil), 303)
		if got := f.forms(t, token.Access); got != "401001" {
			t.Errorf("the grant that was disconnected: %s", got)
		}
		if got := f.forms(t, other.Access); got != second+" "+f.other {
			t.Errorf("the other grant: %s", got)
		}
	})
}
