package oauth_test

import (
	"compress/gzip"
	"io"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"formulary/internal/cli/clitest"
)

const refreshPath = "/api/oauth2/refresh"

// public goes through the flow of the public application, with PKCE.
func (w *world) publicToken(b *clitest.Browser) clitest.Token {
	w.t.Helper()
	code := w.code(b, with(w.public.AuthorizeURL("forms:read"), "code_challenge", challengeA, "code_challenge_method", "S256"))
	return w.MustToken(w.Form(tokenPath, with(w.public.Exchange(code), "code_verifier", verifierA)))
}

func TestRefresh(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		b := w.signedIn(ada)
		token := w.Exchange(w.app, w.code(b, w.app.AuthorizeURL("forms:read,responses:read")))

		// 72, 73: a new access token, the same refresh token.
		for _, path := range []string{refreshPath, tokenPath} {
			a := w.Form(path, w.app.Refresh(token.Refresh))
			got := w.MustToken(a)
			if got.Refresh != token.Refresh || got.Access == token.Access || got.Type != "Bearer" || got.Expires != 3600 ||
				got.Scope != token.Scope || got.User != ada || len(a.Body) != 6 {
				t.Errorf("72 %s: %s", path, a.Text)
			}
			if w.alive(got.Access) != 0 || w.alive(token.Access) != 0 {
				t.Errorf("72 %s: a token does not work", path)
			}
		}
		// 74.
		w.is("74 code at /refresh", w.Form(refreshPath, w.app.Exchange("x")), 400, 400103, "unsupported_grant_type")
		w.invalid("74 no grant_type", w.Form(refreshPath, with(w.app.Refresh(token.Refresh), "grant_type", "")))
		w.invalid("74 no refresh_token", w.Form(refreshPath, with(w.app.Refresh(token.Refresh), "refresh_token", "")))
		// 75.
		w.is("75 no secret", w.Form(refreshPath, with(w.app.Refresh(token.Refresh), "client_secret", "")), 401, 401101, "invalid_client")
		w.is("75 wrong secret", w.Form(refreshPath, with(w.app.Refresh(token.Refresh), "client_secret", "x")), 401, 401101, "invalid_client")
		// 76.
		other := w.AddApp(bob, callback)
		w.grant("76 another client", w.Form(refreshPath, other.Refresh(token.Refresh)))
		w.MustToken(w.Form(refreshPath, w.app.Refresh(token.Refresh)))
		// 77.
		w.grant("77 access token as refresh token", w.Form(refreshPath, w.app.Refresh(token.Access)))
		if got := w.alive(token.Refresh); got != 401001 {
			t.Errorf("77 refresh token as bearer: %d", got)
		}
		// 78, 79.
		narrow := w.MustToken(w.Form(refreshPath, with(w.app.Refresh(token.Refresh), "scope", "responses:read")))
		if narrow.Scope != "responses:read" {
			t.Errorf("78 narrowed to %q", narrow.Scope)
		}
		if got := w.Call("GET", "/api/v1/forms", narrow.Access, "").Code(); got != 403001 {
			t.Errorf("78 the narrow token lists forms: %d", got)
		}
		if full := w.MustToken(w.Form(refreshPath, w.app.Refresh(token.Refresh))); full.Scope != "forms:read,responses:read" {
			t.Errorf("78 later: %q", full.Scope)
		}
		w.is("79 wider", w.Form(refreshPath, with(w.app.Refresh(token.Refresh), "scope", "forms:read,forms:write")), 400, 400104, "invalid_scope")
		w.is("79 unknown", w.Form(refreshPath, with(w.app.Refresh(token.Refresh), "scope", "all")), 400, 400104, "invalid_scope")

		// 82: many at once.
		answers := make([]clitest.Answer, 32)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() { answers[i] = w.Form(refreshPath, w.app.Refresh(token.Refresh)) })
		}
		all.Wait()
		seen := map[string]bool{}
		for _, a := range answers {
			seen[w.MustToken(a).Access] = true
		}
		if len(seen) != len(answers) {
			t.Errorf("82 %d different access tokens of %d", len(seen), len(answers))
		}

		// 83: a public application's token rotates; the old one ends the family.
		one := w.publicToken(b)
		two := w.MustToken(w.Form(refreshPath, w.public.Refresh(one.Refresh)))
		if two.Refresh == one.Refresh {
			t.Error("83 no rotation")
		}
		three := w.MustToken(w.Form(refreshPath, w.public.Refresh(two.Refresh)))
		w.grant("83 reuse", w.Form(refreshPath, w.public.Refresh(two.Refresh)))
		w.grant("83 the family", w.Form(refreshPath, w.public.Refresh(three.Refresh)))
		if got := w.alive(three.Access); got != 401001 {
			t.Errorf("83 the family's access token: %d", got)
		}

		// 80: disabled, disconnected, deleted; each at once, or when the service has heard of it.
		w.Command("", "app", "disable", w.app.ID)
		if got := w.soon(token.Access, 401001); got != 401001 {
			t.Errorf("80 application disabled: %d", got)
		}
		w.grant("80 application disabled", w.Form(refreshPath, w.app.Refresh(token.Refresh)))
		w.grant("80 application disabled", w.Form(tokenPath, w.app.Exchange("x")))
		if a := w.Form("/api/oauth2/introspect", w.app.Authenticate(url.Values{"token": {token.Access}})); a.Text != `{"active":false}` {
			t.Errorf("80 introspection of a disabled application: %s", a.Text)
		}
		w.Command("", "app", "enable", w.app.ID)
		if got := w.soon(token.Access, 0); got != 0 {
			t.Errorf("80 application enabled again: %d", got)
		}
		if p := b.Post("/connections/"+w.app.ID+"/disconnect", nil); p.StatusCode != 303 {
			t.Fatalf("80 disconnect: %d", p.StatusCode)
		}
		if got := w.alive(token.Access); got != 401001 {
			t.Errorf("80 disconnected: %d", got)
		}
		w.grant("80 disconnected", w.Form(refreshPath, w.app.Refresh(token.Refresh)))

		bobs := w.Exchange(w.app, w.code(w.signedIn(bob), w.app.AuthorizeURL("forms:read")))
		w.Command("", "user", "disable", bob)
		if got := w.soon(bobs.Access, 401001); got != 401001 {
			t.Errorf("80 user disabled: %d", got)
		}
		w.grant("80 user disabled", w.Form(refreshPath, w.app.Refresh(bobs.Refresh)))
		w.Command("", "user", "enable", bob)
		if got := w.soon(bobs.Access, 0); got != 0 {
			t.Errorf("80 user enabled again: %d", got)
		}
		w.Command("", "user", "delete", bob, "--yes")
		if got := w.soon(bobs.Access, 401006); got != 401006 {
			t.Errorf("88 user deleted: %d", got)
		}
		w.grant("80 user deleted", w.Form(refreshPath, w.app.Refresh(bobs.Refresh)))

		// What was revoked before stays revoked.
		w.AddUser("eve@example.com")
		eves := w.Exchange(w.app, w.code(w.signedIn("eve@example.com"), w.app.AuthorizeURL("forms:read")))
		w.Form("/api/oauth2/revoke", w.app.Authenticate(url.Values{"token": {eves.Refresh}}))
		w.Command("", "user", "delete", "eve@example.com", "--yes")
		if got := w.soon(eves.Access, 401001); got != 401001 {
			t.Errorf("88 revoked, then user deleted: %d", got)
		}

		// The owner of the application is deleted with it: still 401006 for
		// their own token.
		own := w.Exchange(w.app, w.code(b, w.app.AuthorizeURL("forms:read")))
		w.Command("", "user", "delete", ada, "--yes")
		if got := w.soon(own.Access, 401006); got != 401006 {
			t.Errorf("88 owner deleted: %d", got)
		}
	})
}

// 81: a refresh token that nobody used for long.
func TestRefreshIdle(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		token := w.Token(ada, w.app, "forms:read")
		used := time.Now()
		// Not so often that the limit of requests has something to say.
		const between = 50 * time.Millisecond
		// Using it keeps it alive past its first end.
		for time.Since(used) < 5500*time.Millisecond {
			w.MustToken(w.Form(refreshPath, w.app.Refresh(token.Refresh)))
			time.Sleep(between)
		}
		last := time.Now()
		for time.Since(last) < 5200*time.Millisecond {
			w.grant("81 while waiting", w.Form(refreshPath, w.app.Refresh("fmr_x")))
			time.Sleep(between)
		}
		w.grant("81 idle", w.Form(refreshPath, w.app.Refresh(token.Refresh)))
	}, "--refresh-idle=5s")
}

func unpack(t *testing.T, file string) []byte {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
