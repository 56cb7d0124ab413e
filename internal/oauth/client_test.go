package oauth_test

import (
	"context"
	"testing"
	"time"

	"golang.org/x/oauth2"
)

// An unmodified client library goes through the whole flow: it finds out by
// itself how to authenticate, joins scopes by spaces, and refreshes at the token
// address.
func TestStandardClient(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		config := &oauth2.Config{
			ClientID: w.app.ID, ClientSecret: w.app.Secret, RedirectURL: callback, Scopes: []string{"forms:read", "responses:read"},
			Endpoint: oauth2.Endpoint{AuthURL: w.URL + "/authorize", TokenURL: w.URL + "/api/oauth2/token"},
		}
		ctx := context.Background()
		b := w.signedIn(ada)
		verifier := oauth2.GenerateVerifier()
		at := config.AuthCodeURL("state-1", oauth2.S256ChallengeOption(verifier))
		p := b.Get(at[len(w.URL):])
		if p.StatusCode != 200 {
			t.Fatalf("authorization address: %d", p.StatusCode)
		}
		ask := p.Request.URL.Query()
		to := b.Allow(ask)
		if to.Query().Get("state") != "state-1" {
			t.Errorf("redirected to %s", to)
		}
		token, err := config.Exchange(ctx, to.Query().Get("code"), oauth2.VerifierOption(verifier))
		if err != nil {
			t.Fatal(err)
		}
		if token.Extra("user") != ada || token.Extra("scope") != "forms:read,responses:read" || token.Type() != "Bearer" {
			t.Errorf("token of %v for %v", token.Extra("user"), token.Extra("scope"))
		}
		res, err := config.Client(ctx, token).Get(w.URL + "/api/v1/forms")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != 200 {
			t.Errorf("list forms: %d", res.StatusCode)
		}
		// An expired token makes the library refresh before the next call.
		old := *token
		old.Expiry = time.Now().Add(-time.Minute)
		renewed, err := config.TokenSource(ctx, &old).Token()
		if err != nil {
			t.Fatal(err)
		}
		if renewed.AccessToken == token.AccessToken || renewed.RefreshToken != token.RefreshToken {
			t.Error("the refresh gave the same access token or another refresh token")
		}
		if got := w.alive(renewed.AccessToken); got != 0 {
			t.Errorf("the refreshed token: %d", got)
		}
		// Its errors can be read by the library.
		if _, err := config.Exchange(ctx, "nonsense"); err == nil {
			t.Error("a wrong code was exchanged")
		} else if e, ok := err.(*oauth2.RetrieveError); !ok || e.ErrorCode != "invalid_grant" {
			t.Errorf("error of the library: %v", err)
		}
	})
}
