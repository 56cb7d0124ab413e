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

// application is somebody's web site, on another origin, that people are sent
// back to.
type application struct {
	clitest.App
	origin string
}

// website starts the application's site; what it answers is harmless.
func website(t testing.TB) string {
	t.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!doctype html><html lang="en"><title>Application</title><link rel="icon" href="data:,"><h1>Welcome back`)
	}))
	t.Cleanup(site.Close)
	return site.URL
}

// register makes an application with a site of its own.
func register(t testing.TB, s *clitest.Service) application {
	t.Helper()
	origin := website(t)
	return application{s.AddApp(ada, origin+"/callback?shop=7"), origin}
}

// link is where the application sends people to be asked.
func (a application) link(scope, state string) string {
	query := a.AuthorizeURL(scope)
	query.Set("state", state)
	return "/authorize?" + query.Encode()
}

// wantBack fails the test unless the browser is at the application's callback
// with its own query and the named values, and nothing else.
func (b *tab) wantBack(a application, names ...string) url.Values {
	b.t.Helper()
	at := b.at()
	query := at.Query()
	if at.Scheme+"://"+at.Host != a.origin || at.Path != "/callback" || query.Get("shop") != "7" {
		b.t.Fatalf("the browser is at %s, want the application's callback:\n%s", at, b.describe())
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

// me asks the API who a token acts for and returns the error code, or 0.
func me(t testing.TB, s *clitest.Service, token string) int {
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
		t.Fatalf("me says neither who nor why not (status %d)", res.StatusCode)
	}
	return answer.ErrorCode
}

// The browser enforces form-action along redirects, so only a browser can show
// that the policy of the consent page lets people out to the application.
func TestAuthorize(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		s := clitest.Start(t, place)
		s.AddUser(ada)
		app := register(t, s)
		const state = "täglich +1 & 100%"
		for _, way := range []struct {
			name   string
			script bool
		}{{"with script", true}, {"without script", false}} {
			t.Run(way.name, func(t *testing.T) {
				b := openTab(t, s.URL, app.origin)
				if !way.script {
					b.withoutScript()
				}
				b.open(app.link("forms:read,responses:read", state))
				b.wantPath("/signin")
				if shown := b.count("[data-theme-switch]:not([hidden])") == 1; shown != way.script {
					t.Fatalf("the theme switch, which needs script, is shown: %v", shown)
				}
				b.signIn(ada)
				b.wantPath("/authorize")
				host := strings.TrimPrefix(app.origin, "http://")
				b.wantWords("Test application", ada, host, "View your forms", "View and export responses to your forms")
				b.wantNoWords("delete your forms")
				b.wantStatus(b.press(button("Allow Access")), 200)
				back := b.wantBack(app, "code", "state")
				if got := back.Get("state"); got != state {
					t.Errorf("state came back as %q, want %q", got, state)
				}
				token := s.Exchange(app.App, back.Get("code"))
				if token.Scope != "forms:read,responses:read" {
					t.Errorf("scope %q", token.Scope)
				}
				if code := me(t, s, token.Access); code != 0 {
					t.Errorf("the token does not work: %d", code)
				}

				// Signed in already, and allowed once: still asked.
				b.open(app.link("forms:read", state))
				b.wantPath("/authorize")
				b.wantStatus(b.press(button("Cancel")), 200)
				back = b.wantBack(app, "error", "error_description", "state")
				if back.Get("error") != "access_denied" || back.Get("state") != state {
					t.Errorf("Cancel came back as %v", back)
				}
			})
		}
	})
}

// What is wrong with the application itself is told to the person, who is sent
// nowhere.
func TestAuthorizeRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	app := register(t, s)
	b := visitor(t, s, ada)
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
				t.Error("there is a consent to give")
			}
		})
	}
}

func TestConnections(t *testing.T) {
	t.Parallel()
	s := start(t)
	app := register(t, s)
	b := visitor(t, s, ada, app.origin)
	b.open("/connections")
	b.wantWords("No connected apps")

	b.open(app.link("forms:read", "s"))
	b.press(button("Allow Access"))
	token := s.Exchange(app.App, b.wantBack(app, "code", "state").Get("code"))
	if code := me(t, s, token.Access); code != 0 {
		t.Fatalf("the token does not work: %d", code)
	}

	b.open("/")
	b.press(link("Connected apps"))
	b.wantPath("/connections")
	b.wantWords("Test application", "View your forms")
	b.wantStatus(b.press(button("Disconnect")), 200)
	b.wantWords("Disconnected.", "No connected apps")
	if code := me(t, s, token.Access); code != 401001 {
		t.Errorf("after Disconnect the token gives %d, want 401001", code)
	}
}
