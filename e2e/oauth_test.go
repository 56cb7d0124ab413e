package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
)

// application is a registered application with a web site on another origin.
type application struct {
	clitest.App
	origin string
}

// startWebsite starts the application's site and returns its origin.
func startWebsite(t testing.TB) string {
	t.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!doctype html><html lang="en"><title>Application</title><link rel="icon" href="data:,"><h1>Welcome back`)
	}))
	t.Cleanup(site.Close)
	return site.URL
}

// registerApp registers an application with its own site.
func registerApp(t testing.TB, s *clitest.Service) application {
	t.Helper()
	origin := startWebsite(t)
	return application{s.AddApp(ada, origin+"/callback?shop=7"), origin}
}

// authorizePath returns the path of an authorization request.
func (a application) authorizePath(scope, state string) string {
	query := a.AuthorizeURL(scope)
	query.Set("state", state)
	return "/authorize?" + query.Encode()
}

// wantCallback fails the test unless the browser is at the application's callback with
// its own query and exactly the named parameters.
func (b *tab) wantCallback(a application, names ...string) url.Values {
	b.t.Helper()
	location := b.location()
	query := location.Query()
	if location.Scheme+"://"+location.Host != a.origin || location.Path != "/callback" || query.Get("shop") != "7" {
		b.t.Fatalf("the browser is at %s, want the application's callback:\n%s", location, b.describe())
	}
	for _, name := range names {
		if query.Get(name) == "" || len(query[name]) != 1 {
			b.t.Errorf("%s came back as %q", name, query[name])
		}
	}
	if len(query) != len(names)+1 {
		b.t.Errorf("the callback got %v, want shop and %v only", query, names)
	}
	return query
}

// meErrorCode requests /api/v1/me with a token and returns the error code, or 0.
func meErrorCode(t testing.TB, s *clitest.Service, token string) int {
	t.Helper()
	req, err := http.NewRequest("GET", s.URL+"/api/v1/me", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var answer struct {
		ErrorCode int    `json:"errorCode"`
		Email     string `json:"email"`
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	if answer.ErrorCode == 0 && answer.Email == "" {
		t.Fatalf("the response has neither an email nor an error code (status %d)", res.StatusCode)
	}
	return answer.ErrorCode
}

// TestAuthorize needs a browser because browsers enforce form-action for redirects: the
// policy of the consent page must allow the redirect to the application.
func TestAuthorize(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, place storetest.Storage) {
		s := clitest.Start(t, place)
		s.AddUser(ada)
		app := registerApp(t, s)
		const state = "täglich +1 & 100%"
		for _, mode := range []struct {
			name   string
			script bool
		}{{"with script", true}, {"without script", false}} {
			t.Run(mode.name, func(t *testing.T) {
				b := openTab(t, s.URL, app.origin)
				if !mode.script {
					b.disableScript()
				}
				b.open(app.authorizePath("forms:read,responses:read", state))
				b.wantPath("/signin")
				if shown := b.count("[data-theme-switch]:not([hidden])") == 1; shown != mode.script {
					t.Fatalf("the theme switch, which needs script, is shown: %v", shown)
				}
				b.signIn(ada)
				b.wantPath("/authorize")
				host := strings.TrimPrefix(app.origin, "http://")
				b.wantText("Test application", ada, host, "View your forms", "View and export responses to your forms")
				b.wantNoText("delete your forms")
				b.wantStatus(b.press(button("Allow Access")), 200)
				back := b.wantCallback(app, "code", "state")
				if got := back.Get("state"); got != state {
					t.Errorf("state came back as %q, want %q", got, state)
				}
				token := s.Exchange(app.App, back.Get("code"))
				if token.Scope != "forms:read,responses:read" {
					t.Errorf("scope %q", token.Scope)
				}
				if code := meErrorCode(t, s, token.Access); code != 0 {
					t.Errorf("the token does not work: %d", code)
				}

				// Consent is requested again, even for a user who is signed in and
				// allowed it before.
				b.open(app.authorizePath("forms:read", state))
				b.wantPath("/authorize")
				b.wantStatus(b.press(button("Cancel")), 200)
				back = b.wantCallback(app, "error", "error_description", "state")
				if back.Get("error") != "access_denied" || back.Get("state") != state {
					t.Errorf("Cancel came back as %v", back)
				}
			})
		}
	})
}

// TestAuthorizeRefused: problems with the application itself are shown to the user, who
// is not redirected.
func TestAuthorizeRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	app := registerApp(t, s)
	b := signedInTab(t, s, ada)
	for _, test := range []struct{ name, field, value string }{
		{"unknown application", "client_id", "app_00000000000000000000000000"},
		{"other site", "redirect_uri", "https://elsewhere.example/callback"},
	} {
		t.Run(test.name, func(t *testing.T) {
			query := app.AuthorizeURL("forms:read")
			query.Set(test.field, test.value)
			b.wantStatus(b.open("/authorize?"+query.Encode()), 400)
			b.wantPath("/authorize")
			if n := b.count("form[action='/authorize']"); n != 0 {
				t.Error("the page asks for consent")
			}
		})
	}
}

func TestConnections(t *testing.T) {
	t.Parallel()
	s := start(t)
	app := registerApp(t, s)
	b := signedInTab(t, s, ada, app.origin)
	b.open("/connections")
	b.wantText("No connected apps")

	b.open(app.authorizePath("forms:read", "s"))
	b.press(button("Allow Access"))
	token := s.Exchange(app.App, b.wantCallback(app, "code", "state").Get("code"))
	if code := meErrorCode(t, s, token.Access); code != 0 {
		t.Fatalf("the token does not work: %d", code)
	}

	b.open("/")
	b.press(link("Connected apps"))
	b.wantPath("/connections")
	b.wantText("Test application", "View your forms")
	b.wantStatus(b.press(button("Disconnect")), 200)
	b.wantText("Disconnected.", "No connected apps")
	if code := meErrorCode(t, s, token.Access); code != 401001 {
		t.Errorf("after Disconnect the token gives %d, want 401001", code)
	}
}
