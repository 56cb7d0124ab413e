package web_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
)

// spacePages returns the addresses of pages about a space of the user, and of a form in it.
func spacePages(t *testing.T, s *clitest.Service, b *clitest.Browser) []string {
	t.Helper()
	s.AddUser(bob)
	s.Token(ada, s.AddApp(ada, "https://app.example.com/cb"), "forms:read")
	grant := regexp.MustCompile(`/connections/con_\w{26}`).FindString(b.Get("/connections").Text)
	space := newSpace(t, b, "Team")
	form := strings.TrimSuffix(b.Post("/forms", url.Values{"title": {"Order"}}).Header.Get("Location"), "/build")
	status(t, "share", b.Post(form+"/people", url.Values{"email": {bob}, "role": {"editor"}}), 303)
	status(t, "invite", b.Post(form+"/people", url.Values{"link": {"1"}, "role": {"viewer"}}), 200)
	return []string{grant, space, space + "?page=2", space + "/audit", space + "/audit?action=form.shared&since=2026-01-01", newLink(t, b, space, "viewer"), form + "/share", movingForm(t, s, b)}
}

// movingForm returns the address of the page about a form that is being moved.
func movingForm(t *testing.T, s *clitest.Service, b *clitest.Browser) string {
	t.Helper()
	db := storetest.Open(t, s.Storage)
	user, err := db.UserByEmail(t.Context(), ada)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 { // the service may complete a move at any time
		form := strings.TrimSuffix(b.Post("/forms", url.Values{"title": {"Order"}}).Header.Get("Location"), "/build")
		formID := strings.TrimPrefix(form, "/forms/")
		from, err := db.SpaceOfForm(t.Context(), formID)
		if err == nil {
			err = db.StartMove(t.Context(), from, formID, user.ID, time.Now())
		}
		if err != nil {
			t.Fatal(err)
		}
		if b.Get(form+"/move").StatusCode == 200 {
			return form + "/move"
		}
	}
	t.Fatal("moves end at once")
	return ""
}

// All pages have the same headers; errors are pages too.
func TestPages(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		b := s.Browser()
		b.SignIn(ada)
		pages := []string{"/", "/account", "/applications", "/applications/new", "/connections", "/spaces", "/mails", "/docs/api", "/docs/api/listForms", "/docs/api/callback", "/nonsense", "/?page=9999", "/?page=x"}
		for _, path := range append(pages, spacePages(t, s, b)...) {
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
