package api_test

import (
	"context"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/cli/clitest"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

func allScopes(without ...string) (list []string) {
	for _, known := range account.ScopeList {
		if !slices.Contains(without, string(known.Scope)) {
			list = append(list, string(known.Scope))
		}
	}
	return list
}

// TestPersonalTokenScopes sends every operation with tokens that have all scopes, and all but
// the one that the operation needs.
func TestPersonalTokenScopes(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		doc := document(t, w.Service)
		id := w.create(w.ada, "Only Ada's eyes")
		all := w.PersonalToken(bob, "All", allScopes()...)
		without := map[string]string{}
		for _, scope := range allScopes() {
			without[scope] = w.PersonalToken(bob, "All but "+scope, allScopes(scope)...)
		}
		tried := 0
		for path, item := range doc.Paths.Map() {
			for method, op := range item.Operations() {
				scopes, ok := (*op.Security)[0]["oauth2"]
				if !ok || len(scopes) == 0 {
					continue
				}
				target := strings.NewReplacer("{id}", id, "{response}", "rsp_01k9z8m7q3e4r5t6y7v8w9x0a1", "{version}", "1",
					"{webhook}", "whk_01k9z8m7q3e4r5t6y7v8w9x0a1", "{delivery}", "dlv_01k9z8m7q3e4r5t6y7v8w9x0a1").Replace(path)
				tried++
				w.expectCode(method+" "+path+" without "+scopes[0], w.Call(method, target, without[scopes[0]], "{}"), 403001)
				if a := w.Call(method, target, all, "{}"); a.Code()/1000 == 401 || a.Code()/1000 == 403 || strings.Contains(a.Text, "Only Ada") {
					t.Errorf("%s %s with all scopes: %d %s", method, path, a.StatusCode, a.Text)
				}
			}
		}
		if tried < 40 {
			t.Errorf("only %d operations", tried)
		}
		a := w.Call("GET", "/api/v1/me", all, "")
		w.expectFields("me", a, map[string]any{"email": bob, "scope": strings.Join(allScopes(), ","), "application": nil})
		if p, _ := a.Body["personal_token"].(map[string]any); p["name"] != "All" || p["expires_at"] == "" {
			t.Errorf("me does not name the token: %s", a.Text)
		}
		// Keys of two tokens are apart.
		for _, token := range []string{all, w.PersonalToken(bob, "Other", "forms:write"), w.bob} {
			w.expectStatus("create with the same key", w.Call("POST", "/api/v1/forms", token, `{"title": "`+token[4:8]+token[len(token)-4:]+`"}`, "Idempotency-Key: same"), 201)
		}
		// So are those for notes and views.
		path := w.openForm(w.bob, order)
		response := path + "/responses/" + w.Call("POST", path+"/responses", w.bob, `{"answers": {"email": "mara@example.com"}}`).String("id")
		for i, token := range []string{all, w.PersonalToken(bob, "Third", allScopes()...)} {
			name := strconv.Itoa(i)
			w.expectStatus("add a note with the same key", w.Call("POST", response+"/notes", token, `{"text": "`+name+`"}`, "Idempotency-Key: note"), 201)
			w.expectStatus("add a view with the same key", w.Call("POST", path+"/views", token, `{"name": "`+name+`", "filter": {}}`, "Idempotency-Key: view"), 201)
		}
	})
}

// TestPersonalTokensAreNotForOAuth shows that a personal token can't manage tokens, sessions
// or the account, and that applications can't learn anything about it.
func TestPersonalTokensAreNotForOAuth(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		token := w.PersonalToken(ada, "Script", allScopes()...)
		a := w.Form("/api/oauth2/introspect", w.app.Authenticate(url.Values{"token": {token}}))
		if strings.TrimSpace(a.Text) != `{"active":false}` {
			t.Errorf("introspect: %s", a.Text)
		}
		w.expectStatus("revoke", w.Form("/api/oauth2/revoke", w.app.Authenticate(url.Values{"token": {token}})), 200)
		w.expectCode("refresh", w.Form("/api/oauth2/refresh", w.app.Refresh(token)), 400102)
		w.expectCode("code", w.Form("/api/oauth2/token", w.app.Exchange(token)), 400102)
		w.expectStatus("afterwards", w.Call("GET", "/api/v1/me", token, ""), 200)
		for _, secret := range []string{"fma_" + token[4:], token[:len(token)-1], token + "A", strings.ToUpper(token)} {
			w.expectCode("altered", w.Call("GET", "/api/v1/me", secret, ""), 401001)
		}
		w.expectCode("in the query", w.Call("GET", "/api/v1/me?access_token="+token, "", ""), 401003)
		for _, path := range []string{"/", "/tokens", "/account", "/applications", "/account/download"} {
			if a := w.Call("GET", path, token, ""); a.StatusCode != 303 && !strings.Contains(a.Text, `action="/signin`) {
				t.Errorf("GET %s with a token: %d", path, a.StatusCode)
			}
		}
		// Only its owner can revoke it.
		b := w.Browser()
		b.SignIn(ada)
		revoke := regexp.MustCompile(`/tokens/\w+/revoke`).FindString(b.Get("/tokens").Text)
		other := w.Browser()
		other.SignIn(bob)
		if p := other.Post(revoke, nil); p.StatusCode != 404 {
			t.Errorf("Bob revokes Ada's token: %d", p.StatusCode)
		}
		w.expectStatus("after Bob's attempt", w.Call("GET", "/api/v1/me", token, ""), 200)
		if p := b.PostFrom(t, "https://evil.example", revoke, nil); p.StatusCode != 403 {
			t.Errorf("revoke from another site: %d", p.StatusCode)
		}
		if p := b.Post(revoke, nil); p.StatusCode != 303 {
			t.Errorf("revoke: %d", p.StatusCode)
		}
		w.expectCode("revoked", w.Call("GET", "/api/v1/me", token, ""), 401001)
	})
}

// TestPersonalTokenCreation covers what the page refuses.
func TestPersonalTokenCreation(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		b := w.Browser()
		b.SignIn(ada)
		valid := func() url.Values {
			return url.Values{"name": {"Script"}, "scope": {"forms:read"}, "days": {"7"}, "current": {clitest.Password}}
		}
		for field, value := range map[string]string{"current": "wrong", "name": " \u200b", "scope": "everything"} {
			fields := valid()
			fields.Set(field, value)
			if p := b.Post("/tokens", fields); p.StatusCode != 422 || strings.Contains(p.Text, "fmp_") || !strings.Contains(p.Text, `aria-invalid="true"`) && field != "scope" {
				t.Errorf("%s %q: %d", field, value, p.StatusCode)
			}
		}
		// A period that the page does not offer becomes the default.
		fields := valid()
		fields.Set("days", "100000")
		made := b.Post("/tokens", fields)
		token := regexp.MustCompile(`fmp_[\w-]+`).FindString(made.Text)
		var me struct {
			PersonalToken struct {
				ExpiresAt time.Time `json:"expires_at"`
			} `json:"personal_token"`
		}
		if err := json.Unmarshal([]byte(w.Call("GET", "/api/v1/me", token, "").Text), &me); err != nil {
			t.Fatal(err)
		}
		if left := time.Until(me.PersonalToken.ExpiresAt); left < 89*24*time.Hour || left > 91*24*time.Hour {
			t.Errorf("expires in %s", left)
		}
		if made.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("the page with the token: %q", made.Header.Get("Cache-Control"))
		}
		if p := b.Get("/tokens"); strings.Contains(p.Text, "fmp_") || !strings.Contains(p.Text, "Script") || strings.Contains(p.Text, "never used") {
			t.Error("the list shows a secret, or not that the token was used")
		}
	})
}

// TestPersonalTokensEnd covers the ways in which a personal token ends, and what becomes of its
// webhooks.
func TestPersonalTokensEnd(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, storage storetest.Storage) {
		w := newFixture(t, storage)
		form := w.create(w.ada, "Order")
		path := "/api/v1/forms/" + form + "/webhooks"
		b := w.Browser()
		b.SignIn(ada)
		hook := func(token string) string {
			a := w.Call("POST", path, token, `{"url": "https://hooks.example.com/x"}`)
			w.expectStatus("create a webhook", a, 201)
			return path + "/" + a.String("id")
		}
		status := func(hook string) string { return w.Call("GET", hook, w.ada, "").String("status") }

		kept := w.PersonalToken(ada, "Kept", allScopes()...)
		first := hook(kept)
		change := url.Values{"current": {clitest.Password}, "password": {clitest.Password + " 2"}}
		if p := b.Post("/account/password", change); p.StatusCode != 303 {
			t.Fatalf("change the password: %d", p.StatusCode)
		}
		w.expectStatus("after a change that keeps apps", w.Call("GET", "/api/v1/me", kept, ""), 200)
		change = url.Values{"current": {clitest.Password + " 2"}, "password": {clitest.Password}, "disconnect": {"1"}}
		if p := b.Post("/account/password", change); p.StatusCode != 303 {
			t.Fatalf("change the password: %d", p.StatusCode)
		}
		w.expectCode("after a change that disconnects apps", w.Call("GET", "/api/v1/me", kept, ""), 401001)
		w.ada = w.Token(ada, w.app, strings.Join(allScopes("audit:read"), ",")).Access
		if got := status(first); got != "paused" {
			t.Errorf("webhook of a revoked token: %s", got)
		}
		// Another token takes it over, and it ends with that one.
		second := w.PersonalToken(ada, "Second", allScopes()...)
		w.expectStatus("activate", w.Call("PATCH", first, second, `{"active": true}`), 200)
		// The token expires.
		s := storetest.Open(t, storage)
		list, err := s.PersonalTokens(context.Background(), w.Call("GET", "/api/v1/me", w.ada, "").String("id"))
		if err != nil || len(list) != 1 {
			t.Fatalf("tokens %v (%v)", list, err)
		}
		if err := s.Cleanup(context.Background(), time.Now(), 90*24*time.Hour); err != nil || status(first) != "active" {
			t.Errorf("before the token expires: %s (%v)", status(first), err)
		}
		if err := s.Cleanup(context.Background(), list[0].ExpiresAt.Add(time.Second), 365*24*time.Hour); err != nil {
			t.Fatal(err)
		}
		w.ada = w.Token(ada, w.app, strings.Join(allScopes("audit:read"), ",")).Access // the other one has expired too
		if got := status(first); got != "paused" {
			t.Errorf("after the token has expired: %s", got)
		}

		last := w.PersonalToken(bob, "Last", "forms:read")
		w.Command("", "user", "disable", bob)
		w.eventually("user disabled", "/api/v1/me", last, 401001)
		w.Command("", "user", "enable", bob)
		w.eventually("user enabled", "/api/v1/me", last, 0)
		bobID := w.Call("GET", "/api/v1/me", last, "").String("id")
		w.Command("", "user", "delete", bob, "--yes")
		w.eventually("user deleted", "/api/v1/me", last, 401006)
		if rest, err := s.PersonalTokens(context.Background(), bobID); err != nil || len(rest) != 1 || rest[0].Name != "" {
			t.Errorf("of the deleted user remains %v (%v)", rest, err)
		}
	})
}

// TestPersonalTokenLimits creates more tokens than an account can have.
func TestPersonalTokenLimits(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		ctx := context.Background()
		s := storetest.Open(t, w.Storage)
		owner, now := w.Call("GET", "/api/v1/me", w.ada, "").String("id"), time.Now()
		token := store.PersonalToken{Name: "x", Scopes: account.Scopes{account.FormsRead}, CreatedAt: now, ExpiresAt: now.Add(time.Hour)}
		for range store.MaxPersonalTokens {
			if err := s.AddPersonalToken(ctx, account.NewSecret(account.PersonalToken, owner, now), token, nil); err != nil {
				t.Fatal(err)
			}
		}
		b := w.Browser()
		b.SignIn(ada)
		p := b.Post("/tokens", url.Values{"name": {"More"}, "scope": {"forms:read"}, "current": {clitest.Password}})
		if p.StatusCode != 422 || !strings.Contains(p.Text, "You already have 50 personal tokens") {
			t.Errorf("one more: %d", p.StatusCode)
		}
		expired := account.NewSecret(account.PersonalToken, w.Call("GET", "/api/v1/me", w.bob, "").String("id"), now)
		token.ExpiresAt = now.Add(-time.Second)
		if err := s.AddPersonalToken(ctx, expired, token, nil); err != nil {
			t.Fatal(err)
		}
		a := w.Call("GET", "/api/v1/me", expired.Text, "")
		w.expectCode("expired", a, 401005)
		w.expectHeader("expired", a.Header, "WWW-Authenticate", "Bearer error=")
	})
}
