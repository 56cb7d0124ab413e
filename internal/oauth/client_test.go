package oauth_test

import (
	"context"
	"testing"
	"time"

	"golang.org/x/oauth2"
)

// TestStandardClient runs the whole flow with golang.org/x/oauth2, unmodified. The library
// detects how to authenticate, joins scopes with spaces, and refreshes at the token
// endpoint.
func TestStandardClient(t *testing.T) {
	runOnEachStore(t, func(t *testing.T, f *fixture) {
		config := &oauth2.Config{
			ClientID: f.app.ID, ClientSecret: f.app.Secret, RedirectURL: callback, Scopes: []string{"forms:read", "responses:read"},
			Endpoint: oauth2.Endpoint{AuthURL: f.URL + "/authorize", TokenURL: f.URL + "/api/oauth2/token"},
		}
		ctx := context.Background()
		b := f.signIn(ada)
		verifier := oauth2.GenerateVerifier()
		authURL := config.AuthCodeURL("state-1", oauth2.S256ChallengeOption(verifier))
		p := b.Get(authURL[len(f.URL):])
		if p.StatusCode != 200 {
			t.Fatalf("authorization endpoint: %d", p.StatusCode)
		}
		query := p.Request.URL.Query()
		to := b.Allow(query)
		if to.Query().Get("state") != "state-1" {
			t.Errorf("redirected to %s", to)
		}
		token, err := config.Exchange(ctx, to.Query().Get("code"), oauth2.VerifierOption(verifier))
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{"user": ada, "scope": "forms:read,responses:read", "token_type": "Bearer"} {
			if got := token.Extra(name); got != want {
				t.Errorf("%s is %v, want %s", name, got, want)
			}
		}
		res, err := config.Client(ctx, token).Get(f.URL + "/api/v1/forms")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != 200 {
			t.Errorf("list forms: %d", res.StatusCode)
		}
		// The library refreshes an expired token before the next request.
		expired := *token
		expired.Expiry = time.Now().Add(-time.Minute)
		refreshed, err := config.TokenSource(ctx, &expired).Token()
		if err != nil {
			t.Fatal(err)
		}
		if refreshed.AccessToken == token.AccessToken || refreshed.RefreshToken != token.RefreshToken {
			t.Error("the refresh returned the same access token or another refresh token")
		}
		if got := f.tokenErrorCode(refreshed.AccessToken); got != 0 {
			t.Errorf("the refreshed token: %d", got)
		}
		// The library understands our errors.
		if _, err := config.Exchange(ctx, "nonsense"); err == nil {
			t.Error("a wrong code was exchanged")
		} else if e, ok := err.(*oauth2.RetrieveError); !ok || e.ErrorCode != "invalid_grant" {
			t.Errorf("got error %v, want invalid_grant", err)
		}
	})
}
