package oauth_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

func TestAuthorizeRequest(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		b := w.signedIn(ada)
		ask := w.app.AuthorizeURL("forms:read")

		disabled := w.AddApp(ada, callback)
		w.Command("", "app", "disable", disabled.ID)
		w.page(b, "1 unknown client", with(ask, "client_id", "app_01k9z8m7q3e4r5t6y7v8w9x0a1").Encode())
		w.page(b, "1 no client id at all", with(ask, "client_id", "\x00%ff").Encode())
		w.page(b, "1 disabled client", disabled.AuthorizeURL("forms:read").Encode())
		w.page(b, "1 client missing", with(ask, "client_id", "").Encode())
		w.page(b, "2 redirect missing", with(ask, "redirect_uri", "").Encode())
		w.page(b, "3 redirect unregistered", with(ask, "redirect_uri", "https://evil.example.com/").Encode())

		for _, near := range []string{
			"https://app.example.com/cb/?keep=1", "https://app.example.com/cb/sub?keep=1", "https://app.example.com/cb?keep=1&more=1",
			"https://app.example.com/cb", "https://APP.example.com/cb?keep=1", "https://user@app.example.com/cb?keep=1",
			"https://app.example.com/x/../cb?keep=1", "https://app.example.com/%2e/cb?keep=1", `https://app.example.com\cb?keep=1`,
			"https://app.example.com:8443/cb?keep=1", "https://app.example.com/cb?keep=1#fragment", "http://app.example.com/cb?keep=1",
			"https://app.example.com/cb?keep=1 ", " https://app.example.com/cb?keep=1", "https://app.example.com.evil.com/cb?keep=1",
		} {
			w.page(b, "4 "+near, with(ask, "redirect_uri", near).Encode())
		}

		challenge := "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
		nativeAsk := with(w.public.AuthorizeURL("forms:read"), "code_challenge", challenge, "code_challenge_method", "S256")
		for _, port := range []string{"http://127.0.0.1/cb", "http://127.0.0.1:1/cb", "http://127.0.0.1:65535/cb"} {
			if p := b.Get("/authorize?" + with(nativeAsk, "redirect_uri", port).Encode()); p.StatusCode != 200 {
				t.Errorf("5 native application at %s: %d", port, p.StatusCode)
			}
		}
		for _, other := range []string{
			"http://127.0.0.2/cb", "http://localhost:9/cb", "http://127.0.0.1.evil.com:9/cb", "http://127.0.0.1:9/cb2",
			"http://127.0.0.1:9@evil.com/cb", "http://127.0.0.1:/cb", "http://127.0.0.1:123456/cb", "http://[::1]:9/cb", "https://127.0.0.1:9/cb",
		} {
			w.page(b, "5 "+other, with(nativeAsk, "redirect_uri", other).Encode())
		}

		w.page(b, "8 client twice", ask.Encode()+"&client_id="+w.app.ID)
		w.page(b, "8 redirect twice", ask.Encode()+"&redirect_uri="+url.QueryEscape(callback))
		for _, name := range []string{"response_type", "scope", "state", "code_challenge", "code_challenge_method", "nonsense"} {
			to := w.refused(b, "9 "+name+" twice", ask.Encode()+"&"+name+"=a&"+name+"=b", "invalid_request")
			if name == "state" && to.Query().Has("state") {
				t.Errorf("9 a state given twice cannot be returned: %s", to)
			}
		}
		w.refused(b, "9 a broken parameter", with(ask, "state", "").Encode()+"&state=%zz", "invalid_request")
		w.refused(b, "10 response_type missing", with(ask, "response_type", "").Encode(), "invalid_request")
		w.refused(b, "10 response_type token", with(ask, "response_type", "token").Encode(), "unsupported_response_type")
		w.refused(b, "11 scope missing", with(ask, "scope", "").Encode(), "invalid_scope")
		w.refused(b, "11 scope empty", with(ask, "scope", ", ,").Encode(), "invalid_scope")
		w.refused(b, "12 scope unknown", with(ask, "scope", "forms:read,everything").Encode(), "invalid_scope")
		w.refused(b, "12 scope not allowed", with(ask, "scope", "forms:read,forms:write").Encode(), "invalid_scope")

		// 17: never a 5xx.
		for _, name := range []string{"client_id", "redirect_uri", "scope", "state", "code_challenge", "nonsense"} {
			p := b.Get("/authorize?" + with(ask, name, strings.Repeat("x", 30_000)).Encode())
			if p.StatusCode < 400 || p.StatusCode > 499 {
				t.Errorf("17 huge %s: %d", name, p.StatusCode)
			}
		}
		if p := b.Get("/authorize?%zz"); p.StatusCode != 400 {
			t.Errorf("17 malformed query: %d", p.StatusCode)
		}
		if p := b.Get("/authorize?" + ask.Encode() + "&prompt=login&x&y=%00"); p.StatusCode != 200 {
			t.Errorf("18 unknown parameters: %d", p.StatusCode)
		}

		// 20: errors carry the state, and never a code.
		to := w.refused(b, "20 error with state", with(ask, "scope", "no", "state", "s p&%+ü").Encode(), "invalid_scope")
		if to.Query().Get("state") != "s p&%+ü" || to.Query().Get("keep") != "1" {
			t.Errorf("20 redirected to %s", to)
		}
	})
}

func TestAuthorizeGrant(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		b := w.signedIn(ada)
		// 13, 14: however scopes are written, the grant is the same.
		for written, want := range map[string]string{
			"scope=forms:read,responses:read":            "forms:read,responses:read",
			"scope=forms:read%2Cresponses:read":          "forms:read,responses:read",
			"scope=forms:read%20responses:read":          "forms:read,responses:read",
			"scope=forms:read+responses:read":            "forms:read,responses:read",
			"scope=forms:read,,forms:read":               "forms:read",
			"scope=,responses:read,%20,responses:read,,": "responses:read",
		} {
			query := with(w.app.AuthorizeURL(""), "scope", "")
			p := b.Get("/authorize?" + query.Encode() + "&" + written)
			if p.StatusCode != 200 {
				t.Fatalf("13 %s: %d", written, p.StatusCode)
			}
			scopes, err := url.ParseQuery(written)
			if err != nil {
				t.Fatal(err)
			}
			token := w.Exchange(w.app, w.code(b, with(query, "scope", scopes.Get("scope"))))
			if token.Scope != want {
				t.Errorf("13 %s: granted %q, want %q", written, token.Scope, want)
			}
		}

		// 15: the state comes back byte for byte.
		for _, state := range []string{"ünï✓", "100%", "a+b c", "a&b=c#d", "%2B%00", "\x00\xff\xfe", strings.Repeat("s", 2048), "=", `"'<>\`} {
			to := b.Allow(with(w.app.AuthorizeURL("forms:read"), "state", state))
			if got := to.Query().Get("state"); got != state {
				t.Errorf("15 state %q came back as %q", state, got)
			}
		}
		if to := b.Get("/authorize?" + with(w.app.AuthorizeURL("forms:read"), "scope", "no").Encode() + "&state=a;b"); !strings.HasSuffix(to.Header.Get("Location"), "&state=a%3Bb") {
			t.Errorf("15 a plain semicolon came back in %s", to.Header.Get("Location"))
		}
		// 16, 19, 35: code alone is added, and the URI's own query survives.
		to := b.Allow(w.app.AuthorizeURL("forms:read"))
		if got := to.Query(); len(got) != 2 || got.Get("keep") != "1" || !strings.HasPrefix(to.String(), callback+"&code=fmc_") {
			t.Errorf("16 redirected to %s", to)
		}
		to = b.Allow(with(w.app.AuthorizeURL("forms:read"), "state", "s"))
		if got := to.Query(); len(got) != 3 || got.Get("state") != "s" {
			t.Errorf("35 redirected to %s", to)
		}

		// 21, 36: GET alone never issues a code, and consent is asked each time.
		p := b.Get("/authorize?" + w.app.AuthorizeURL("forms:read").Encode())
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
				t.Errorf("25 the policy lacks %q: %s", part, policy)
			}
		}
		done := b.Post("/authorize", url.Values{"ticket": {b.ConsentRequest(w.app.AuthorizeURL("forms:read"))}, "answer": {"allow"}})
		if done.Header.Get("Cache-Control") != "no-store" || done.StatusCode != 303 {
			t.Errorf("27 the redirect: %d %q", done.StatusCode, done.Header.Get("Cache-Control"))
		}
		// 33: the page says who, what, where and for whom.
		for _, words := range []string{"Test application", "View your forms", "app.example.com", ada} {
			if !strings.Contains(p.Text, words) {
				t.Errorf("33 the page does not show %q", words)
			}
		}
		// 34: Cancel.
		cancel := b.Post("/authorize", url.Values{"ticket": {b.ConsentRequest(with(w.app.AuthorizeURL("forms:read"), "state", "s"))}, "answer": {"cancel"}})
		back, err := cancel.Location()
		if err != nil || back.Query().Get("error") != "access_denied" || back.Query().Get("state") != "s" || back.Query().Has("code") {
			t.Errorf("34 cancelled to %v (%v)", back, err)
		}
	})
}

func TestConsentTicket(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		adas, bobs := w.signedIn(ada), w.signedIn(bob)
		ask := w.app.AuthorizeURL("forms:read")

		// 29: from another origin, or without a ticket.
		r, err := http.NewRequest("POST", w.URL+"/authorize", strings.NewReader(url.Values{"ticket": {adas.ConsentRequest(ask)}, "answer": {"allow"}}.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "https://evil.example.com")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		res, err := adas.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != 403 {
			t.Errorf("29 from another origin: %d", res.StatusCode)
		}
		forbidden := func(name string, p clitest.Page) {
			t.Helper()
			if p.StatusCode != 403 || p.Header.Get("Location") != "" {
				t.Errorf("%s: %d to %q", name, p.StatusCode, p.Header.Get("Location"))
			}
		}
		for _, ticket := range []string{"", "x", "fmt_x", strings.Repeat("y", 5000)} {
			forbidden("29 without a ticket", adas.Post("/authorize", url.Values{"ticket": {ticket}, "answer": {"allow"}}))
		}
		// 30: what the post says of scope and redirect has no effect.
		p := adas.Post("/authorize", url.Values{
			"ticket": {adas.ConsentRequest(ask)}, "answer": {"allow"}, "scope": {"forms:write"}, "redirect_uri": {"https://evil.example.com/"},
		})
		to, err := p.Location()
		if err != nil || !strings.HasPrefix(to.String(), callback) {
			t.Fatalf("30 redirected to %v", to)
		}
		if token := w.Exchange(w.app, to.Query().Get("code")); token.Scope != "forms:read" {
			t.Errorf("30 granted %q", token.Scope)
		}
		// 31: another person's ticket.
		stolen := adas.ConsentRequest(ask)
		forbidden("31 another person's ticket", bobs.Post("/authorize", url.Values{"ticket": {stolen}, "answer": {"allow"}}))
		if p := adas.Post("/authorize", url.Values{"ticket": {stolen}, "answer": {"allow"}}); p.StatusCode != 303 {
			t.Errorf("31 the ticket's owner: %d", p.StatusCode)
		}
		// 32: the same ticket twice.
		forbidden("32 the same ticket twice", adas.Post("/authorize", url.Values{"ticket": {stolen}, "answer": {"allow"}}))
		// Not signed in: to the sign-in page.
		if p := w.Browser().Post("/authorize", url.Values{"ticket": {adas.ConsentRequest(ask)}, "answer": {"allow"}}); p.StatusCode != 303 || !strings.HasPrefix(p.Header.Get("Location"), "/signin") {
			t.Errorf("answer without a session: %d %s", p.StatusCode, p.Header.Get("Location"))
		}
		// An application that is switched off while the person decides.
		ticket := adas.ConsentRequest(ask)
		w.Command("", "app", "disable", w.app.ID)
		w.off(adas, ask)
		if p := adas.Post("/authorize", url.Values{"ticket": {ticket}, "answer": {"allow"}}); p.StatusCode != 400 || p.Header.Get("Location") != "" {
			t.Errorf("application disabled meanwhile: %d %s", p.StatusCode, p.Header.Get("Location"))
		}
	})
}

func TestSigninOnTheWay(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		b := w.Browser()
		p := b.Get("/authorize?" + with(w.app.AuthorizeURL("forms:read"), "state", "s").Encode())
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
		back, err := p.Location()
		if err != nil || back.Path != "/authorize" || back.Query().Get("state") != "s" {
			t.Fatalf("after signing in: %d %v", p.StatusCode, back)
		}
		// 23: the way back stays local.
		for _, evil := range []string{"//evil.com", "https://evil.com", `\\evil.com`, `/\evil.com`, "/\t/evil.com", "javascript:alert(1)", "evil", ""} {
			p := w.Browser().Post("/signin", url.Values{"email": {ada}, "password": {clitest.Password}, "next": {evil}})
			if got := p.Header.Get("Location"); got != "/" {
				t.Errorf("23 next=%q leads to %q", evil, got)
			}
			if p := b.Get("/signin?next=" + url.QueryEscape(evil)); p.Header.Get("Location") != "/" {
				t.Errorf("23 already signed in, next=%q leads to %q", evil, p.Header.Get("Location"))
			}
		}
		// 24: the session id changes at sign-in, and the old one is dead.
		base, _ := url.Parse(w.URL)
		before := b.Jar.Cookies(base)[0]
		b.SignIn(ada)
		after := b.Jar.Cookies(base)[0]
		if before.Value == after.Value {
			t.Error("24 the session id stayed the same")
		}
		old := w.Browser()
		old.Jar.SetCookies(base, []*http.Cookie{before})
		if p := old.Get("/account"); p.StatusCode != 303 {
			t.Errorf("24 the old session still works: %d", p.StatusCode)
		}
	})
}
