package oauth_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

// A new password ends sessions, and what applications hold: always when it is reset,
// and when the person asks for it.
func TestPasswordEndsGrants(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		const second, third, fourth = "violet anchor hums 8", "violet anchor hums 9", "violet anchor hums 10"
		b := w.signedIn(ada)
		code := func() string { return w.code(b, w.app.AuthorizeURL("forms:read")) }
		dead := func(name string, token clitest.Token, code string) {
			t.Helper()
			if got := w.soon(token.Access, 401001); got != 401001 {
				t.Errorf("%s: the access token gives %d", name, got)
			}
			w.grant(name+": the refresh token", w.Form(refreshPath, w.app.Refresh(token.Refresh)))
			w.grant(name+": a code", w.Form(tokenPath, w.app.Exchange(code)))
		}
		bobs := w.Exchange(w.app, w.code(w.signedIn(bob), w.app.AuthorizeURL("forms:read")))
		token := w.Exchange(w.app, code())

		// Changed, and applications stay.
		change := url.Values{"current": {clitest.Password}, "password": {second}}
		if p := b.Post("/account/password", change); p.StatusCode != 303 || p.Header.Get("Location") != "/account?saved=password" {
			t.Fatalf("change: %d %s", p.StatusCode, p.Text)
		}
		if got := w.alive(token.Access); got != 0 {
			t.Errorf("a change without a word about apps: %d", got)
		}
		w.MustToken(w.Form(refreshPath, w.app.Refresh(token.Refresh)))

		// Changed, and applications go.
		if p := b.Get("/account"); !strings.Contains(p.Text, `name="disconnect"`) {
			t.Error("the page does not offer to disconnect apps")
		}
		pending := code()
		change = url.Values{"current": {second}, "password": {third}, "disconnect": {"1"}}
		if p := b.Post("/account/password", change); p.StatusCode != 303 || p.Header.Get("Location") != "/account?saved=apps" {
			t.Fatalf("change: %d %s", p.StatusCode, p.Text)
		}
		dead("changed", token, pending)
		if p := b.Get("/connections"); strings.Contains(p.Text, "/disconnect") {
			t.Error("an application is still listed as connected")
		}

		// Reset by a link.
		token, pending = w.Exchange(w.app, code()), code()
		link := regexp.MustCompile(`/reset\?token=(\S+)`).FindStringSubmatch(w.Command("", "user", "reset", ada))
		fresh := w.Browser()
		if p := fresh.Get(link[0]); !strings.Contains(p.Text, "disconnects all apps") {
			t.Error("the page does not say what ends")
		}
		if p := fresh.Post("/reset", url.Values{"token": {link[1]}, "password": {fourth}}); p.StatusCode != 303 {
			t.Fatalf("reset: %d %s", p.StatusCode, p.Text)
		}
		dead("reset", token, pending)
		if p := b.Get("/account"); p.StatusCode != 303 {
			t.Errorf("a session after a reset: %d", p.StatusCode)
		}

		// Set on the command line.
		b = fresh
		token, pending = w.Exchange(w.app, code()), code()
		w.Command("violet anchor hums 11\n", "user", "password", ada, "--password-stdin")
		dead("command", token, pending)
		if p := b.Get("/account"); p.StatusCode != 303 {
			t.Errorf("a session after a new password: %d", p.StatusCode)
		}
		if got := w.alive(bobs.Access); got != 0 {
			t.Errorf("somebody else's token: %d", got)
		}
	})
}

// A code that was used ends nothing by itself: its second use must bring what the
// first one did.
func TestSpentCodeAlone(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		b := w.signedIn(ada)
		code := w.code(b, with(w.public.AuthorizeURL("forms:read"), "code_challenge", challengeA, "code_challenge_method", "S256"))
		full := with(w.public.Exchange(code), "code_verifier", verifierA)
		token := w.MustToken(w.Form(tokenPath, full))
		other := strings.Repeat("x", 43)
		for name, body := range map[string]url.Values{
			"the code alone":         w.public.Exchange(code),
			"another verifier":       with(full, "code_verifier", other),
			"another redirect":       with(full, "redirect_uri", "http://127.0.0.1:1/other"),
			"another loopback port":  with(full, "redirect_uri", "http://127.0.0.1:1/cb"),
			"no verifier, elsewhere": with(w.public.Exchange(code), "redirect_uri", "https://x.example/"),
		} {
			w.grant(name, w.Form(tokenPath, body))
			if got := w.alive(token.Access); got != 0 {
				t.Fatalf("%s ended the grant: %d", name, got)
			}
		}
		// With a secret: only a whole second use, too.
		code = w.code(b, w.app.AuthorizeURL("forms:read"))
		secret := w.Exchange(w.app, code)
		w.grant("secret, another redirect", w.Form(tokenPath, with(w.app.Exchange(code), "redirect_uri", "https://app.example.com/other")))
		if got := w.alive(secret.Access); got != 0 {
			t.Errorf("a second use with another redirect_uri ended the grant: %d", got)
		}
		// The whole of it, again, ends both.
		w.grant("replay", w.Form(tokenPath, full))
		if got := w.alive(token.Access); got != 401001 {
			t.Errorf("after a whole second use: %d", got)
		}
		w.grant("replay: the refresh token", w.Form(refreshPath, w.public.Refresh(token.Refresh)))
		w.grant("replay with a secret", w.Form(tokenPath, w.app.Exchange(code)))
		if got := w.alive(secret.Access); got != 401001 {
			t.Errorf("after a whole second use with a secret: %d", got)
		}
	})
}

// All tokens of a grant share its allowance, and a grant gets only so many tokens.
func TestLimitsPerGrant(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		token := w.Token(ada, w.app, "forms:read")
		again := w.Token(ada, w.app, "forms:read") // another grant
		const quota = 50
		passed := 0
		tokens := []string{token.Access}
		for range 9 {
			tokens = append(tokens, w.MustToken(w.Form(refreshPath, w.app.Refresh(token.Refresh))).Access)
		}
		for i := range 3 * quota {
			switch got := w.alive(tokens[i%len(tokens)]); got {
			case 0:
				passed++
			case 429001:
			default:
				t.Fatalf("request %d: %d", i, got)
			}
		}
		// Some of the allowance may grow back while this runs.
		if passed < quota || passed == 3*quota {
			t.Errorf("%d requests with ten tokens passed; the limit of their grant is %d", passed, quota)
		}
		if got := w.alive(again.Access); got != 0 {
			t.Errorf("another grant is held up: %d", got)
		}
		// Refreshing.
		refreshes, limited := 0, false
		for range 400 {
			a := w.Form(refreshPath, w.app.Refresh(token.Refresh))
			if a.StatusCode == 429 {
				limited = a.Header.Get("Retry-After") != "" && a.Code() == 429001
				break
			}
			w.MustToken(a)
			refreshes++
		}
		if !limited || refreshes < 100 {
			t.Errorf("%d refreshes, then limited: %v", refreshes, limited)
		}
		w.MustToken(w.Form(refreshPath, w.app.Refresh(again.Refresh)))
		// A made-up token of the same account takes nothing from the grant.
		for range 130 {
			w.grant("made up", w.Form(refreshPath, w.app.Refresh(again.Refresh[:len(again.Refresh)-4]+"AAAA")))
		}
		w.MustToken(w.Form(refreshPath, w.app.Refresh(again.Refresh)))
		// The oldest tokens made way for the newest.
		if got := w.soon(tokens[0], 401001); got != 401001 {
			t.Errorf("the first token after %d more: %d", refreshes+9, got)
		}
	}, "--rate-per-token=50")
}

// The consent page says who registered the application and when, and no more of them
// than is needed.
func TestConsentRegistrant(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		b := w.signedIn(bob)
		page := func() string { return b.Get("/authorize?" + w.app.AuthorizeURL("forms:read").Encode()).Text }
		shown := regexp.MustCompile(`Registered by an account at example\.com on \d+ \w+ \d{4}\.`)
		if text := page(); !shown.MatchString(text) || strings.Contains(text, ada) {
			t.Errorf("without a name:\n%s", text)
		}
		owner := w.signedIn(ada)
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
		if text := owner.Get("/authorize?" + w.app.AuthorizeURL("forms:read").Encode()).Text; !strings.Contains(text, "You registered this application on") {
			t.Errorf("one's own:\n%s", text)
		}
	})
}
