package oauth_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

// TestNewPasswordRevokesGrants shows that a new password ends sessions. It also revokes the
// access of applications: always after a reset, and after a change if the user chooses so.
func TestNewPasswordRevokesGrants(t *testing.T) {
	runOnEachStore(t, func(t *testing.T, f *fixture) {
		const second, third, fourth = "violet anchor hums 8", "violet anchor hums 9", "violet anchor hums 10"
		b := f.signIn(ada)
		newCode := func() string { return f.obtainCode(b, f.app.AuthorizeURL("forms:read")) }
		expectRevoked := func(name string, token clitest.Token, code string) {
			t.Helper()
			if got := f.waitForTokenErrorCode(token.Access, 401001); got != 401001 {
				t.Errorf("%s: the access token gives %d", name, got)
			}
			f.expectInvalidGrant(name+": the refresh token", f.Form(refreshPath, f.app.Refresh(token.Refresh)))
			f.expectInvalidGrant(name+": a code", f.Form(tokenPath, f.app.Exchange(code)))
		}
		bobToken := f.Exchange(f.app, f.obtainCode(f.signIn(bob), f.app.AuthorizeURL("forms:read")))
		token := f.Exchange(f.app, newCode())

		// A change keeps applications by default.
		change := url.Values{"current": {clitest.Password}, "password": {second}}
		if p := b.Post("/account/password", change); p.StatusCode != 303 || p.Header.Get("Location") != "/account?saved=password" {
			t.Fatalf("change: %d %s", p.StatusCode, p.Text)
		}
		if got := f.tokenErrorCode(token.Access); got != 0 {
			t.Errorf("after a change that keeps apps: %d", got)
		}
		f.MustToken(f.Form(refreshPath, f.app.Refresh(token.Refresh)))

		// A change that disconnects applications.
		if p := b.Get("/account"); !strings.Contains(p.Text, `name="disconnect"`) {
			t.Error("the page does not offer to disconnect apps")
		}
		pending := newCode()
		change = url.Values{"current": {second}, "password": {third}, "disconnect": {"1"}}
		if p := b.Post("/account/password", change); p.StatusCode != 303 || p.Header.Get("Location") != "/account?saved=apps" {
			t.Fatalf("change: %d %s", p.StatusCode, p.Text)
		}
		expectRevoked("changed", token, pending)
		if p := b.Get("/connections"); strings.Contains(p.Text, "/disconnect") {
			t.Error("an application is still listed as connected")
		}

		// A reset by link.
		token, pending = f.Exchange(f.app, newCode()), newCode()
		link := regexp.MustCompile(`/reset\?token=(\S+)`).FindStringSubmatch(f.Command("", "user", "reset", ada))
		resetBrowser := f.Browser()
		if p := resetBrowser.Get(link[0]); !strings.Contains(p.Text, "disconnects all apps") {
			t.Error("the page does not say that apps are disconnected")
		}
		if p := resetBrowser.Post("/reset", url.Values{"token": {link[1]}, "password": {fourth}}); p.StatusCode != 303 {
			t.Fatalf("reset: %d %s", p.StatusCode, p.Text)
		}
		expectRevoked("reset", token, pending)
		if p := b.Get("/account"); p.StatusCode != 303 {
			t.Errorf("a session after a reset: %d", p.StatusCode)
		}

		// A new password set on the command line.
		b = resetBrowser
		token, pending = f.Exchange(f.app, newCode()), newCode()
		f.Command("violet anchor hums 11\n", "user", "password", ada, "--password-stdin")
		expectRevoked("command", token, pending)
		if p := b.Get("/account"); p.StatusCode != 303 {
			t.Errorf("a session after a new password: %d", p.StatusCode)
		}
		if got := f.tokenErrorCode(bobToken.Access); got != 0 {
			t.Errorf("token of another user: %d", got)
		}
	})
}

// TestCodeReplayRequiresSameRequest shows that a used code alone cannot revoke the grant.
// Only a second request that is equal to the first one, with verifier or secret and
// redirect_uri, revokes it.
func TestCodeReplayRequiresSameRequest(t *testing.T) {
	runOnEachStore(t, func(t *testing.T, f *fixture) {
		b := f.signIn(ada)
		code := f.obtainCode(b, withValues(f.public.AuthorizeURL("forms:read"), "code_challenge", challengeA, "code_challenge_method", "S256"))
		request := withValues(f.public.Exchange(code), "code_verifier", verifierA)
		token := f.MustToken(f.Form(tokenPath, request))
		otherVerifier := strings.Repeat("x", 43)
		for name, body := range map[string]url.Values{
			"the code alone":              f.public.Exchange(code),
			"another verifier":            withValues(request, "code_verifier", otherVerifier),
			"another redirect":            withValues(request, "redirect_uri", "http://127.0.0.1:1/other"),
			"another loopback port":       withValues(request, "redirect_uri", "http://127.0.0.1:1/cb"),
			"no verifier, other redirect": withValues(f.public.Exchange(code), "redirect_uri", "https://x.example/"),
		} {
			f.expectInvalidGrant(name, f.Form(tokenPath, body))
			if got := f.tokenErrorCode(token.Access); got != 0 {
				t.Fatalf("%s ended the grant: %d", name, got)
			}
		}
		// The same for an application with a secret.
		code = f.obtainCode(b, f.app.AuthorizeURL("forms:read"))
		secretToken := f.Exchange(f.app, code)
		f.expectInvalidGrant("secret, another redirect", f.Form(tokenPath, withValues(f.app.Exchange(code), "redirect_uri", "https://app.example.com/other")))
		if got := f.tokenErrorCode(secretToken.Access); got != 0 {
			t.Errorf("a second use with another redirect_uri ended the grant: %d", got)
		}
		// The same requests again revoke both grants.
		f.expectInvalidGrant("replay", f.Form(tokenPath, request))
		if got := f.tokenErrorCode(token.Access); got != 401001 {
			t.Errorf("after the same request again: %d", got)
		}
		f.expectInvalidGrant("replay: the refresh token", f.Form(refreshPath, f.public.Refresh(token.Refresh)))
		f.expectInvalidGrant("replay with a secret", f.Form(tokenPath, f.app.Exchange(code)))
		if got := f.tokenErrorCode(secretToken.Access); got != 401001 {
			t.Errorf("after the same request again, with a secret: %d", got)
		}
	})
}

// TestLimitsPerGrant shows that all tokens of a grant share one rate limit, that refreshes
// are limited per grant, and that the oldest access tokens of a grant are deleted.
func TestLimitsPerGrant(t *testing.T) {
	runOnEachStore(t, func(t *testing.T, f *fixture) {
		token := f.Token(ada, f.app, "forms:read")
		otherGrant := f.Token(ada, f.app, "forms:read")
		const quota = 50
		allowed := 0
		tokens := []string{token.Access}
		for range 9 {
			tokens = append(tokens, f.MustToken(f.Form(refreshPath, f.app.Refresh(token.Refresh))).Access)
		}
		for i := range 3 * quota {
			switch got := f.tokenErrorCode(tokens[i%len(tokens)]); got {
			case 0:
				allowed++
			case 429001:
			default:
				t.Fatalf("request %d: %d", i, got)
			}
		}
		// The quota may refill partly while the test runs.
		if allowed < quota || allowed == 3*quota {
			t.Errorf("%d requests with ten tokens were allowed; the limit of the grant is %d", allowed, quota)
		}
		if got := f.tokenErrorCode(otherGrant.Access); got != 0 {
			t.Errorf("another grant is limited: %d", got)
		}
		// The limit of refreshes.
		refreshes, limited := 0, false
		for range 400 {
			a := f.Form(refreshPath, f.app.Refresh(token.Refresh))
			if a.StatusCode == 429 {
				limited = a.Header.Get("Retry-After") != "" && a.Code() == 429001
				break
			}
			f.MustToken(a)
			refreshes++
		}
		if !limited || refreshes < 100 {
			t.Errorf("%d refreshes, then limited: %v", refreshes, limited)
		}
		f.MustToken(f.Form(refreshPath, f.app.Refresh(otherGrant.Refresh)))
		// Invalid tokens of the same account do not count against the grant.
		for range 130 {
			f.expectInvalidGrant("invalid token", f.Form(refreshPath, f.app.Refresh(otherGrant.Refresh[:len(otherGrant.Refresh)-4]+"AAAA")))
		}
		f.MustToken(f.Form(refreshPath, f.app.Refresh(otherGrant.Refresh)))
		// The oldest access tokens of the grant were deleted.
		if got := f.waitForTokenErrorCode(tokens[0], 401001); got != 401001 {
			t.Errorf("the first token after %d more: %d", refreshes+9, got)
		}
	}, "--rate-per-token=50")
}

// TestConsentRegistrant shows that the consent page says who registered the application and
// when, without their email address.
func TestConsentRegistrant(t *testing.T) {
	runOnEachStore(t, func(t *testing.T, f *fixture) {
		b := f.signIn(bob)
		page := func() string { return b.Get("/authorize?" + f.app.AuthorizeURL("forms:read").Encode()).Text }
		shown := regexp.MustCompile(`Registered by an account at example\.com on \d+ \w+ \d{4}\.`)
		if text := page(); !shown.MatchString(text) || strings.Contains(text, ada) {
			t.Errorf("registrant without a name:\n%s", text)
		}
		owner := f.signIn(ada)
		for name, want := range map[string]string{
			"Ada <b>L.</b>":    `Registered by Ada &lt;b&gt;L.&lt;/b&gt; \(example\.com\) on \d+`,
			"Formulary team":   `Registered by an account at example\.com`,
			"Fоrmulary":        `Registered by an account at example\.com`,
			"Ada\u202e.L moc.": `Registered by an account at example\.com`,
		} {
			owner.Post("/account/profile", url.Values{"name": {name}, "language": {"en"}})
			if text := page(); !regexp.MustCompile(want).MatchString(text) || strings.Contains(text, ada) {
				t.Errorf("%q: want %s in\n%s", name, want, text)
			}
		}
		if text := owner.Get("/authorize?" + f.app.AuthorizeURL("forms:read").Encode()).Text; !strings.Contains(text, "You registered this application on") {
			t.Errorf("own application:\n%s", text)
		}
	})
}
