package web_test

import (
	"strings"
	"testing"

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
		for text, count := range map[string]int{"/disconnect": 1, "View your forms": 1, "View and export": 1, "last used": 1} {
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
	})
}
