package oauth_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

func TestResource(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		token := w.Token(ada, w.app, "responses:read")
		for _, c := range []struct {
			name    string
			headers []string
			code    int
		}{
			{"84 no header", nil, 401003},
			{"84 empty header", []string{"Authorization: "}, 401003},
			{"85 Basic", []string{"Authorization: Basic eDp5"}, 401004},
			{"85 the token alone", []string{"Authorization: " + token.Access}, 401004},
			{"86 unknown", []string{"Authorization: Bearer nonsense"}, 401001},
			{"86 nothing behind it", []string{"Authorization: Bearer"}, 401001},
			{"86 nothing but a space", []string{"Authorization: Bearer "}, 401001},
			{"86 altered", []string{"Authorization: Bearer " + token.Access[:len(token.Access)-3] + "AbC"}, 401001},
			{"86 longer", []string{"Authorization: Bearer " + token.Access + "A"}, 401001},
			{"86 two tokens", []string{"Authorization: Bearer " + token.Access + " " + token.Access}, 401001},
			{"89 bearer", []string{"Authorization: bearer " + token.Access}, 0},
			{"89 BEARER", []string{"Authorization: BEARER  " + token.Access}, 0},
			{"91 two headers", []string{"Authorization: Bearer " + token.Access, "Authorization: Bearer " + token.Access}, 401001},
		} {
			a := w.Call("GET", "/api/v1/me", "", "", c.headers...)
			if a.Code() != c.code {
				t.Errorf("%s: %d, want %d", c.name, a.Code(), c.code)
			}
			if c.code != 0 && (a.StatusCode != 401 || !strings.HasPrefix(a.Header.Get("WWW-Authenticate"), "Bearer")) {
				t.Errorf("%s: status %d, WWW-Authenticate %q", c.name, a.StatusCode, a.Header.Get("WWW-Authenticate"))
			}
		}
		// 90: the token anywhere else is not there.
		if got := w.Call("GET", "/api/v1/me?access_token="+token.Access, "", "").Code(); got != 401003 {
			t.Errorf("90 in the query: %d", got)
		}
		if got := w.Form("/api/v1/forms", url.Values{"access_token": {token.Access}}).Code(); got != 401003 {
			t.Errorf("90 in the body: %d", got)
		}
		// 92: the scope is named.
		a := w.Call("GET", "/api/v1/forms", token.Access, "")
		if a.StatusCode != 403 || a.Code() != 403001 || !strings.Contains(a.String("message"), "forms:read") {
			t.Errorf("92 %s", a.Text)
		}
	})
}

// 87: an expired token; and the order of the checks.
func TestAccessExpiry(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		token := w.Token(ada, w.app, "responses:read")
		if token.Expires != 1 {
			t.Errorf("expires_in is %d", token.Expires)
		}
		clitest.WaitFor(func() bool { return w.alive(token.Access) != 0 })
		a := w.Call("GET", "/api/v1/forms", token.Access, "")
		if a.Code() != 401005 || a.StatusCode != 401 || !strings.HasPrefix(a.Header.Get("WWW-Authenticate"), "Bearer") {
			t.Errorf("87 expired: %d (before 403001)", a.Code())
		}
		w.Command("", "user", "delete", ada, "--yes")
		if got := w.soon(token.Access, 401005); got != 401005 {
			t.Errorf("87 expired and deleted: %d", got)
		}
	}, "--access-token-ttl=1s")
}

func TestRevokeAndIntrospect(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		const revoke, introspect = "/api/oauth2/revoke", "/api/oauth2/introspect"
		b := w.signedIn(ada)
		fresh := func() clitest.Token {
			return w.Exchange(w.app, w.code(b, w.app.AuthorizeURL("forms:read,responses:read")))
		}
		other := w.AddApp(bob, callback)
		of := func(app clitest.App, token string) url.Values { return app.Authenticate(url.Values{"token": {token}}) }

		// 96: what introspection says.
		token := fresh()
		a := w.Form(introspect, of(w.app, token.Access))
		if a.Body["active"] != true || a.String("scope") != "forms:read,responses:read" || a.String("client_id") != w.app.ID ||
			a.String("username") != ada || a.String("token_type") != "Bearer" || !strings.HasPrefix(a.String("sub"), "usr_") {
			t.Errorf("96 access token: %s", a.Text)
		}
		if life := a.Body["exp"].(float64) - a.Body["iat"].(float64); life != 3600 {
			t.Errorf("96 lives %v s", life)
		}
		if a := w.Form(introspect, of(w.app, token.Refresh)); a.Body["active"] != true {
			t.Errorf("96 refresh token: %s", a.Text)
		}
		inactive := func(name string, app clitest.App, token string) {
			t.Helper()
			if a := w.Form(introspect, of(app, token)); a.StatusCode != 200 || a.Text != `{"active":false}` {
				t.Errorf("96 %s: %d %s", name, a.StatusCode, a.Text)
			}
		}
		inactive("garbage", w.app, "garbage")
		inactive("another client's access token", other, token.Access)
		inactive("another client's refresh token", other, token.Refresh)
		for _, path := range []string{revoke, introspect} {
			w.is("96 without authentication", w.Form(path, url.Values{"token": {token.Access}}), 401, 401101, "invalid_client")
			w.is("96 without a secret", w.Form(path, url.Values{"token": {token.Access}, "client_id": {w.app.ID}}), 401, 401101, "invalid_client")
			w.invalid("96 without a token", w.Form(path, w.app.Authenticate(url.Values{})))
		}
		w.is("96 a public application", w.Form(introspect, of(w.public, token.Access)), 401, 401101, "invalid_client")
		// 95: another client's token.
		if a := w.Form(revoke, of(other, token.Access)); a.StatusCode != 200 || w.alive(token.Access) != 0 {
			t.Errorf("95 %d, then %d", a.StatusCode, w.alive(token.Access))
		}
		w.Form(revoke, of(other, token.Refresh))
		w.MustToken(w.Form(refreshPath, w.app.Refresh(token.Refresh)))
		// 94: an unknown token.
		if a := w.Form(revoke, of(w.app, "fma_unknown")); a.StatusCode != 200 || a.Text != "" {
			t.Errorf("94 %d %q", a.StatusCode, a.Text)
		}
		// An access token goes alone.
		w.Form(revoke, of(w.app, token.Access))
		if got := w.alive(token.Access); got != 401001 {
			t.Errorf("revoked access token: %d", got)
		}
		again := w.MustToken(w.Form(refreshPath, w.app.Refresh(token.Refresh)))
		// 93: a refresh token takes its access tokens along.
		w.Form(revoke, of(w.app, token.Refresh))
		if got := w.alive(again.Access); got != 401001 {
			t.Errorf("93 access token of a revoked refresh token: %d", got)
		}
		inactive("revoked access token", w.app, again.Access)
		inactive("revoked refresh token", w.app, token.Refresh)
		w.grant("93 the refresh token", w.Form(refreshPath, w.app.Refresh(token.Refresh)))
		// A public application revokes its own.
		own := w.publicToken(b)
		w.Form(revoke, of(w.public, own.Refresh))
		if got := w.alive(own.Access); got != 401001 {
			t.Errorf("public application revoked: %d", got)
		}
	})
}

// 97: the metadata is true in every field.
func TestMetadata(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		a := w.Call("GET", "/.well-known/oauth-authorization-server", "", "")
		if a.String("issuer") != w.URL {
			t.Errorf("issuer %q", a.String("issuer"))
		}
		local := func(field string) string {
			path, ok := strings.CutPrefix(a.String(field), w.URL)
			if !ok {
				t.Errorf("%s is %q", field, a.String(field))
			}
			return path
		}
		b := w.signedIn(ada)
		if p := b.Get(local("authorization_endpoint") + "?" + w.app.AuthorizeURL("forms:read").Encode()); p.StatusCode != 200 {
			t.Errorf("authorization_endpoint: %d", p.StatusCode)
		}
		if p := b.Get(local("service_documentation")); p.StatusCode != 200 {
			t.Errorf("service_documentation: %d", p.StatusCode)
		}
		list := func(field string) []string {
			var values []string
			for _, v := range a.Body[field].([]any) {
				values = append(values, v.(string))
			}
			return values
		}
		auth := func(field, path string) {
			for _, method := range list(field) {
				var answer clitest.Answer
				token := w.Exchange(w.app, w.code(b, w.app.AuthorizeURL("forms:read")))
				app, header := w.app, []string(nil)
				switch method {
				case "client_secret_post":
				case "client_secret_basic":
					r, _ := http.NewRequest("POST", "http://x", nil)
					r.SetBasicAuth(app.ID, app.Secret)
					header = []string{"Authorization: " + r.Header.Get("Authorization")}
					app.Secret = ""
				case "none":
					app, token = w.public, w.publicToken(b)
				default:
					t.Errorf("%s: %q is not known", field, method)
				}
				if path == tokenPath {
					answer = w.Form(path, app.Refresh(token.Refresh), header...)
				} else {
					answer = w.Form(path, app.Authenticate(url.Values{"token": {token.Access}}), header...)
				}
				if answer.StatusCode != 200 {
					t.Errorf("%s: %s gives %d %s", field, method, answer.StatusCode, answer.Text)
				}
			}
		}
		auth("token_endpoint_auth_methods_supported", local("token_endpoint"))
		auth("revocation_endpoint_auth_methods_supported", local("revocation_endpoint"))
		auth("introspection_endpoint_auth_methods_supported", local("introspection_endpoint"))
		every := w.AddApp(ada, callback)
		if p := b.Get("/authorize?" + every.AuthorizeURL(strings.Join(list("scopes_supported"), " ")).Encode()); p.StatusCode != 200 {
			t.Errorf("scopes_supported: %d", p.StatusCode)
		}
		for field, want := range map[string][]string{
			"response_types_supported": {"code"}, "response_modes_supported": {"query"},
			"grant_types_supported": {"authorization_code", "refresh_token"}, "code_challenge_methods_supported": {"S256"},
		} {
			if got := list(field); !slices.Equal(got, want) {
				t.Errorf("%s is %v", field, got)
			}
		}
		if len(a.Body) != 14 {
			t.Errorf("%d fields, of which not all are tested", len(a.Body))
		}
	})
}

// 98: iss only where it is switched on. 6, 7: what cannot be registered. 100:
// two secrets at once, and the flags of cookies.
func TestRegistration(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		b := w.signedIn(ada)
		with9207 := w.AddApp(ada, callback, "--iss")
		if got := b.Allow(with9207.AuthorizeURL("forms:read")).Query().Get("iss"); got != w.URL {
			t.Errorf("98 iss is %q", got)
		}
		to := w.refused(b, "98 iss with an error", with9207.AuthorizeURL("no").Encode(), "invalid_scope")
		if to.Query().Get("iss") != w.URL {
			t.Errorf("98 error without iss: %s", to)
		}
		for _, uri := range []string{
			"http://example.com/cb", "http://127.0.0.1.example.com/", "javascript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd",
			"https://*.example.com/cb", "https://example.com/*", "https://example.com/cb#f", "https://example.com/cb#", "https://user:pw@example.com/",
			"/callback", "example.com/cb", "", "https://", "https://example.com/a b", "https://example.com/\u00e9", "com.example:/cb", "about:blank", "https://a.example;sandbox/cb", "https://a,b.example/cb",
			"https://example.com/?code=1", "https://example.com/?state=1", "https://example.com/?error=1", "https://example.com/?iss=1", "https://example.com/?a=%zz",
		} {
			p := b.Post("/applications", url.Values{"name": {"X"}, "redirect_uris": {uri}, "scope": {"forms:read"}})
			if p.StatusCode != 422 || !strings.Contains(p.Text, `class="problem"`) {
				t.Errorf("6 registering %q: %d", uri, p.StatusCode)
			}
		}
		for _, uri := range []string{"https://example.com/cb", "http://127.0.0.1:9/cb", "http://[::1]/cb", "http://localhost:3000/cb"} {
			if p := b.Post("/applications", url.Values{"name": {"X"}, "redirect_uris": {uri}, "scope": {"forms:read"}}); p.StatusCode != 200 {
				t.Errorf("6 registering %q: %d", uri, p.StatusCode)
			}
		}
		if p := b.Post("/applications", url.Values{"name": {"X"}, "kind": {"public"}, "redirect_uris": {"com.example.app:/cb"}, "scope": {"forms:read"}}); p.StatusCode != 303 {
			t.Errorf("6 a native scheme: %d", p.StatusCode)
		}

		// 100: both secrets live until the old one is dropped.
		token := w.Exchange(w.app, w.code(b, w.app.AuthorizeURL("forms:read")))
		var rotated clitest.App
		if err := json.Unmarshal([]byte(w.Command("", "app", "rotate-secret", w.app.ID, "--json")), &rotated); err != nil {
			t.Fatal(err)
		}
		old := func() clitest.Answer { return w.Form(refreshPath, w.app.Refresh(token.Refresh)) }
		w.MustToken(old())
		w.MustToken(w.Form(refreshPath, rotated.Refresh(token.Refresh)))
		w.Command("", "app", "rotate-secret", w.app.ID, "--drop")
		clitest.WaitFor(func() bool { return old().StatusCode != http.StatusOK })
		w.is("100 the old secret", old(), 401, 401101, "invalid_client")
		w.MustToken(w.Form(refreshPath, rotated.Refresh(token.Refresh)))

		// An application that is no longer registered for what it was granted.
		if p := b.Post("/applications/"+w.app.ID, url.Values{"name": {"X"}, "redirect_uris": {callback}, "scope": {"webhooks:read"}}); p.StatusCode != 303 {
			t.Fatalf("change the scopes: %d\n%s", p.StatusCode, p.Text)
		}
		w.is("scopes taken back", w.Form(refreshPath, rotated.Refresh(token.Refresh)), 400, 400105, "unauthorized_client")
	})
}

func TestCookies(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p := w.Browser().Post("/signin", url.Values{"email": {ada}, "password": {clitest.Password}})
		for _, c := range p.Cookies() {
			if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Secure || c.Path != "/" || c.Domain != "" {
				t.Errorf("100 on http: %+v", c)
			}
		}
		if n := len(p.Cookies()); n != 2 {
			t.Errorf("100 %d cookies, want those of the session and the device", n)
		}
	})
}

func TestSecureCookies(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r, err := http.NewRequest("POST", w.Local+"/signin", strings.NewReader(url.Values{"email": {ada}, "password": {clitest.Password}}.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		for i, c := range res.Cookies() {
			want := []string{"__Host-formulary", "__Host-formulary-device"}[i]
			if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || !c.Secure || c.Name != want || c.Path != "/" || c.Domain != "" {
				t.Errorf("100 on https: %+v", c)
			}
		}
		if res.Header.Get("Strict-Transport-Security") == "" {
			t.Error("no Strict-Transport-Security on https")
		}
	}, "--base-url=https://forms.example.com")
}
