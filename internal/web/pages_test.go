package web_test

import (
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

// All pages have the same headers; errors are pages too.
func TestPages(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		b := s.Browser()
		b.SignIn(ada)
		for _, path := range []string{"/", "/account", "/applications", "/applications/new", "/connections", "/spaces", "/mails", "/docs/api", "/docs/api/listForms", "/docs/api/callback", "/nonsense", "/?page=9999", "/?page=x"} {
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
				t.Errorf("%s has an inline script or style", path)
			}
			if strings.Contains(strings.ReplaceAll(p.Text, s.URL, ""), `src="http`) {
				t.Errorf("%s loads from another origin", path)
			}
			if len(p.Text) > 100_000 {
				t.Errorf("%s weighs %d bytes", path, len(p.Text))
			}
		}
		status(t, "an invitation", s.Browser().Get("/invitation?token=x"), 400)
		away := s.Browser().Get("/")
		status(t, "a stranger", away, 303)
		if away.Header.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("sent away with %v", away.Header)
		}
		p := b.Post("/docs/api", nil)
		status(t, "POST to a GET-only page", p, 405)
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
