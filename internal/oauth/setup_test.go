package oauth_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
)

// The tests of this package run the checklist of the authorization server, line by line,
// against a running service. Numbers in failure messages are lines of the checklist.

const (
	ada = "ada@example.com"
	bob = "bob@example.com"

	callback = "https://app.example.com/cb?keep=1"
	native   = "http://127.0.0.1/cb"
)

// fixture is a running service with two users and two applications: one with a secret and
// the read scopes, and a public one.
type fixture struct {
	*clitest.Service
	t      *testing.T
	app    clitest.App
	public clitest.App
}

// runOnEachStore runs the test with a new service on each database engine. The flags are
// passed to the serve command.
func runOnEachStore(t *testing.T, test func(t *testing.T, f *fixture), flags ...string) {
	t.Helper()
	t.Parallel()
	storetest.EachReused(t, func(t *testing.T, storage storetest.Storage) {
		f := &fixture{Service: clitest.Start(t, storage, flags...), t: t}
		f.AddUser(ada)
		f.AddUser(bob)
		f.app = f.AddApp(ada, callback, "--scope=forms:read", "--scope=responses:read")
		f.public = f.AddApp(ada, native, "--public")
		test(t, f)
	})
}

// signIn returns a browser in which the user is signed in.
func (f *fixture) signIn(email string) *clitest.Browser {
	f.t.Helper()
	b := f.Browser()
	b.SignIn(email)
	return b
}

// obtainCode allows the authorization request in the browser and returns the code.
func (f *fixture) obtainCode(b *clitest.Browser, query url.Values) string {
	f.t.Helper()
	return b.Allow(query).Query().Get("code")
}

// expectErrorPage checks that an authorization request shows an error page and does not
// redirect.
func (f *fixture) expectErrorPage(b *clitest.Browser, name, rawQuery string) {
	f.t.Helper()
	p := b.Get("/authorize?" + rawQuery)
	if p.StatusCode != http.StatusBadRequest || p.Header.Get("Location") != "" {
		f.t.Errorf("%s: got %d to %q, want a 400 page", name, p.StatusCode, p.Header.Get("Location"))
	}
	if !strings.Contains(p.Text, "<h1>") {
		f.t.Errorf("%s: the page has no heading", name)
	}
}

// expectRedirectError checks that an authorization request redirects to the application
// with an error. It returns the redirect URL.
func (f *fixture) expectRedirectError(b *clitest.Browser, name, rawQuery, want string) *url.URL {
	f.t.Helper()
	p := b.Get("/authorize?" + rawQuery)
	to, err := p.Location()
	if err != nil || p.StatusCode != http.StatusSeeOther {
		f.t.Errorf("%s: got %d (%v), want a redirect", name, p.StatusCode, err)
		return &url.URL{}
	}
	if to.Query().Get("error") != want || to.Query().Has("code") || to.Query().Get("error_description") == "" {
		f.t.Errorf("%s: redirected to %s, want error=%s and no code", name, to, want)
	}
	return to
}

// expectError checks the error of an OAuth endpoint: its status, our error code, and the
// error of RFC 6749.
func (f *fixture) expectError(name string, a clitest.Response, status, code int, oauthError string) {
	f.t.Helper()
	if a.StatusCode != status || a.Code() != code || a.String("error") != oauthError {
		f.t.Errorf("%s: got %d %d %q, want %d %d %q\n%s", name, a.StatusCode, a.Code(), a.String("error"), status, code, oauthError, a.Text)
	}
	if a.String("error_description") == "" || a.String("message") == "" {
		f.t.Errorf("%s: no description in %s", name, a.Text)
	}
	if a.Header.Get("Cache-Control") != "no-store" {
		f.t.Errorf("%s: Cache-Control is %q", name, a.Header.Get("Cache-Control"))
	}
}

func (f *fixture) expectInvalidGrant(name string, a clitest.Response) {
	f.t.Helper()
	f.expectError(name, a, 400, 400102, "invalid_grant")
}

func (f *fixture) expectInvalidRequest(name string, a clitest.Response) {
	f.t.Helper()
	f.expectError(name, a, 400, 400101, "invalid_request")
}

// tokenErrorCode calls the API with an access token and returns the error code, or 0 if
// the token works.
func (f *fixture) tokenErrorCode(token string) int {
	f.t.Helper()
	return f.Call("GET", "/api/v1/me", token, "").Code()
}

// waitForTokenErrorCode waits until the token has the error code, and returns the last
// code. Use it after commands: they run in another process, and on PostgreSQL the service
// sees their changes only after a notification.
func (f *fixture) waitForTokenErrorCode(token string, want int) (got int) {
	f.t.Helper()
	clitest.WaitFor(func() bool { got = f.tokenErrorCode(token); return got == want })
	return got
}

// waitUntilDisabled waits until the service rejects authorization requests of an
// application that a command has disabled.
func (f *fixture) waitUntilDisabled(b *clitest.Browser, query url.Values) {
	f.t.Helper()
	if !clitest.WaitFor(func() bool { return b.Get("/authorize?"+query.Encode()).StatusCode == http.StatusBadRequest }) {
		f.t.Error("authorization requests of a disabled application are accepted")
	}
}

// withValues returns a copy of values with changes, given as names and new values in turn.
// An empty new value removes the parameter.
func withValues(values url.Values, changes ...string) url.Values {
	changed := url.Values{}
	for name, list := range values {
		changed[name] = append([]string(nil), list...)
	}
	for i := 0; i < len(changes); i += 2 {
		if changes[i+1] == "" {
			changed.Del(changes[i])
		} else {
			changed.Set(changes[i], changes[i+1])
		}
	}
	return changed
}
