package clitest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// App holds the credentials of a registered application.
type App struct {
	ID     string `json:"client_id"`
	Secret string `json:"client_secret"`
	// Redirect is the first redirect URI.
	Redirect string
}

// AddApp registers an application. More flags can set scopes or make it public.
func (s *Service) AddApp(owner, redirect string, flags ...string) App {
	s.t.Helper()
	args := append([]string{"app", "add", "Test application", "--owner=" + owner, "--redirect-uri=" + redirect, "--json"}, flags...)
	app := App{Redirect: redirect}
	if err := json.Unmarshal([]byte(s.Command("", args...)), &app); err != nil {
		s.t.Fatal(err)
	}
	return app
}

// AuthorizeURL returns the query of an authorization request.
func (a App) AuthorizeURL(scope string) url.Values {
	return url.Values{"response_type": {"code"}, "client_id": {a.ID}, "redirect_uri": {a.Redirect}, "scope": {scope}}
}

// Token is the body of a token response.
type Token struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
	Type    string `json:"token_type"`
	Expires int64  `json:"expires_in"`
	Scope   string `json:"scope"`
	User    string `json:"user"`
}

// Token signs in a user and completes the authorization code flow for the application.
func (s *Service) Token(email string, app App, scope string) Token {
	s.t.Helper()
	b := s.Browser()
	b.SignIn(email)
	return s.Exchange(app, b.Allow(app.AuthorizeURL(scope)).Query().Get("code"))
}

// TokenLimited is Token with limits on the consent page, as in AllowLimited.
func (s *Service) TokenLimited(email string, app App, scope string, limits url.Values) Token {
	s.t.Helper()
	b := s.Browser()
	b.SignIn(email)
	p := b.AllowLimited(app.AuthorizeURL(scope), limits)
	to, err := p.Location()
	if err != nil || p.StatusCode != http.StatusSeeOther {
		s.t.Fatalf("allow %v: %d %v\n%s", limits, p.StatusCode, err, p.Text)
	}
	return s.Exchange(app, to.Query().Get("code"))
}

// Form sends a form body to an OAuth endpoint.
func (s *Service) Form(path string, fields url.Values, headers ...string) Response {
	s.t.Helper()
	r, err := http.NewRequest(http.MethodPost, s.URL+path, strings.NewReader(fields.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	return s.Do(r)
}

// Exchange returns the body of a token request with a code.
func (a App) Exchange(code string) url.Values {
	return a.Authenticate(url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {a.Redirect}})
}

// Refresh returns the body of a refresh request.
func (a App) Refresh(refresh string) url.Values {
	return a.Authenticate(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}})
}

// Authenticate adds the application's credentials to a body.
func (a App) Authenticate(fields url.Values) url.Values {
	fields.Set("client_id", a.ID)
	if a.Secret != "" {
		fields.Set("client_secret", a.Secret)
	}
	return fields
}

// Exchange exchanges a code for tokens.
func (s *Service) Exchange(app App, code string) Token {
	s.t.Helper()
	return s.MustToken(s.Form("/api/oauth2/token", app.Exchange(code)))
}

// MustToken parses a token response, which must be successful.
func (s *Service) MustToken(a Response) Token {
	s.t.Helper()
	var token Token
	if err := json.Unmarshal([]byte(a.Text), &token); err != nil || a.StatusCode != http.StatusOK {
		s.t.Fatalf("no token: %d %v\n%s", a.StatusCode, err, a.Text)
	}
	return token
}

var personalToken = regexp.MustCompile(`<code>(fmp_[\w-]+)</code>`)

// PersonalToken creates a personal token on its page, in a new session.
func (s *Service) PersonalToken(email, name string, scopes ...string) string {
	s.t.Helper()
	b := s.Browser()
	b.SignIn(email)
	p := b.Post("/tokens", url.Values{"name": {name}, "scope": scopes, "days": {"30"}, "current": {Password}})
	found := personalToken.FindStringSubmatch(p.Text)
	if p.StatusCode != http.StatusOK || found == nil {
		s.t.Fatalf("no personal token: %d\n%s", p.StatusCode, p.Text)
	}
	return found[1]
}
