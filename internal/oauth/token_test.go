package oauth_test

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"formulary/internal/cli/clitest"
)

const tokenPath = "/api/oauth2/token"

// TestToken covers lines 37 to 50, 52 to 54 and 56 to 59 of the checklist: the token
// endpoint.
func TestToken(t *testing.T) {
	runOnEachStore(t, func(t *testing.T, f *fixture) {
		b := f.signIn(ada)
		newCode := func() string { return f.obtainCode(b, f.app.AuthorizeURL("forms:read,responses:read")) }

		// 37, 38: the response has exactly six fields.
		a := f.Form(tokenPath, f.app.Exchange(newCode()))
		token := f.MustToken(a)
		want := clitest.Token{Access: token.Access, Refresh: token.Refresh, Type: "Bearer", Expires: 3600, Scope: "forms:read,responses:read", User: ada}
		if token != want || len(a.Body) != 6 {
			t.Errorf("37 got %s, want %+v", a.Text, want)
		}
		if a.Header.Get("Cache-Control") != "no-store" || !strings.HasPrefix(a.Header.Get("Content-Type"), "application/json") {
			t.Errorf("38 headers: %v", a.Header)
		}
		if f.tokenErrorCode(token.Access) != 0 {
			t.Error("37 the token does not work")
		}
		// 57: secrets have a prefix and at least 256 bits.
		for prefix, secret := range map[string]string{"fma_": token.Access, "fmr_": token.Refresh, "fms_": f.app.Secret, "fmc_": newCode()} {
			body, ok := strings.CutPrefix(secret, prefix)
			raw, err := base64.RawURLEncoding.DecodeString(body)
			if !ok || err != nil || len(raw) < 32 {
				t.Errorf("57 %s has %d bytes (%v)", prefix, len(raw), err)
			}
		}
		// 39: GET.
		if a := f.Call("GET", tokenPath, "", ""); a.StatusCode != 405 || a.Code() != 405001 || a.Header.Get("Allow") != "POST" {
			t.Errorf("39 GET: %d %s", a.StatusCode, a.Text)
		}
		// 40: other content types are rejected and do not use up the code.
		code := newCode()
		for _, contentType := range []string{"application/json", "multipart/form-data; boundary=x", "text/plain", ""} {
			r, err := http.NewRequest("POST", f.URL+tokenPath, strings.NewReader(f.app.Exchange(code).Encode()))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", contentType)
			f.expectError("40 as "+contentType, f.Do(r), 415, 415001, "invalid_request")
		}
		// 41: parameters in the query are ignored.
		f.expectInvalidRequest("41 all in the query", f.Form(tokenPath+"?"+f.app.Exchange(code).Encode(), nil))
		f.expectInvalidRequest("41 secret in the query", f.Form(tokenPath+"?client_secret="+f.app.Secret, withValues(f.app.Exchange(code), "client_secret", "")))
		// 42: repeated parameters.
		for name := range f.app.Exchange(code) {
			twice := f.app.Exchange(code)
			twice.Add(name, "again")
			f.expectInvalidRequest("42 "+name+" twice", f.Form(tokenPath, twice))
		}
		// 43: missing parameters.
		for name := range f.app.Exchange(code) {
			f.expectInvalidRequest("43 without "+name, f.Form(tokenPath, withValues(f.app.Exchange(code), name, "")))
		}
		// 44: other grant types.
		for _, grant := range []string{"password", "client_credentials", "implicit", "urn:ietf:params:oauth:grant-type:device_code"} {
			f.expectError("44 "+grant, f.Form(tokenPath, withValues(f.app.Exchange(code), "grant_type", grant)), 400, 400103, "unsupported_grant_type")
		}
		// 45, 46: a wrong secret and an unknown client get the same response.
		wrong := f.Form(tokenPath, withValues(f.app.Exchange(code), "client_secret", "fms_wrong"))
		f.expectError("45 wrong secret", wrong, 401, 401101, "invalid_client")
		unknown := f.Form(tokenPath, withValues(f.app.Exchange(code), "client_id", "app_01k9z8m7q3e4r5t6y7v8w9x0a1"))
		f.expectError("46 unknown client", unknown, 401, 401101, "invalid_client")
		if wrong.Text != unknown.Text {
			t.Errorf("46 %s is not %s", unknown.Text, wrong.Text)
		}
		f.expectError("46 invalid client ID", f.Form(tokenPath, withValues(f.app.Exchange(code), "client_id", "\x00\xff")), 401, 401101, "invalid_client")
		basicAuth := func(user, password string) string {
			return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
		}
		noClient := withValues(f.app.Exchange(code), "client_id", "", "client_secret", "")
		wrongBasicAuth := f.Form(tokenPath, noClient, basicAuth(f.app.ID, "fms_wrong"))
		f.expectError("45 wrong Basic", wrongBasicAuth, 401, 401101, "invalid_client")
		if !strings.HasPrefix(wrongBasicAuth.Header.Get("WWW-Authenticate"), "Basic ") {
			t.Errorf("45 WWW-Authenticate is %q", wrongBasicAuth.Header.Get("WWW-Authenticate"))
		}
		// 48: two authentication methods at once.
		f.expectInvalidRequest("48 Basic and body", f.Form(tokenPath, f.app.Exchange(code), basicAuth(f.app.ID, f.app.Secret)))
		f.expectInvalidRequest("48 Basic and another client_id", f.Form(tokenPath, withValues(noClient, "client_id", f.public.ID), basicAuth(f.app.ID, f.app.Secret)))
		f.expectInvalidRequest("48 Bearer", f.Form(tokenPath, f.app.Exchange(code), "Authorization: Bearer x"))
		// 59: too large.
		f.expectError("59 large body", f.Form(tokenPath, withValues(f.app.Exchange(code), "padding", strings.Repeat("x", 70_000))), 413, 413001, "invalid_request")
		// 47, 49: the failed requests did not use up the code, and Basic works.
		f.MustToken(f.Form(tokenPath, noClient, basicAuth(f.app.ID, f.app.Secret)))

		// 50, 52, 53: invalid codes and redirect URIs.
		f.expectInvalidGrant("50 garbage", f.Form(tokenPath, f.app.Exchange("garbage")))
		f.expectInvalidGrant("50 access token as code", f.Form(tokenPath, f.app.Exchange(token.Access)))
		code = newCode()
		altered := code[:len(code)-4] + "AAAA"
		if altered == code {
			altered = code[:len(code)-4] + "BBBB"
		}
		f.expectInvalidGrant("50 altered code", f.Form(tokenPath, f.app.Exchange(altered)))
		other := f.AddApp(bob, callback)
		f.expectInvalidGrant("52 another client's code", f.Form(tokenPath, other.Exchange(code)))
		f.expectInvalidGrant("53 other redirect_uri", f.Form(tokenPath, withValues(f.app.Exchange(code), "redirect_uri", "https://app.example.com/other")))
		f.expectInvalidGrant("53 redirect_uri with NUL", f.Form(tokenPath, withValues(f.app.Exchange(code), "redirect_uri", "\x00")))
		// 58: scope is ignored.
		if got := f.MustToken(f.Form(tokenPath, withValues(f.app.Exchange(code), "scope", "forms:write"))); got.Scope != "forms:read,responses:read" {
			t.Errorf("58 granted %q", got.Scope)
		}
		// 54: replay of a code revokes its tokens; replay by another application does not.
		code = newCode()
		first := f.Exchange(f.app, code)
		f.expectInvalidGrant("54 replay by another client", f.Form(tokenPath, other.Exchange(code)))
		if f.tokenErrorCode(first.Access) != 0 {
			t.Error("54 replay by another client revoked the token")
		}
		f.expectInvalidGrant("54 replay", f.Form(tokenPath, f.app.Exchange(code)))
		if got := f.tokenErrorCode(first.Access); got != 401001 {
			t.Errorf("54 the first access token gives %d", got)
		}
		f.expectInvalidGrant("54 the first refresh token", f.Form("/api/oauth2/refresh", f.app.Refresh(first.Refresh)))
		// 56: the application is disconnected before the exchange.
		code = newCode()
		if p := b.Post("/connections/"+f.app.ID+"/disconnect", nil); p.StatusCode != 303 {
			t.Fatalf("56 disconnect: %d", p.StatusCode)
		}
		f.expectInvalidGrant("56 disconnected", f.Form(tokenPath, f.app.Exchange(code)))
	})
}

// TestCodeExpiry covers line 51: codes expire.
func TestCodeExpiry(t *testing.T) {
	runOnEachStore(t, func(t *testing.T, f *fixture) {
		code := f.obtainCode(f.signIn(ada), f.app.AuthorizeURL("forms:read"))
		issued := time.Now()
		// A wrong redirect_uri does not use up the code. Requests every 10 ms stay below the
		// rate limit.
		for ; time.Since(issued) < 1100*time.Millisecond; time.Sleep(10 * time.Millisecond) {
			f.expectInvalidGrant("51 while waiting", f.Form(tokenPath, withValues(f.app.Exchange(code), "redirect_uri", "https://app.example.com/other")))
		}
		f.expectInvalidGrant("51 expired", f.Form(tokenPath, f.app.Exchange(code)))
	}, "--code-ttl=1s")
}

// TestCodeRace covers line 55: of many concurrent exchanges of a code, one succeeds.
func TestCodeRace(t *testing.T) {
	runOnEachStore(t, func(t *testing.T, f *fixture) {
		b := f.signIn(ada)
		for range 5 {
			code := f.obtainCode(b, f.app.AuthorizeURL("forms:read"))
			results := make([]clitest.Response, 32)
			var requests sync.WaitGroup
			for i := range results {
				requests.Go(func() { results[i] = f.Form(tokenPath, f.app.Exchange(code)) })
			}
			requests.Wait()
			succeeded := 0
			for _, a := range results {
				if a.StatusCode == 200 {
					succeeded++
				} else {
					f.expectInvalidGrant("55 other exchanges", a)
				}
			}
			if succeeded != 1 {
				t.Errorf("55 %d exchanges succeeded, want 1", succeeded)
			}
		}
	})
}

// TestSecretGuessing covers line 61: guessing secrets is limited per client address.
func TestSecretGuessing(t *testing.T) {
	runOnEachStore(t, func(t *testing.T, f *fixture) {
		body := withValues(f.app.Refresh("x"), "client_secret", "fms_guess")
		limited := false
		for range 100 {
			a := f.Form("/api/oauth2/refresh", body, "X-Forwarded-For: 192.0.2.1")
			if a.StatusCode == 429 {
				limited = true
				if a.Header.Get("Retry-After") == "" || a.Code() != 429001 {
					t.Errorf("61 %s", a.Text)
				}
				break
			}
			f.expectError("61 wrong secret", a, 401, 401101, "invalid_client")
		}
		if !limited {
			t.Error("61 no limit after 100 attempts")
		}
		a := f.Form("/api/oauth2/refresh", f.app.Refresh("x"), "X-Forwarded-For: 192.0.2.2")
		f.expectInvalidGrant("61 another address", a)
	}, "--trusted-proxies=127.0.0.1")
}

// TestNoSecretAtRest covers line 99: neither a backup of the database nor the log contains
// a secret.
func TestNoSecretAtRest(t *testing.T) {
	runOnEachStore(t, func(t *testing.T, f *fixture) {
		b := f.signIn(ada)
		code := f.obtainCode(b, f.app.AuthorizeURL("forms:read"))
		token := f.Exchange(f.app, code)
		refreshed := f.MustToken(f.Form("/api/oauth2/refresh", f.app.Refresh(token.Refresh)))
		f.Call("GET", "/api/v1/me?access_token="+refreshed.Access, refreshed.Access, "")
		ticket := b.ConsentRequest(f.app.AuthorizeURL("forms:read"))
		base, _ := url.Parse(f.URL)
		secrets := []string{
			clitest.Password, f.PersonalToken(ada, "Script", "forms:read"), code, token.Access, token.Refresh, refreshed.Access, f.app.Secret, ticket,
		}
		for _, cookie := range b.Jar.Cookies(base) {
			secrets = append(secrets, cookie.Value)
		}
		file := t.TempDir() + "/dump"
		f.Command("", "backup", file)
		f.Stop()
		dump := readBackup(t, file)
		if f.Storage.Engine == "sqlite" {
			dump = append(dump, f.DataFile("formulary.db")...)
		}
		if !bytes.Contains(dump, []byte(ada)) {
			t.Fatal("99 the backup does not contain the account")
		}
		for _, secret := range secrets {
			if bytes.Contains(dump, []byte(secret)) {
				t.Errorf("99 the database contains %.8s…", secret)
			}
			if strings.Contains(f.Log(), secret) {
				t.Errorf("99 the log contains %.8s…", secret)
			}
		}
	})
}
