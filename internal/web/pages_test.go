package web_test

import (
	"net/url"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

// What is the same for all pages: headers, errors in words, files.
func TestPages(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		b := s.Browser()
		b.SignIn(ada)
		for _, path := range []string{"/", "/account", "/applications", "/applications/new", "/connections", "/docs/api", "/docs/api/listForms", "/docs/api/callback", "/nonsense", "/?page=9999", "/?page=x"} {
			p := b.Get(path)
			want := 200
			if path == "/nonsense" {
				want = 404
			}
			status(t, path, p, want)
			for name, value := range map[string]string{
				"Content-Type": "text/html; charset=utf-8", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
				"Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "Cross-Origin-Opener-Policy": "same-origin",
				"Permissions-Policy": "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), midi=(), payment=(), usb=()",
			} {
				if got := p.Header.Get(name); got != value {
					t.Errorf("%s: %s is %q", path, name, got)
				}
			}
			policy := p.Header.Get("Content-Security-Policy")
			if !strings.Contains(policy, "default-src 'none'; script-src 'self';") || !strings.Contains(policy, "frame-ancestors 'none'") {
				t.Errorf("%s: policy %s", path, policy)
			}
			if strings.Contains(p.Text, "<script>") || strings.Contains(p.Text, "onclick=") || strings.Contains(p.Text, "style=") {
				t.Errorf("%s has script or style inside", path)
			}
			if strings.Contains(strings.ReplaceAll(p.Text, s.URL, ""), `src="http`) {
				t.Errorf("%s loads from elsewhere", path)
			}
			if len(p.Text) > 100_000 {
				t.Errorf("%s weighs %d bytes", path, len(p.Text))
			}
		}
		away := s.Browser().Get("/")
		status(t, "a stranger", away, 303)
		if away.Header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("sent away with %v", away.Header)
		}
		p := b.Post("/docs/api", nil)
		status(t, "POST to a page that only shows", p, 405)
		if p.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("Allow is %q", p.Header.Get("Allow"))
		}
		head, err := b.Head(s.URL + "/signin")
		if err != nil {
			t.Fatal(err)
		}
		head.Body.Close()
		css := b.Get("/static/formulary.css")
		status(t, "style sheet", css, 200)
		if !strings.HasPrefix(css.Header.Get("Content-Type"), "text/css") {
			t.Errorf("style sheet is %s", css.Header.Get("Content-Type"))
		}
		status(t, "no such file", b.Get("/static/nonsense.css"), 404)
		status(t, "a file elsewhere", b.Get("/static/..%2fweb.go"), 404)
	})
}

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
		// Sending the form again registers nothing more, and shows no secret.
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
		status(t, "switch off", b.Post("/applications/"+id+"/disable", nil), 303)
		if p := b.Get("/applications/" + id); !strings.Contains(p.Text, "Enable") {
			t.Error("it is not shown as off")
		}
		status(t, "switch on", b.Post("/applications/"+id+"/enable", nil), 303)
		status(t, "delete", b.Post("/applications/"+id+"/delete", nil), 303)
		status(t, "after it", b.Get("/applications/"+id), 404)
		// Nobody can register it again: its old tokens must stay dead.
		if p := b.Post("/applications", url.Values{"id": {id}, "name": {"X"}, "redirect_uris": {"https://a.example/"}, "scope": {"forms:read"}}); strings.Contains(p.Text, id) {
			t.Error("a deleted application came back")
		}
		status(t, "and after that", b.Get("/applications/"+id), 404)
		public := b.Post("/applications", url.Values{"name": {"P"}, "kind": {"public"}, "redirect_uris": {"http://127.0.0.1/"}, "scope": {"forms:read"}})
		status(t, "a public one", public, 303)
		status(t, "its secret", b.Post(strings.TrimSuffix(public.Header.Get("Location"), "?saved=created")+"/secrets", nil), 400)
	})
}

func TestConnections(t *testing.T) {
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
		if strings.Count(p.Text, "/disconnect") != 1 || strings.Count(p.Text, "View your forms") != 1 || !strings.Contains(p.Text, "View and export") || !strings.Contains(p.Text, "last used") {
			t.Errorf("what is connected:\n%s", p.Text)
		}
		status(t, "disconnect", b.Post("/connections/"+app.ID+"/disconnect", nil), 303)
		if got := s.Call("GET", "/api/v1/me", token.Access, "").Code(); got != 401001 {
			t.Errorf("the token after it: %d", got)
		}
		if p := b.Get("/connections"); strings.Contains(p.Text, "/disconnect\"") {
			t.Error("it is still listed")
		}
		status(t, "disconnect what is not", b.Post("/connections/"+app.ID+"/disconnect", nil), 303)
		status(t, "disconnect nonsense", b.Post("/connections/%00/disconnect", nil), 404)
	})
}
