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

// obtainPublicToken returns a token of the public application, obtained with PKCE.
func (f *fixture) obtainPublicToken(b *clitest.Browser) clitest.Token {
	f.t.Helper()
	code := f.obtainCode(b, withValues(f.public.AuthorizeURL("forms:read"), "code_challenge", challengeA, "code_challenge_method", "S256"))
	return f.MustToken(f.Form(tokenPath, withValues(f.public.Exchange(code), "code_verifier", verifierA)))
}

// TestRefresh covers lines 72 to 80, 82, 83 and 88 of the checklist: refreshing, and what
// ends a grant.
func TestRefresh(t *testing.T) {
	runOnEachStore(t, func(t *testing.T, f *fixture) {
		b := f.signIn(ada)
		token := f.Exchange(f.app, f.obtainCode(b, f.app.AuthorizeURL("forms:read,responses:read")))

		// 72, 73: the access token is new, the refresh token stays the same.
		for _, path := range []string{refreshPath, tokenPath} {
			a := f.Form(path, f.app.Refresh(token.Refresh))
			got := f.MustToken(a)
			want := clitest.Token{Access: got.Access, Refresh: token.Refresh, Type: "Bearer", Expires: 3600, Scope: token.Scope, User: ada}
			if got != want || got.Access == token.Access || len(a.Body) != 6 {
				t.Errorf("72 %s: got %s, want %+v with a new access token", path, a.Text, want)
			}
			if f.tokenErrorCode(got.Access) != 0 || f.tokenErrorCode(token.Access) != 0 {
				t.Errorf("72 %s: a token does not work", path)
			}
		}
		// 74: invalid requests.
		f.expectError("74 code at /refresh", f.Form(refreshPath, f.app.Exchange("x")), 400, 400103, "unsupported_grant_type")
		f.expectInvalidRequest("74 no grant_type", f.Form(refreshPath, withValues(f.app.Refresh(token.Refresh), "grant_type", "")))
		f.expectInvalidRequest("74 no refresh_token", f.Form(refreshPath, withValues(f.app.Refresh(token.Refresh), "refresh_token", "")))
		// 75: client authentication.
		f.expectError("75 no secret", f.Form(refreshPath, withValues(f.app.Refresh(token.Refresh), "client_secret", "")), 401, 401101, "invalid_client")
		f.expectError("75 wrong secret", f.Form(refreshPath, withValues(f.app.Refresh(token.Refresh), "client_secret", "x")), 401, 401101, "invalid_client")
		// 76: the refresh token of another application.
		other := f.AddApp(bob, callback)
		f.expectInvalidGrant("76 another client", f.Form(refreshPath, other.Refresh(token.Refresh)))
		f.MustToken(f.Form(refreshPath, f.app.Refresh(token.Refresh)))
		// 77: access tokens and refresh tokens are not interchangeable.
		f.expectInvalidGrant("77 access token as refresh token", f.Form(refreshPath, f.app.Refresh(token.Access)))
		if got := f.tokenErrorCode(token.Refresh); got != 401001 {
			t.Errorf("77 refresh token as bearer: %d", got)
		}
		// 78, 79: scope can be narrowed for one access token, never widened.
		narrow := f.MustToken(f.Form(refreshPath, withValues(f.app.Refresh(token.Refresh), "scope", "responses:read")))
		if narrow.Scope != "responses:read" {
			t.Errorf("78 narrowed to %q", narrow.Scope)
		}
		if got := f.Call("GET", "/api/v1/forms", narrow.Access, "").Code(); got != 403001 {
			t.Errorf("78 the narrow token lists forms: %d", got)
		}
		if full := f.MustToken(f.Form(refreshPath, f.app.Refresh(token.Refresh))); full.Scope != "forms:read,responses:read" {
			t.Errorf("78 later: %q", full.Scope)
		}
		f.expectError("79 wider", f.Form(refreshPath, withValues(f.app.Refresh(token.Refresh), "scope", "forms:read,forms:write")), 400, 400104, "invalid_scope")
		f.expectError("79 unknown", f.Form(refreshPath, withValues(f.app.Refresh(token.Refresh), "scope", "all")), 400, 400104, "invalid_scope")

		// 82: concurrent refreshes all succeed.
		results := make([]clitest.Response, 32)
		var requests sync.WaitGroup
		for i := range results {
			requests.Go(func() { results[i] = f.Form(refreshPath, f.app.Refresh(token.Refresh)) })
		}
		requests.Wait()
		distinct := map[string]bool{}
		for _, a := range results {
			distinct[f.MustToken(a).Access] = true
		}
		if len(distinct) != len(results) {
			t.Errorf("82 %d different access tokens of %d", len(distinct), len(results))
		}

		// 83: the refresh token of a public application rotates. Reuse of an old one revokes
		// the grant.
		first := f.obtainPublicToken(b)
		second := f.MustToken(f.Form(refreshPath, f.public.Refresh(first.Refresh)))
		if second.Refresh == first.Refresh {
			t.Error("83 the refresh token did not change")
		}
		third := f.MustToken(f.Form(refreshPath, f.public.Refresh(second.Refresh)))
		f.expectInvalidGrant("83 reuse", f.Form(refreshPath, f.public.Refresh(second.Refresh)))
		f.expectInvalidGrant("83 the latest refresh token after reuse", f.Form(refreshPath, f.public.Refresh(third.Refresh)))
		if got := f.tokenErrorCode(third.Access); got != 401001 {
			t.Errorf("83 the latest access token after reuse: %d", got)
		}

		// 80: disabling, disconnecting and deleting end access at once, or, after a command, as
		// soon as the service is notified.
		f.Command("", "app", "disable", f.app.ID)
		if got := f.waitForTokenErrorCode(token.Access, 401001); got != 401001 {
			t.Errorf("80 application disabled: %d", got)
		}
		f.expectInvalidGrant("80 application disabled", f.Form(refreshPath, f.app.Refresh(token.Refresh)))
		f.expectInvalidGrant("80 application disabled", f.Form(tokenPath, f.app.Exchange("x")))
		if a := f.Form("/api/oauth2/introspect", f.app.Authenticate(url.Values{"token": {token.Access}})); a.Text != `{"active":false}` {
			t.Errorf("80 introspection of a disabled application: %s", a.Text)
		}
		f.Command("", "app", "enable", f.app.ID)
		if got := f.waitForTokenErrorCode(token.Access, 0); got != 0 {
			t.Errorf("80 application enabled again: %d", got)
		}
		if p := b.Post("/connections/"+f.app.ID+"/disconnect", nil); p.StatusCode != 303 {
			t.Fatalf("80 disconnect: %d", p.StatusCode)
		}
		if got := f.tokenErrorCode(token.Access); got != 401001 {
			t.Errorf("80 disconnected: %d", got)
		}
		f.expectInvalidGrant("80 disconnected", f.Form(refreshPath, f.app.Refresh(token.Refresh)))

		bobToken := f.Exchange(f.app, f.obtainCode(f.signIn(bob), f.app.AuthorizeURL("forms:read")))
		f.Command("", "user", "disable", bob)
		if got := f.waitForTokenErrorCode(bobToken.Access, 401001); got != 401001 {
			t.Errorf("80 user disabled: %d", got)
		}
		f.expectInvalidGrant("80 user disabled", f.Form(refreshPath, f.app.Refresh(bobToken.Refresh)))
		f.Command("", "user", "enable", bob)
		if got := f.waitForTokenErrorCode(bobToken.Access, 0); got != 0 {
			t.Errorf("80 user enabled again: %d", got)
		}
		f.Command("", "user", "delete", bob, "--yes")
		if got := f.waitForTokenErrorCode(bobToken.Access, 401006); got != 401006 {
			t.Errorf("88 user deleted: %d", got)
		}
		f.expectInvalidGrant("80 user deleted", f.Form(refreshPath, f.app.Refresh(bobToken.Refresh)))

		// A token that was revoked before the user is deleted stays revoked (401001).
		f.AddUser("eve@example.com")
		eveToken := f.Exchange(f.app, f.obtainCode(f.signIn("eve@example.com"), f.app.AuthorizeURL("forms:read")))
		f.Form("/api/oauth2/revoke", f.app.Authenticate(url.Values{"token": {eveToken.Refresh}}))
		f.Command("", "user", "delete", "eve@example.com", "--yes")
		if got := f.waitForTokenErrorCode(eveToken.Access, 401001); got != 401001 {
			t.Errorf("88 revoked, then user deleted: %d", got)
		}

		// Deleting a user deletes their applications too. Tokens of the user for such an
		// application still give 401006.
		adaToken := f.Exchange(f.app, f.obtainCode(b, f.app.AuthorizeURL("forms:read")))
		f.Command("", "user", "delete", ada, "--yes")
		if got := f.waitForTokenErrorCode(adaToken.Access, 401006); got != 401006 {
			t.Errorf("88 owner deleted: %d", got)
		}
	})
}

// TestRefreshIdle covers line 81: a refresh token expires if it is not used.
func TestRefreshIdle(t *testing.T) {
	runOnEachStore(t, func(t *testing.T, f *fixture) {
		token := f.Token(ada, f.app, "forms:read")
		issued := time.Now()
		// Requests every 50 ms stay below the rate limit.
		const interval = 50 * time.Millisecond
		// Each use extends the lifetime beyond the first 5 seconds.
		for time.Since(issued) < 5500*time.Millisecond {
			f.MustToken(f.Form(refreshPath, f.app.Refresh(token.Refresh)))
			time.Sleep(interval)
		}
		lastUse := time.Now()
		for time.Since(lastUse) < 5200*time.Millisecond {
			f.expectInvalidGrant("81 while waiting", f.Form(refreshPath, f.app.Refresh("fmr_x")))
			time.Sleep(interval)
		}
		f.expectInvalidGrant("81 idle", f.Form(refreshPath, f.app.Refresh(token.Refresh)))
	}, "--refresh-idle=5s")
}

// readGzip returns the decompressed content of a file.
func readBackup(t *testing.T, file string) []byte {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	gz, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	gz.Multistream(false) // files follow
	text, err := io.ReadAll(gz)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
