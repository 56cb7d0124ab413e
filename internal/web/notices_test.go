package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/cli/clitest"
	"formulary/internal/form"
	"formulary/internal/id"
	"formulary/internal/store"
)

// Users hear once of what happens to their account.
func TestNotices(t *testing.T) {
	const signIn, changed = "New sign-in to your account", "Your password was changed"
	eachWithPeople(t, func(t *testing.T, s *people) {
		if list := s.sent(ada, ""); len(list) != 0 {
			t.Errorf("the command that adds a user sent %q", list[0].Subject)
		}
		b := s.Browser()
		b.Client.Transport = &agent{b.Client.Transport, "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"}
		status(t, "profile", func() clitest.Page {
			b.SignIn(ada)
			return b.Post("/account/profile", url.Values{"name": {"Ada"}, "language": {"de"}, "time_zone": {"Europe/Berlin"}})
		}(), 303)
		s.one(ada, signIn).must(t, "signed in as "+ada, "Firefox (Linux)", "127.0.0.1", "UTC", "/account#sessions")
		// The browser is known from then on, in the language of the user.
		b.Post("/signout", nil)
		b.SignIn(ada)
		if n := len(s.sent(ada, "")); n != 1 {
			t.Errorf("%d mails after signing in again", n)
		}
		status(t, "a wrong password", s.Browser().Post("/signin", url.Values{"email": {ada}, "password": {"wrong"}}), 401)
		s.Browser().SignIn(ada)
		s.one(ada, "Neue Anmeldung bei Ihrem Konto").must(t, "Datum und Uhrzeit", "127.0.0.1")

		status(t, "password", b.Post("/account/password", url.Values{"password": {"violet anchor hums 8"}, "current": {clitest.Password}}), 303)
		s.one(ada, "Ihr Passwort wurde geändert").must(t, ada)
		s.Command("violet anchor hums 9\n", "user", "password", ada, "--password-stdin")
		if n := len(s.sent(ada, "Ihr Passwort wurde geändert")); n != 2 {
			t.Errorf("%d mails about two new passwords", n)
		}
		if n := len(s.sent(ada, changed)); n != 0 {
			t.Errorf("%d mails in the wrong language", n)
		}
	})
}

// agent is a browser that says what it is.
type agent struct {
	http.RoundTripper
	name string
}

func (a *agent) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("User-Agent", a.name)
	return a.RoundTripper.RoundTrip(r)
}

// Sign-ins of programs without cookies do not flood the user.
func TestSignInNoticeLimit(t *testing.T) {
	eachWithPeople(t, func(t *testing.T, s *people) {
		for range 8 {
			s.Browser().SignIn(ada)
		}
		if n := len(s.sent(ada, "")); n != 5 {
			t.Errorf("%d mails", n)
		}
	})
}

// A grant is announced once, with who registered the application and what it can do.
func TestGrantNotice(t *testing.T) {
	const subject = "“Test application” has access to your account"
	eachWithPeople(t, func(t *testing.T, s *people) {
		s.AddUser(bob)
		app := s.AddApp(bob, "https://x.example/")
		b := s.Browser()
		b.SignIn(ada)
		allow := func(scope string) clitest.Token {
			return s.Exchange(app, b.Allow(app.AuthorizeURL(scope)).Query().Get("code"))
		}
		status(t, "deny", b.Post("/authorize", url.Values{"ticket": {b.ConsentRequest(app.AuthorizeURL("forms:read"))}, "answer": {"cancel"}}), 303)
		token := allow("forms:read,responses:read")
		for range 2 {
			s.Form("/api/oauth2/refresh", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token.Refresh}, "client_id": {app.ID}, "client_secret": {app.Secret}})
		}
		allow("forms:read")
		s.one(ada, subject).must(t, "View your forms", "View and export responses", "An account at example.com", "/connections")
		allow("forms:write")
		if list := s.sent(ada, subject); len(list) != 2 || !strings.Contains(list[1].Text, "publish and delete") {
			t.Errorf("%d mails after a grant of more", len(list))
		}
		// A grant of less is no news, one of a space or for longer is. The mail names the limits.
		me, err := s.db.UserByEmail(t.Context(), ada)
		if err != nil {
			t.Fatal(err)
		}
		space := store.Space{Key: id.New(id.User, time.Now()), Name: "Team"}
		if err := s.db.AddSpace(t.Context(), space, me, time.Now()); err != nil {
			t.Fatal(err)
		}
		var forms []string
		for range 12 {
			f, err := s.db.CreateForm(t.Context(), space.Key, form.Header{Title: "Survey", Language: "en"}, nil, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			forms = append(forms, f.ID)
		}
		team := account.SpaceID(space.Key)
		for _, c := range []struct {
			limits url.Values
			mails  int
		}{
			{url.Values{"forms": {"some"}, "form": {}, "until": {"2090-01-01"}}, 2},
			{url.Values{"space": {team}, "forms": {"some"}, "form": forms, "until": {"2090-01-01"}}, 3},
			{url.Values{"space": {team}, "forms": {"some"}, "form": forms[:2], "until": {"2089-01-01"}}, 3},
			{url.Values{"space": {team}, "forms": {"some"}, "form": forms}, 4},
			{url.Values{"space": {team}}, 5},
		} {
			s.TokenLimited(ada, app, "forms:write", c.limits)
			if n := len(s.sent(ada, subject)); n != c.mails {
				t.Errorf("%d mails after a grant of %v, want %d", n, c.limits, c.mails)
			}
		}
		limited := s.sent(ada, subject)[2].Text
		for _, text := range []string{"Team", "Survey", "and 2 more", "2 January 2090"} {
			if !strings.Contains(limited, text) {
				t.Errorf("the mail about a limited grant has no %q:\n%s", text, limited)
			}
		}
		// A user who tries out an application knows it.
		bobs := s.Browser()
		bobs.SignIn(bob)
		status(t, "try", bobs.Post("/applications/"+app.ID+"/try", nil), 200)
		if n := len(s.sent(bob, subject)); n != 0 {
			t.Errorf("%d mails about trying an application", n)
		}
	})
}

// Names cannot add headers or recipients to a mail.
func TestNamesInMails(t *testing.T) {
	eachWithPeople(t, func(t *testing.T, s *people) {
		now := time.Now()
		const bad = "App\r\nBcc: victim@example.com\r\n\r\nBody\x07 \u202ex"
		mallory, err := s.db.AddUser(t.Context(), account.User{
			ID: id.New(id.User, now), Email: "mallory@example.com", Name: bad, Language: "en\r\nBcc: victim@example.com", Password: "x", CreatedAt: now,
		})
		if err != nil {
			t.Fatal(err)
		}
		app := clitest.App{ID: id.New(id.App, now), Redirect: "https://x.example/"}
		if _, err := s.db.AddApp(t.Context(), account.Application{
			Account: mallory.ID, ID: app.ID, Name: bad, RedirectURIs: []string{app.Redirect}, Scopes: account.DefaultScopes(), CreatedAt: now,
		}, "x", store.IdempotencyKey{}); err != nil {
			t.Fatal(err)
		}
		b := s.Browser()
		b.SignIn(ada)
		b.Allow(app.AuthorizeURL("forms:read"))
		status(t, "mallory's link", s.forgot("mallory@example.com"), 200)
		for _, m := range append(s.sent(ada, ""), s.sent("mallory@example.com", "")...) {
			if m.Get("Bcc") != "" || strings.ContainsAny(m.Subject, "\r\n\x07") || !strings.Contains(m.Get("To"), m.To) {
				t.Errorf("%q: To %s, Bcc %s", m.Subject, m.Get("To"), m.Get("Bcc"))
			}
		}
		if n := len(s.sent(ada, "")); n != 2 {
			t.Errorf("%d mails", n)
		}
		if n := len(s.sent("victim@example.com", "")); n != 0 {
			t.Errorf("%d mails to a victim", n)
		}
	})
}
