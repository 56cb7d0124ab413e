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

// TestBearerToken covers lines 84 to 86 and 89 to 92: how the API reads the bearer token.
func TestBearerToken(t *testing.T) {
	runOnEachStore(t, func(t *testing.T, f *fixture) {
		token := f.Token(ada, f.app, "responses:read")
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
			{"86 no token", []string{"Authorization: Bearer"}, 401001},
			{"86 only a space", []string{"Authorization: Bearer "}, 401001},
			{"86 altered", []string{"Authorization: Bearer " + token.Access[:len(token.Access)-3] + "AbC"}, 401001},
			{"86 longer", []string{"Authorization: Bearer " + token.Access + "A"}, 401001},
			{"86 two tokens", []string{"Authorization: Bearer " + token.Access + " " + token.Access}, 401001},
			{"89 bearer", []string{"Authorization: bearer " + token.Access}, 0},
			{"89 BEARER", []string{"Authorization: BEARER  " + token.Access}, 0},
			{"91 two headers", []string{"Authorization: Bearer " + token.Access, "Authorization: Bearer " + token.Access}, 401001},
		} {
			a := f.Call("GET", "/api/v1/me", "", "", c.headers...)
			if a.Code() != c.code {
				t.Errorf("%s: %d, want %d", c.name, a.Code(), c.code)
			}
			if c.code != 0 && (a.StatusCode != 401 || !strings.HasPrefix(a.Header.Get("WWW-Authenticate"), "Bearer")) {
				t.Errorf("%s: status %d, WWW-Authenticate %q", c.name, a.StatusCode, a.Header.Get("WWW-Authenticate"))
			}
		}
		// 90: the token is read from the header only.
		if got := f.Call("GET", "/api/v1/me?access_token="+token.Access, "", "").Code(); got != 401003 {
			t.Errorf("90 in the query: %d", got)
		}
		if got := f.Form("/api/v1/forms", url.Values{"access_token": {token.Access}}).Code(); got != 401003 {
			t.Errorf("90 in the body: %d", got)
		}
		// 92: the error names the missing scope.
		a := f.Call("GET", "/api/v1/forms", token.Access, "")
		if a.StatusCode != 403 || a.Code() != 403001 || !strings.Contains(a.String("message"), "forms:read") {
			t.Errorf("92 %s", a.Text)
		}
	})
}

// TestAccessExpiry covers line 87: an expired token gives 401005, before a missing scope
// and before a deleted user are checked.
func TestAccessExpiry(t *testing.T) {
	runOnEachStore(t, func(t *testing.T, f *fixture) {
		token := f.Token(ada, f.app, "responses:read")
		if token.Expires != 1 {
			t.Errorf("expires_in is %d", token.Expires)
		}
		clitest.WaitFor(func() bool { return f.tokenErrorCode(token.Access) != 0 })
		a := f.Call("GET", "/api/v1/forms", token.Access, "")
		if a.Code() != 401005 || a.StatusCode != 401 || !strings.HasPrefix(a.Header.Get("WWW-Authenticate"), "Bearer") {
			t.Errorf("87 expired and without the scope: %d", a.Code())
		}
		f.Command("", "user", "delete", ada, "--yes")
		if got := f.waitForTokenErrorCode(token.Access, 401005); got != 401005 {
			t.Errorf("87 expired and deleted: %d", got)
		}
	}, "--access-token-ttl=1s")
}

// TestRevokeAndIntrospect covers lines 93 to 96.
func TestRevokeAndIntrospect(t *testing.T) {
	runOnEachStore(t, func(t *testing.T, f *fixture) {
		const revoke, introspect = "/api/oauth2/revoke", "/api/oauth2/introspect"
		b := f.signIn(ada)
		newToken := func() clitest.Token {
			return f.Exchange(f.app, f.obtainCode(b, f.app.AuthorizeURL("forms:read,responses:read")))
		}
		other := f.AddApp(bob, callback)
		tokenForm := func(app clitest.App, token string) url.Values { return app.Authenticate(url.Values{"token": {token}}) }

		// 96: the fields of an introspection response.
		token := newToken()
		a := f.Form(introspect, tokenForm(f.app, token.Access))
		for name, want := range map[string]any{
			"active": true, "scope": "forms:read,responses:read", "client_id": f.app.ID, "username": ada, "token_type": "Bearer",
		} {
			if got := a.Body[name]; got != want {
				t.Errorf("96 access token: %s is %v, want %v", name, got, want)
			}
		}
		if !strings.HasPrefix(a.String("sub"), "usr_") {
			t.Errorf("96 access token: sub is %q", a.String("sub"))
		}
		if lifetime := a.Body["exp"].(float64) - a.Body["iat"].(float64); lifetime != 3600 {
			t.Errorf("96 access token: lifetime is %v s, want 3600", lifetime)
		}
		if a := f.Form(introspect, tokenForm(f.app, token.Refresh)); a.Body["active"] != true {
			t.Errorf("96 refresh token: %s", a.Text)
		}
		expectInactive := func(name string, app clitest.App, token string) {
			t.Helper()
			if a := f.Form(introspect, tokenForm(app, token)); a.StatusCode != 200 || a.Text != `{"active":false}` {
				t.Errorf("96 %s: %d %s", name, a.StatusCode, a.Text)
			}
		}
		expectInactive("garbage", f.app, "garbage")
		expectInactive("another client's access token", other, token.Access)
		expectInactive("another client's refresh token", other, token.Refresh)
		for _, path := range []string{revoke, introspect} {
			f.expectError("96 without authentication", f.Form(path, url.Values{"token": {token.Access}}), 401, 401101, "invalid_client")
			f.expectError("96 without a secret", f.Form(path, url.Values{"token": {token.Access}, "client_id": {f.app.ID}}), 401, 401101, "invalid_client")
			f.expectInvalidRequest("96 without a token", f.Form(path, f.app.Authenticate(url.Values{})))
		}
		f.expectError("96 a public application", f.Form(introspect, tokenForm(f.public, token.Access)), 401, 401101, "invalid_client")
		// 95: revoking the token of another application does nothing.
		if a := f.Form(revoke, tokenForm(other, token.Access)); a.StatusCode != 200 || f.tokenErrorCode(token.Access) != 0 {
			t.Errorf("95 %d, then %d", a.StatusCode, f.tokenErrorCode(token.Access))
		}
		f.Form(revoke, tokenForm(other, token.Refresh))
		f.MustToken(f.Form(refreshPath, f.app.Refresh(token.Refresh)))
		// 94: revoking an unknown token is no error.
		if a := f.Form(revoke, tokenForm(f.app, "fma_unknown")); a.StatusCode != 200 || a.Text != "" {
			t.Errorf("94 %d %q", a.StatusCode, a.Text)
		}
		// Revoking an access token keeps the refresh token.
		f.Form(revoke, tokenForm(f.app, token.Access))
		if got := f.tokenErrorCode(token.Access); got != 401001 {
			t.Errorf("revoked access token: %d", got)
		}
		refreshed := f.MustToken(f.Form(refreshPath, f.app.Refresh(token.Refresh)))
		// 93: revoking a refresh token revokes its access tokens.
		f.Form(revoke, tokenForm(f.app, token.Refresh))
		if got := f.tokenErrorCode(refreshed.Access); got != 401001 {
			t.Errorf("93 access token of a revoked refresh token: %d", got)
		}
		expectInactive("revoked access token", f.app, refreshed.Access)
		expectInactive("revoked refresh token", f.app, token.Refresh)
		f.expectInvalidGrant("93 the refresh token", f.Form(refreshPath, f.app.Refresh(token.Refresh)))
		// A public application can revoke its own tokens.
		public := f.obtainPublicToken(b)
		f.Form(revoke, tokenForm(f.public, public.Refresh))
		if got := f.tokenErrorCode(public.Access); got != 401001 {
			t.Errorf("token revoked by a public application: %d", got)
		}
	})
}

// TestMetadata covers line 97: every field of the metadata is correct.
func TestMetadata(t *testing.T) {
	runOnEachStore(t, func(t *testing.T, f *fixture) {
		a := f.Call("GET", "/.well-known/oauth-authorization-server", "", "")
		if a.String("issuer") != f.URL {
			t.Errorf("issuer %q", a.String("issuer"))
		}
		pathOf := func(field string) string {
			path, ok := strings.CutPrefix(a.String(field), f.URL)
			if !ok {
				t.Errorf("%s is %q", field, a.String(field))
			}
			return path
		}
		b := f.signIn(ada)
		if p := b.Get(pathOf("authorization_endpoint") + "?" + f.app.AuthorizeURL("forms:read").Encode()); p.StatusCode != 200 {
			t.Errorf("authorization_endpoint: %d", p.StatusCode)
		}
		if p := b.Get(pathOf("service_documentation")); p.StatusCode != 200 {
			t.Errorf("service_documentation: %d", p.StatusCode)
		}
		list := func(field string) []string {
			var values []string
			for _, v := range a.Body[field].([]any) {
				values = append(values, v.(string))
			}
			return values
		}
		testAuthMethods := func(field, path string) {
			for _, method := range list(field) {
				var result clitest.Response
				token := f.Exchange(f.app, f.obtainCode(b, f.app.AuthorizeURL("forms:read")))
				app, header := f.app, []string(nil)
				switch method {
				case "client_secret_post":
				case "client_secret_basic":
					r, _ := http.NewRequest("POST", "http://x", nil)
					r.SetBasicAuth(app.ID, app.Secret)
					header = []string{"Authorization: " + r.Header.Get("Authorization")}
					app.Secret = ""
				case "none":
					app, token = f.public, f.obtainPublicToken(b)
				default:
					t.Errorf("%s: no test for %q", field, method)
				}
				if path == tokenPath {
					result = f.Form(path, app.Refresh(token.Refresh), header...)
				} else {
					result = f.Form(path, app.Authenticate(url.Values{"token": {token.Access}}), header...)
				}
				if result.StatusCode != 200 {
					t.Errorf("%s: %s gives %d %s", field, method, result.StatusCode, result.Text)
				}
			}
		}
		testAuthMethods("token_endpoint_auth_methods_supported", pathOf("token_endpoint"))
		testAuthMethods("revocation_endpoint_auth_methods_supported", pathOf("revocation_endpoint"))
		testAuthMethods("introspection_endpoint_auth_methods_supported", pathOf("introspection_endpoint"))
		var scopes []string
		for _, scope := range list("scopes_supported") {
			scopes = append(scopes, "--scope="+scope)
		}
		allScopes := f.AddApp(ada, callback, scopes...)
		if p := b.Get("/authorize?" + allScopes.AuthorizeURL(strings.Join(list("scopes_supported"), " ")).Encode()); p.StatusCode != 200 {
			t.Errorf("scopes_supported: %d", p.StatusCode)
		}
		// The audit log has to be asked for when an application is registered.
		if p := b.Get("/authorize?" + f.app.AuthorizeURL("audit:read").Encode()); !strings.Contains(p.Header.Get("Location"), "error=invalid_scope") {
			t.Errorf("an application without audit:read asks for it: %d %s", p.StatusCode, p.Header.Get("Location"))
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
			t.Errorf("the metadata has %d fields; this test covers 14", len(a.Body))
		}
	})
}

// TestRegistration covers lines 6 and 7 (which redirect URIs can be registered), 98 (iss
// is sent only if the application wants it) and 100 (an application can have two secrets).
func TestRegistration(t *testing.T) {
	runOnEachStore(t, func(t *testing.T, f *fixture) {
		b := f.signIn(ada)
		issApp := f.AddApp(ada, callback, "--iss")
		if got := b.Allow(issApp.AuthorizeURL("forms:read")).Query().Get("iss"); got != f.URL {
			t.Errorf("98 iss is %q", got)
		}
		to := f.expectRedirectError(b, "98 iss with an error", issApp.AuthorizeURL("no").Encode(), "invalid_scope")
		if to.Query().Get("iss") != f.URL {
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

		// 100: both secrets work until the old one is deleted.
		token := f.Exchange(f.app, f.obtainCode(b, f.app.AuthorizeURL("forms:read")))
		var rotated clitest.App
		if err := json.Unmarshal([]byte(f.Command("", "app", "rotate-secret", f.app.ID, "--json")), &rotated); err != nil {
			t.Fatal(err)
		}
		refreshWithOldSecret := func() clitest.Response { return f.Form(refreshPath, f.app.Refresh(token.Refresh)) }
		f.MustToken(refreshWithOldSecret())
		f.MustToken(f.Form(refreshPath, rotated.Refresh(token.Refresh)))
		f.Command("", "app", "rotate-secret", f.app.ID, "--drop")
		clitest.WaitFor(func() bool { return refreshWithOldSecret().StatusCode != http.StatusOK })
		f.expectError("100 the old secret", refreshWithOldSecret(), 401, 401101, "invalid_client")
		f.MustToken(f.Form(refreshPath, rotated.Refresh(token.Refresh)))

		// The application is no longer registered for the granted scopes.
		if p := b.Post("/applications/"+f.app.ID, url.Values{"name": {"X"}, "redirect_uris": {callback}, "scope": {"webhooks:read"}}); p.StatusCode != 303 {
			t.Fatalf("change the scopes: %d\n%s", p.StatusCode, p.Text)
		}
		f.expectError("scopes removed from the application", f.Form(refreshPath, rotated.Refresh(token.Refresh)), 400, 400105, "unauthorized_client")
	})
}

// TestCookies covers line 100: the attributes of cookies over HTTP.
func TestCookies(t *testing.T) {
	runOnEachStore(t, func(t *testing.T, f *fixture) {
		p := f.Browser().Post("/signin", url.Values{"email": {ada}, "password": {clitest.Password}})
		for _, c := range p.Cookies() {
			want := cookieAttributes{Path: "/", HTTPOnly: true, SameSite: http.SameSiteLaxMode}
			if got := attributesOf(c); got != want {
				t.Errorf("100 over HTTP: %s has %+v, want %+v", c.Name, got, want)
			}
		}
		if n := len(p.Cookies()); n != 2 {
			t.Errorf("100 %d cookies, want 2: session and device", n)
		}
	})
}

// cookieAttributes are the attributes of a cookie that protect it.
type cookieAttributes struct {
	Path, Domain     string
	HTTPOnly, Secure bool
	SameSite         http.SameSite
}

func attributesOf(c *http.Cookie) cookieAttributes {
	return cookieAttributes{c.Path, c.Domain, c.HttpOnly, c.Secure, c.SameSite}
}

// TestSecureCookies covers line 100: the attributes of cookies over HTTPS.
func TestSecureCookies(t *testing.T) {
	runOnEachStore(t, func(t *testing.T, f *fixture) {
		r, err := http.NewRequest("POST", f.Local+"/signin", strings.NewReader(url.Values{"email": {ada}, "password": {clitest.Password}}.Encode()))
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
			if want := []string{"__Host-formulary", "__Host-formulary-device"}[i]; c.Name != want {
				t.Errorf("100 over HTTPS: the cookie is called %s, want %s", c.Name, want)
			}
			want := cookieAttributes{Path: "/", HTTPOnly: true, Secure: true, SameSite: http.SameSiteLaxMode}
			if got := attributesOf(c); got != want {
				t.Errorf("100 over HTTPS: %s has %+v, want %+v", c.Name, got, want)
			}
		}
		if res.Header.Get("Strict-Transport-Security") == "" {
			t.Error("no Strict-Transport-Security over HTTPS")
		}
	}, "--base-url=https://forms.example.com")
}
