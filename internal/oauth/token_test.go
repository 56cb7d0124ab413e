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

func TestToken(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		b := w.signedIn(ada)
		fresh := func() string { return w.code(b, w.app.AuthorizeURL("forms:read,responses:read")) }

		// 37, 38: exactly six fields.
		a := w.Form(tokenPath, w.app.Exchange(fresh()))
		token := w.MustToken(a)
		if len(a.Body) != 6 || token.Type != "Bearer" || token.Expires != 3600 || token.Scope != "forms:read,responses:read" || token.User != ada {
			t.Errorf("37 got %s", a.Text)
		}
		if a.Header.Get("Cache-Control") != "no-store" || !strings.HasPrefix(a.Header.Get("Content-Type"), "application/json") {
			t.Errorf("38 headers: %v", a.Header)
		}
		if w.alive(token.Access) != 0 {
			t.Error("37 the token does not work")
		}
		// 57: 256 random bits behind each prefix.
		for prefix, secret := range map[string]string{"fma_": token.Access, "fmr_": token.Refresh, "fms_": w.app.Secret, "fmc_": fresh()} {
			body, ok := strings.CutPrefix(secret, prefix)
			raw, err := base64.RawURLEncoding.DecodeString(body)
			if !ok || err != nil || len(raw) < 32 {
				t.Errorf("57 %s has %d bytes (%v)", prefix, len(raw), err)
			}
		}
		// 39: GET.
		if a := w.Call("GET", tokenPath, "", ""); a.StatusCode != 405 || a.Code() != 405001 || a.Header.Get("Allow") != "POST" {
			t.Errorf("39 GET: %d %s", a.StatusCode, a.Text)
		}
		// 40: other content types; nothing is consumed.
		code := fresh()
		for _, kind := range []string{"application/json", "multipart/form-data; boundary=x", "text/plain", ""} {
			r, err := http.NewRequest("POST", w.URL+tokenPath, strings.NewReader(w.app.Exchange(code).Encode()))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", kind)
			w.is("40 as "+kind, w.Do(r), 415, 415001, "invalid_request")
		}
		// 41: nothing is read from the query.
		w.invalid("41 all in the query", w.Form(tokenPath+"?"+w.app.Exchange(code).Encode(), nil))
		w.invalid("41 secret in the query", w.Form(tokenPath+"?client_secret="+w.app.Secret, with(w.app.Exchange(code), "client_secret", "")))
		// 42: a field twice.
		for name := range w.app.Exchange(code) {
			twice := w.app.Exchange(code)
			twice.Add(name, "again")
			w.invalid("42 "+name+" twice", w.Form(tokenPath, twice))
		}
		// 43: each missing field.
		for name := range w.app.Exchange(code) {
			w.invalid("43 without "+name, w.Form(tokenPath, with(w.app.Exchange(code), name, "")))
		}
		// 44: other grants.
		for _, grant := range []string{"password", "client_credentials", "implicit", "urn:ietf:params:oauth:grant-type:device_code"} {
			w.is("44 "+grant, w.Form(tokenPath, with(w.app.Exchange(code), "grant_type", grant)), 400, 400103, "unsupported_grant_type")
		}
		// 45, 46: a wrong secret and an unknown client look the same.
		wrong := w.Form(tokenPath, with(w.app.Exchange(code), "client_secret", "fms_wrong"))
		w.is("45 wrong secret", wrong, 401, 401101, "invalid_client")
		unknown := w.Form(tokenPath, with(w.app.Exchange(code), "client_id", "app_01k9z8m7q3e4r5t6y7v8w9x0a1"))
		w.is("46 unknown client", unknown, 401, 401101, "invalid_client")
		if wrong.Text != unknown.Text {
			t.Errorf("46 %s is not %s", unknown.Text, wrong.Text)
		}
		w.is("46 no client id", w.Form(tokenPath, with(w.app.Exchange(code), "client_id", "\x00\xff")), 401, 401101, "invalid_client")
		basic := func(user, password string) string {
			return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
		}
		bare := with(w.app.Exchange(code), "client_id", "", "client_secret", "")
		wrongBasic := w.Form(tokenPath, bare, basic(w.app.ID, "fms_wrong"))
		w.is("45 wrong Basic", wrongBasic, 401, 401101, "invalid_client")
		if !strings.HasPrefix(wrongBasic.Header.Get("WWW-Authenticate"), "Basic ") {
			t.Errorf("45 WWW-Authenticate is %q", wrongBasic.Header.Get("WWW-Authenticate"))
		}
		// 48: both ways at once.
		w.invalid("48 Basic and body", w.Form(tokenPath, w.app.Exchange(code), basic(w.app.ID, w.app.Secret)))
		w.invalid("48 Basic and another client_id", w.Form(tokenPath, with(bare, "client_id", w.public.ID), basic(w.app.ID, w.app.Secret)))
		w.invalid("48 Bearer", w.Form(tokenPath, w.app.Exchange(code), "Authorization: Bearer x"))
		// 59: too large.
		w.is("59 large body", w.Form(tokenPath, with(w.app.Exchange(code), "padding", strings.Repeat("x", 70_000))), 413, 413001, "invalid_request")
		// 49, 47: after all that, the code is still good, and Basic works.
		w.MustToken(w.Form(tokenPath, bare, basic(w.app.ID, w.app.Secret)))

		// 50, 52, 53.
		w.grant("50 garbage", w.Form(tokenPath, w.app.Exchange("garbage")))
		w.grant("50 access token as code", w.Form(tokenPath, w.app.Exchange(token.Access)))
		code = fresh()
		altered := code[:len(code)-4] + map[bool]string{true: "AAAA", false: "BBBB"}[!strings.HasSuffix(code, "AAAA")]
		w.grant("50 altered code", w.Form(tokenPath, w.app.Exchange(altered)))
		other := w.AddApp(bob, callback)
		w.grant("52 another client's code", w.Form(tokenPath, other.Exchange(code)))
		w.grant("53 other redirect_uri", w.Form(tokenPath, with(w.app.Exchange(code), "redirect_uri", "https://app.example.com/other")))
		w.grant("53 no database takes it", w.Form(tokenPath, with(w.app.Exchange(code), "redirect_uri", "\x00")))
		// 58: scope here has no meaning.
		if got := w.MustToken(w.Form(tokenPath, with(w.app.Exchange(code), "scope", "forms:write"))); got.Scope != "forms:read,responses:read" {
			t.Errorf("58 granted %q", got.Scope)
		}
		// 54: replay kills what the first use gave; another client's replay does not.
		code = fresh()
		first := w.Exchange(w.app, code)
		w.grant("54 replay by another client", w.Form(tokenPath, other.Exchange(code)))
		if w.alive(first.Access) != 0 {
			t.Error("54 another client's replay ended the token")
		}
		w.grant("54 replay", w.Form(tokenPath, w.app.Exchange(code)))
		if got := w.alive(first.Access); got != 401001 {
			t.Errorf("54 the first access token gives %d", got)
		}
		w.grant("54 the first refresh token", w.Form("/api/oauth2/refresh", w.app.Refresh(first.Refresh)))
		// 56: withdrawn before the exchange.
		code = fresh()
		if p := b.Post("/connections/"+w.app.ID+"/disconnect", nil); p.StatusCode != 303 {
			t.Fatalf("56 disconnect: %d", p.StatusCode)
		}
		w.grant("56 withdrawn", w.Form(tokenPath, w.app.Exchange(code)))
	})
}

// 51: an expired code.
func TestCodeExpiry(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		code := w.code(w.signedIn(ada), w.app.AuthorizeURL("forms:read"))
		issued := time.Now()
		// A wrong redirect_uri does not use the code up, so this only waits; not so often
		// that the limit of requests has something to say.
		for ; time.Since(issued) < 1100*time.Millisecond; time.Sleep(10 * time.Millisecond) {
			w.grant("51 while waiting", w.Form(tokenPath, with(w.app.Exchange(code), "redirect_uri", "https://app.example.com/other")))
		}
		w.grant("51 expired", w.Form(tokenPath, w.app.Exchange(code)))
	}, "--code-ttl=1s")
}

// 55: of many at once, exactly one.
func TestCodeRace(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		b := w.signedIn(ada)
		for range 5 {
			code := w.code(b, w.app.AuthorizeURL("forms:read"))
			answers := make([]clitest.Answer, 32)
			var all sync.WaitGroup
			for i := range answers {
				all.Go(func() { answers[i] = w.Form(tokenPath, w.app.Exchange(code)) })
			}
			all.Wait()
			won := 0
			for _, a := range answers {
				if a.StatusCode == 200 {
					won++
				} else {
					w.grant("55 the others", a)
				}
			}
			if won != 1 {
				t.Errorf("55 %d won", won)
			}
		}
	})
}

// 61: guessing secrets is limited, and only for the one who guesses.
func TestSecretGuessing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		body := with(w.app.Refresh("x"), "client_secret", "fms_guess")
		limited := false
		for range 100 {
			a := w.Form("/api/oauth2/refresh", body, "X-Forwarded-For: 192.0.2.1")
			if a.StatusCode == 429 {
				limited = true
				if a.Header.Get("Retry-After") == "" || a.Code() != 429001 {
					t.Errorf("61 %s", a.Text)
				}
				break
			}
			w.is("61 guess", a, 401, 401101, "invalid_client")
		}
		if !limited {
			t.Error("61 a hundred guesses and no limit")
		}
		a := w.Form("/api/oauth2/refresh", w.app.Refresh("x"), "X-Forwarded-For: 192.0.2.2")
		w.grant("61 another address", a)
	}, "--trusted-proxies=127.0.0.1")
}

// 99: a dump of the database and of the log holds no secret.
func TestNoSecretAtRest(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		b := w.signedIn(ada)
		code := w.code(b, w.app.AuthorizeURL("forms:read"))
		token := w.Exchange(w.app, code)
		renewed := w.MustToken(w.Form("/api/oauth2/refresh", w.app.Refresh(token.Refresh)))
		w.Call("GET", "/api/v1/me?access_token="+renewed.Access, renewed.Access, "")
		ticket := b.ConsentRequest(w.app.AuthorizeURL("forms:read"))
		base, _ := url.Parse(w.URL)
		secrets := []string{
			clitest.Password, code, token.Access, token.Refresh, renewed.Access, w.app.Secret, ticket,
		}
		for _, cookie := range b.Jar.Cookies(base) {
			secrets = append(secrets, cookie.Value)
		}
		file := t.TempDir() + "/dump"
		w.Command("", "backup", file)
		w.Stop()
		dump := unpack(t, file)
		if w.Place.Engine == "sqlite" {
			dump = append(dump, w.DataFile("formulary.db")...)
		}
		if !bytes.Contains(dump, []byte(ada)) {
			t.Fatal("99 the dump does not even hold the account")
		}
		for _, secret := range secrets {
			if bytes.Contains(dump, []byte(secret)) {
				t.Errorf("99 the database holds %.8s…", secret)
			}
			if strings.Contains(w.Log(), secret) {
				t.Errorf("99 the log holds %.8s…", secret)
			}
		}
	})
}
