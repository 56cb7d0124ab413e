package oauth_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
)

// The tests of this package are the authorization server's checklist, line by
// line, against the running service. The number in a name is the line's.

const (
	ada = "ada@example.com"
	bob = "bob@example.com"

	callback = "https://app.example.com/cb?keep=1"
	native   = "http://127.0.0.1/cb"
)

// world is a service with two people and two applications: one with a secret
// that may read, and a public one.
type world struct {
	*clitest.Service
	t      *testing.T
	app    clitest.App
	public clitest.App
}

func each(t *testing.T, test func(t *testing.T, w *world), flags ...string) {
	t.Helper()
	t.Parallel()
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		w := &world{Service: clitest.Start(t, place, flags...), t: t}
		w.AddUser(ada)
		w.AddUser(bob)
		w.app = w.AddApp(ada, callback, "--scope=forms:read", "--scope=responses:read")
		w.public = w.AddApp(ada, native, "--public")
		test(t, w)
	})
}

// signedIn is a browser in which somebody is signed in.
func (w *world) signedIn(email string) *clitest.Browser {
	w.t.Helper()
	b := w.Browser()
	b.SignIn(email)
	return b
}

// code lets a person allow the application and returns the code.
func (w *world) code(b *clitest.Browser, query url.Values) string {
	w.t.Helper()
	return b.Allow(query).Query().Get("code")
}

// page checks that an authorization request ends in a local page.
func (w *world) page(b *clitest.Browser, name, rawQuery string) {
	w.t.Helper()
	p := b.Get("/authorize?" + rawQuery)
	if p.StatusCode != http.StatusBadRequest || p.Header.Get("Location") != "" {
		w.t.Errorf("%s: got %d to %q, want a 400 page", name, p.StatusCode, p.Header.Get("Location"))
	}
	if !strings.Contains(p.Text, "<h1>") {
		w.t.Errorf("%s: the page has no words for people", name)
	}
}

// refused checks that an authorization request goes back with an error.
func (w *world) refused(b *clitest.Browser, name, rawQuery, want string) *url.URL {
	w.t.Helper()
	p := b.Get("/authorize?" + rawQuery)
	to, err := p.Location()
	if err != nil || p.StatusCode != http.StatusSeeOther {
		w.t.Errorf("%s: got %d (%v), want a redirect", name, p.StatusCode, err)
		return &url.URL{}
	}
	if to.Query().Get("error") != want || to.Query().Has("code") || to.Query().Get("error_description") == "" {
		w.t.Errorf("%s: redirected to %s, want error=%s and no code", name, to, want)
	}
	return to
}

// is checks an answer of an OAuth endpoint, in both vocabularies.
func (w *world) is(name string, a clitest.Answer, status, code int, word string) {
	w.t.Helper()
	if a.StatusCode != status || a.Code() != code || a.String("error") != word {
		w.t.Errorf("%s: got %d %d %q, want %d %d %q\n%s", name, a.StatusCode, a.Code(), a.String("error"), status, code, word, a.Text)
	}
	if a.String("error_description") == "" || a.String("message") == "" {
		w.t.Errorf("%s: no words in %s", name, a.Text)
	}
	if a.Header.Get("Cache-Control") != "no-store" {
		w.t.Errorf("%s: Cache-Control is %q", name, a.Header.Get("Cache-Control"))
	}
}

func (w *world) grant(name string, a clitest.Answer) {
	w.t.Helper()
	w.is(name, a, 400, 400102, "invalid_grant")
}

func (w *world) invalid(name string, a clitest.Answer) {
	w.t.Helper()
	w.is(name, a, 400, 400101, "invalid_request")
}

// alive says whether an access token works, or with which code it does not.
func (w *world) alive(token string) int {
	w.t.Helper()
	return w.Call("GET", "/api/v1/me", token, "").Code()
}

// soon is alive after a command, which is another process: on PostgreSQL the service
// hears of what it did a moment later.
func (w *world) soon(token string, want int) (got int) {
	w.t.Helper()
	clitest.WaitFor(func() bool { got = w.alive(token); return got == want })
	return got
}

// off returns when the service has heard that an application was switched off.
func (w *world) off(b *clitest.Browser, ask url.Values) {
	w.t.Helper()
	if !clitest.WaitFor(func() bool { return b.Get("/authorize?"+ask.Encode()).StatusCode == http.StatusBadRequest }) {
		w.t.Error("an application that is switched off may ask all the same")
	}
}

func with(values url.Values, changes ...string) url.Values {
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
