package web_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

func TestApplications(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		b := s.Browser()
		b.SignIn(ada)
		register := url.Values{
			"nonce": {"once"}, "name": {"<script>alert(1)</script>"}, "kind": {"secret"}, "scope": {"forms:read", "webhooks:read"},
			"redirect_uris": {"https://a.example/cb\r\n\r\n  https://b.example/cb  "},
		}
		p := b.Post("/applications", register)
		status(t, "register", p, 200)
		if strings.Count(p.Text, "fms_") < 1 || strings.Contains(p.Text, "<script>alert") {
			t.Error("the secret is not shown, or the name is not escaped")
		}
		// Posting the form again registers nothing more, and shows no secret.
		again := b.Post("/applications", register)
		status(t, "again", again, 303)
		id := strings.TrimSuffix(strings.TrimPrefix(again.Header.Get("Location"), "/applications/"), "?saved=already")
		if p := b.Get("/applications"); strings.Count(p.Text, "/applications/app_") != 1 {
			t.Errorf("registered more than once:\n%s", p.Text)
		}
		shown := b.Get("/applications/" + id)
		if strings.Contains(shown.Text, "fms_") || !strings.Contains(shown.Text, "https://b.example/cb") {
			t.Error("the secret is shown again, or an address is missing")
		}
		for name, bad := range map[string]url.Values{
			"no name":      {"redirect_uris": {"https://a.example/"}, "scope": {"forms:read"}},
			"no address":   {"name": {"X"}, "scope": {"forms:read"}},
			"no scope":     {"name": {"X"}, "redirect_uris": {"https://a.example/"}},
			"a long name":  {"name": {strings.Repeat("x", 101)}, "redirect_uris": {"https://a.example/"}, "scope": {"forms:read"}},
			"invisible":    {"name": {"\u200b\u2060"}, "redirect_uris": {"https://a.example/"}, "scope": {"forms:read"}},
			"backwards":    {"name": {"\u202elgoog"}, "redirect_uris": {"https://a.example/"}, "scope": {"forms:read"}},
			"a NUL":        {"name": {"a\x00"}, "redirect_uris": {"https://a.example/"}, "scope": {"forms:read"}},
			"21 addresses": {"name": {"X"}, "redirect_uris": {strings.Repeat("https://a.example/\n", 21)}, "scope": {"forms:read"}},
		} {
			problem(t, name, b.Post("/applications", bad))
			problem(t, name, b.Post("/applications/"+id, bad))
		}
		status(t, "change", b.Post("/applications/"+id, url.Values{"name": {"New name"}, "redirect_uris": {"https://c.example/"}, "scope": {"forms:write"}}), 303)
		if p := b.Get("/applications/" + id); !strings.Contains(p.Text, "New name") || !strings.Contains(p.Text, "https://c.example/") || strings.Contains(p.Text, "b.example") {
			t.Error("the change was not kept")
		}
		status(t, "a second secret", b.Post("/applications/"+id+"/secrets", nil), 200)
		problem(t, "a third secret", b.Post("/applications/"+id+"/secrets", nil))
		status(t, "disable", b.Post("/applications/"+id+"/disable", nil), 303)
		if p := b.Get("/applications/" + id); !strings.Contains(p.Text, "Enable") {
			t.Error("it is not shown as disabled")
		}
		status(t, "enable", b.Post("/applications/"+id+"/enable", nil), 303)
		status(t, "delete", b.Post("/applications/"+id+"/delete", nil), 303)
		status(t, "the page after deletion", b.Get("/applications/"+id), 404)
		// It cannot be registered again, which would revive its tokens.
		if p := b.Post("/applications", url.Values{"id": {id}, "name": {"X"}, "redirect_uris": {"https://a.example/"}, "scope": {"forms:read"}}); strings.Contains(p.Text, id) {
			t.Error("a deleted application came back")
		}
		status(t, "and after that", b.Get("/applications/"+id), 404)
		public := b.Post("/applications", url.Values{"name": {"P"}, "kind": {"public"}, "redirect_uris": {"http://127.0.0.1/"}, "scope": {"forms:read"}})
		status(t, "a public one", public, 303)
		status(t, "its secret", b.Post(strings.TrimSuffix(public.Header.Get("Location"), "?saved=created")+"/secrets", nil), 400)
	})
}

// Names that imitate the service are rejected.
func TestApplicationNames(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		b := s.Browser()
		b.SignIn(ada)
		register := func(name string) clitest.Page {
			return b.Post("/applications", url.Values{"name": {name}, "redirect_uris": {"https://app.example.com/cb"}, "scope": {"forms:read"}})
		}
		for name, said := range map[string]string{
			"Formulary Support": "look like part of Formulary", "F0rmulary": "look like part of Formulary", "Fоrmulary": "one alphabet", "Rep\u200borts": "visible characters",
		} {
			p := register(name)
			problem(t, name, p)
			if !strings.Contains(p.Text, said) {
				t.Errorf("%q is refused without %q", name, said)
			}
		}
		for _, name := range []string{"Café Müller", "Формы", "表单"} {
			p := register(name)
			status(t, name, p, 200)
			if !strings.Contains(p.Text, name) {
				t.Errorf("%q is not shown", name)
			}
		}
	})
}

func TestTryApplication(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		app := s.AddApp(ada, "https://x.example/cb")
		b := s.Browser()
		b.SignIn(ada)
		tried := b.Post("/applications/"+app.ID+"/try", nil)
		has(t, tried, "The OAuth flow works", "303 https://x.example/cb?code=fmc_", "&#34;user&#34;: &#34;"+ada, "Revoke the tokens", "!"+app.Secret)
		if full := regexp.MustCompile(`fm[acr]_[A-Za-z0-9_-]{20,}`).FindString(tried.Text); full != "" {
			t.Errorf("a whole secret is shown: %s", full)
		}
		has(t, b.Get("/connections"), "!"+app.ID)
		// The page lists its requests to the API.
		token := s.Token(ada, app, "forms:read").Access
		me := s.Call("GET", "/api/v1/me", token, "")
		s.Call("POST", "/api/v1/forms", token, `{"title": "x"}`)
		has(t, b.Get("/applications/"+app.ID), "GET /api/v1/me", me.Header.Get("X-Request-Id"), "POST /api/v1/forms", ">403<")
	})
}
