package oauth_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

// TestAuthorizeRequest covers lines 1 to 20 of the checklist: which authorization requests
// are valid, which errors are shown to the user and which are sent to the application.
func TestAuthorizeRequest(t *testing.T) {
	runOnEachStore(t, func(t *testing.T, f *fixture) {
		b := f.signIn(ada)
		query := f.app.AuthorizeURL("forms:read")

		disabled := f.AddApp(ada, callback)
		f.Command("", "app", "disable", disabled.ID)
		f.expectErrorPage(b, "1 unknown client", withValues(query, "client_id", "app_01k9z8m7q3e4r5t6y7v8w9x0a1").Encode())
		f.expectErrorPage(b, "1 no client id at all", withValues(query, "client_id", "\x00%ff").Encode())
		f.expectErrorPage(b, "1 disabled client", disabled.AuthorizeURL("forms:read").Encode())
		f.expectErrorPage(b, "1 client missing", withValues(query, "client_id", "").Encode())
		f.expectErrorPage(b, "2 redirect missing", withValues(query, "redirect_uri", "").Encode())
		f.expectErrorPage(b, "3 redirect unregistered", withValues(query, "redirect_uri", "https://evil.example.com/").Encode())

		for _, similar := range []string{
			"https://app.example.com/cb/?keep=1", "https://app.example.com/cb/sub?keep=1", "https://app.example.com/cb?keep=1&more=1",
			"https://app.example.com/cb", "https://APP.example.com/cb?keep=1", "https://user@app.example.com/cb?keep=1",
			"https://app.example.com/x/../cb?keep=1", "https://app.example.com/%2e/cb?keep=1", `https://app.example.com\cb?keep=1`,
			"https://app.example.com:8443/cb?keep=1", "https://app.example.com/cb?keep=1#fragment", "http://app.example.com/cb?keep=1",
			"https://app.example.com/cb?keep=1 ", " https://app.example.com/cb?keep=1", "https://app.example.com.evil.com/cb?keep=1",
		} {
			f.expectErrorPage(b, "4 "+similar, withValues(query, "redirect_uri", similar).Encode())
		}

		nativeQuery := withValues(f.public.AuthorizeURL("forms:read"), "code_challenge", challengeA, "code_challenge_method", "S256")
		for _, uri := range []string{"http://127.0.0.1/cb", "http://127.0.0.1:1/cb", "http://127.0.0.1:65535/cb"} {
			if p := b.Get("/authorize?" + withValues(nativeQuery, "redirect_uri", uri).Encode()); p.StatusCode != 200 {
				t.Errorf("5 native application at %s: %d", uri, p.StatusCode)
			}
		}
		for _, other := range []string{
			"http://127.0.0.2/cb", "http://localhost:9/cb", "http://127.0.0.1.evil.com:9/cb", "http://127.0.0.1:9/cb2",
			"http://127.0.0.1:9@evil.com/cb", "http://127.0.0.1:/cb", "http://127.0.0.1:123456/cb", "http://[::1]:9/cb", "https://127.0.0.1:9/cb",
		} {
			f.expectErrorPage(b, "5 "+other, withValues(nativeQuery, "redirect_uri", other).Encode())
		}

		f.expectErrorPage(b, "8 client twice", query.Encode()+"&client_id="+f.app.ID)
		f.expectErrorPage(b, "8 redirect twice", query.Encode()+"&redirect_uri="+url.QueryEscape(callback))
		for _, name := range []string{"response_type", "scope", "state", "code_challenge", "code_challenge_method", "nonsense"} {
			to := f.expectRedirectError(b, "9 "+name+" twice", query.Encode()+"&"+name+"=a&"+name+"=b", "invalid_request")
			if name == "state" && to.Query().Has("state") {
				t.Errorf("9 a state given twice cannot be returned: %s", to)
			}
		}
		f.expectRedirectError(b, "9 a broken parameter", withValues(query, "state", "").Encode()+"&state=%zz", "invalid_request")
		f.expectRedirectError(b, "10 response_type missing", withValues(query, "response_type", "").Encode(), "invalid_request")
		f.expectRedirectError(b, "10 response_type token", withValues(query, "response_type", "token").Encode(), "unsupported_response_type")
		f.expectRedirectError(b, "11 scope missing", withValues(query, "scope", "").Encode(), "invalid_scope")
		f.expectRedirectError(b, "11 scope empty", withValues(query, "scope", ", ,").Encode(), "invalid_scope")
		f.expectRedirectError(b, "12 scope unknown", withValues(query, "scope", "forms:read,everything").Encode(), "invalid_scope")
		f.expectRedirectError(b, "12 scope not allowed", withValues(query, "scope", "forms:read,forms:write").Encode(), "invalid_scope")

		// 17: huge parameters are client errors, never a 5xx.
		for _, name := range []string{"client_id", "redirect_uri", "scope", "state", "code_challenge", "nonsense"} {
			p := b.Get("/authorize?" + withValues(query, name, strings.Repeat("x", 30_000)).Encode())
			if p.StatusCode < 400 || p.StatusCode > 499 {
				t.Errorf("17 huge %s: %d", name, p.StatusCode)
			}
		}
		if p := b.Get("/authorize?%zz"); p.StatusCode != 400 {
			t.Errorf("17 malformed query: %d", p.StatusCode)
		}
		if p := b.Get("/authorize?" + query.Encode() + "&prompt=login&x&y=%00"); p.StatusCode != 200 {
			t.Errorf("18 unknown parameters: %d", p.StatusCode)
		}

		// 20: errors carry the state, and never a code.
		to := f.expectRedirectError(b, "20 error with state", withValues(query, "scope", "no", "state", "s p&%+ü").Encode(), "invalid_scope")
		if to.Query().Get("state") != "s p&%+ü" || to.Query().Get("keep") != "1" {
			t.Errorf("20 redirected to %s", to)
		}
	})
}

// TestAuthorizeConsent covers the consent page and the redirect after it: lines 13 to 16,
// 19, 21, 22, 25 to 27 and 33 to 36.
func TestAuthorizeConsent(t *testing.T) {
	runOnEachStore(t, func(t *testing.T, f *fixture) {
		b := f.signIn(ada)
		// 13, 14: scopes can be separated by commas or spaces, and repeated.
		for scopeParam, want := range map[string]string{
			"scope=forms:read,responses:read":            "forms:read,responses:read",
			"scope=forms:read%2Cresponses:read":          "forms:read,responses:read",
			"scope=forms:read%20responses:read":          "forms:read,responses:read",
			"scope=forms:read+responses:read":            "forms:read,responses:read",
			"scope=forms:read,,forms:read":               "forms:read",
			"scope=,responses:read,%20,responses:read,,": "responses:read",
		} {
			query := withValues(f.app.AuthorizeURL(""), "scope", "")
			p := b.Get("/authorize?" + query.Encode() + "&" + scopeParam)
			if p.StatusCode != 200 {
				t.Fatalf("13 %s: %d", scopeParam, p.StatusCode)
			}
			scopes, err := url.ParseQuery(scopeParam)
			if err != nil {
				t.Fatal(err)
			}
			token := f.Exchange(f.app, f.obtainCode(b, withValues(query, "scope", scopes.Get("scope"))))
			if token.Scope != want {
				t.Errorf("13 %s: granted %q, want %q", scopeParam, token.Scope, want)
			}
		}

		// 15: the state is returned byte for byte.
		for _, state := range []string{"ünï✓", "100%", "a+b c", "a&b=c#d", "%2B%00", "\x00\xff\xfe", strings.Repeat("s", 2048), "=", `"'<>\`} {
			to := b.Allow(withValues(f.app.AuthorizeURL("forms:read"), "state", state))
			if got := to.Query().Get("state"); got != state {
				t.Errorf("15 state %q was returned as %q", state, got)
			}
		}
		if to := b.Get("/authorize?" + withValues(f.app.AuthorizeURL("forms:read"), "scope", "no").Encode() + "&state=a;b"); !strings.HasSuffix(to.Header.Get("Location"), "&state=a%3Bb") {
			t.Errorf("15 state with a semicolon: redirected to %s", to.Header.Get("Location"))
		}
		// 16, 19, 35: only code is added, and the query of the redirect URI is kept.
		to := b.Allow(f.app.AuthorizeURL("forms:read"))
		if got := to.Query(); len(got) != 2 || got.Get("keep") != "1" || !strings.HasPrefix(to.String(), callback+"&code=fmc_") {
			t.Errorf("16 redirected to %s", to)
		}
		to = b.Allow(withValues(f.app.AuthorizeURL("forms:read"), "state", "s"))
		if got := to.Query(); len(got) != 3 || got.Get("state") != "s" {
			t.Errorf("35 redirected to %s", to)
		}

		// 21, 36: GET never issues a code, and the consent page is shown each time.
		p := b.Get("/authorize?" + f.app.AuthorizeURL("forms:read").Encode())
		if p.StatusCode != 200 || !strings.Contains(p.Text, "Allow Access") {
			t.Errorf("21 got %d", p.StatusCode)
		}
		// 22, 25, 26, 27: headers of the page and of the redirect.
		for name, want := range map[string]string{
			"X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "Access-Control-Allow-Origin": "",
		} {
			if got := p.Header.Get(name); got != want {
				t.Errorf("25 %s is %q, want %q", name, got, want)
			}
		}
		policy := p.Header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "frame-ancestors 'none'", "form-action 'self' https://app.example.com;"} {
			if !strings.Contains(policy, part) {
				t.Errorf("25 the policy does not contain %q: %s", part, policy)
			}
		}
		done := b.Post("/authorize", url.Values{"ticket": {b.ConsentRequest(f.app.AuthorizeURL("forms:read"))}, "answer": {"allow"}})
		if done.Header.Get("Cache-Control") != "no-store" || done.StatusCode != 303 {
			t.Errorf("27 the redirect: %d %q", done.StatusCode, done.Header.Get("Cache-Control"))
		}
		// 33: the page names the application, the scopes, the redirect host and the user.
		for _, words := range []string{"Test application", "View your forms", "app.example.com", ada} {
			if !strings.Contains(p.Text, words) {
				t.Errorf("33 the page does not show %q", words)
			}
		}
		// 34: Cancel.
		cancel := b.Post("/authorize", url.Values{"ticket": {b.ConsentRequest(withValues(f.app.AuthorizeURL("forms:read"), "state", "s"))}, "answer": {"cancel"}})
		canceledTo, err := cancel.Location()
		if err != nil {
			t.Fatalf("34 Cancel does not redirect: %v", err)
		}
		for name, want := range map[string]string{"error": "access_denied", "state": "s", "code": ""} {
			if got := canceledTo.Query().Get(name); got != want {
				t.Errorf("34 after Cancel, %s is %q, want %q", name, got, want)
			}
		}
	})
}

// TestConsentSubmission covers lines 29 to 32: the consent request key (the form field
// "ticket") is required, belongs to one user, and works once.
func TestConsentSubmission(t *testing.T) {
	runOnEachStore(t, func(t *testing.T, f *fixture) {
		adaBrowser, bobBrowser := f.signIn(ada), f.signIn(bob)
		query := f.app.AuthorizeURL("forms:read")

		// 29: from another origin, or without a valid ticket.
		r, err := http.NewRequest("POST", f.URL+"/authorize", strings.NewReader(url.Values{"ticket": {adaBrowser.ConsentRequest(query)}, "answer": {"allow"}}.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "https://evil.example.com")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		res, err := adaBrowser.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != 403 {
			t.Errorf("29 from another origin: %d", res.StatusCode)
		}
		expectForbidden := func(name string, p clitest.Page) {
			t.Helper()
			if p.StatusCode != 403 || p.Header.Get("Location") != "" {
				t.Errorf("%s: %d to %q", name, p.StatusCode, p.Header.Get("Location"))
			}
		}
		for _, ticket := range []string{"", "x", "fmt_x", strings.Repeat("y", 5000)} {
			expectForbidden("29 without a ticket", adaBrowser.Post("/authorize", url.Values{"ticket": {ticket}, "answer": {"allow"}}))
		}
		// 30: scope and redirect_uri in the form have no effect.
		p := adaBrowser.Post("/authorize", url.Values{
			"ticket": {adaBrowser.ConsentRequest(query)}, "answer": {"allow"}, "scope": {"forms:write"}, "redirect_uri": {"https://evil.example.com/"},
		})
		to, err := p.Location()
		if err != nil || !strings.HasPrefix(to.String(), callback) {
			t.Fatalf("30 redirected to %v", to)
		}
		if token := f.Exchange(f.app, to.Query().Get("code")); token.Scope != "forms:read" {
			t.Errorf("30 granted %q", token.Scope)
		}
		// 31: the ticket of another user.
		adaTicket := adaBrowser.ConsentRequest(query)
		expectForbidden("31 another user's ticket", bobBrowser.Post("/authorize", url.Values{"ticket": {adaTicket}, "answer": {"allow"}}))
		if p := adaBrowser.Post("/authorize", url.Values{"ticket": {adaTicket}, "answer": {"allow"}}); p.StatusCode != 303 {
			t.Errorf("31 the user of the ticket: %d", p.StatusCode)
		}
		// 32: the same ticket twice.
		expectForbidden("32 the same ticket twice", adaBrowser.Post("/authorize", url.Values{"ticket": {adaTicket}, "answer": {"allow"}}))
		// Without a session, the browser is redirected to the sign-in page.
		if p := f.Browser().Post("/authorize", url.Values{"ticket": {adaBrowser.ConsentRequest(query)}, "answer": {"allow"}}); p.StatusCode != 303 || !strings.HasPrefix(p.Header.Get("Location"), "/signin") {
			t.Errorf("decision without a session: %d %s", p.StatusCode, p.Header.Get("Location"))
		}
		// The application is disabled while the user decides.
		ticket := adaBrowser.ConsentRequest(query)
		f.Command("", "app", "disable", f.app.ID)
		f.waitUntilDisabled(adaBrowser, query)
		if p := adaBrowser.Post("/authorize", url.Values{"ticket": {ticket}, "answer": {"allow"}}); p.StatusCode != 400 || p.Header.Get("Location") != "" {
			t.Errorf("application disabled before the decision: %d %s", p.StatusCode, p.Header.Get("Location"))
		}
	})
}

// TestSigninDuringAuthorize covers lines 23 to 25: signing in returns to the authorization
// request, never to another site, and starts a new session.
func TestSigninDuringAuthorize(t *testing.T) {
	runOnEachStore(t, func(t *testing.T, f *fixture) {
		b := f.Browser()
		p := b.Get("/authorize?" + withValues(f.app.AuthorizeURL("forms:read"), "state", "s").Encode())
		signin, err := p.Location()
		if err != nil || signin.Path != "/signin" {
			t.Fatalf("not signed in: %d %v", p.StatusCode, err)
		}
		for _, name := range []string{"X-Frame-Options", "Referrer-Policy", "Content-Security-Policy"} {
			if b.Get(signin.RequestURI()).Header.Get(name) == "" {
				t.Errorf("25 the sign-in page has no %s", name)
			}
		}
		p = b.Post("/signin", url.Values{"email": {ada}, "password": {clitest.Password}, "next": {signin.Query().Get("next")}})
		next, err := p.Location()
		if err != nil || next.Path != "/authorize" || next.Query().Get("state") != "s" {
			t.Fatalf("after signing in: %d %v", p.StatusCode, next)
		}
		// 23: next never redirects to another site.
		for _, evil := range []string{"//evil.com", "https://evil.com", `\\evil.com`, `/\evil.com`, "/\t/evil.com", "javascript:alert(1)", "evil", ""} {
			p := f.Browser().Post("/signin", url.Values{"email": {ada}, "password": {clitest.Password}, "next": {evil}})
			if got := p.Header.Get("Location"); got != "/" {
				t.Errorf("23 next=%q redirects to %q", evil, got)
			}
			if p := b.Get("/signin?next=" + url.QueryEscape(evil)); p.Header.Get("Location") != "/" {
				t.Errorf("23 already signed in, next=%q redirects to %q", evil, p.Header.Get("Location"))
			}
		}
		// 24: signing in changes the session ID, and the old one stops working.
		base, _ := url.Parse(f.URL)
		before := b.Jar.Cookies(base)[0]
		b.SignIn(ada)
		after := b.Jar.Cookies(base)[0]
		if before.Value == after.Value {
			t.Error("24 the session ID stayed the same")
		}
		old := f.Browser()
		old.Jar.SetCookies(base, []*http.Cookie{before})
		if p := old.Get("/account"); p.StatusCode != 303 {
			t.Errorf("24 the old session still works: %d", p.StatusCode)
		}
	})
}
