package oauth

import (
	"context"
	"errors"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/limit"
	"formulary/internal/store"
)

// Token is the answer of an exchange or a refresh.
type Token struct {
	Access    string
	Refresh   string
	ExpiresIn int64 // seconds
	Scopes    account.Scopes
	User      string // the e-mail address of the account
}

var errClient = fault.New(fault.InvalidClient, "The client_id or the client_secret is not right.")

// decoyHash is compared with for applications that do not exist, so that they
// take as long as those that do.
var decoyHash = account.Hash("")

var errDisabled = fault.New(fault.InvalidGrant, "The application has been switched off.")

// AuthenticateClient finds the application behind a client_id and its secret. A
// public application has none, and must not send one. One that is switched off
// is still who it is; it only gets nothing.
func (s *Service) AuthenticateClient(ctx context.Context, id, secret string) (account.Application, error) {
	app, hashes, err := s.store.AppCredentials(ctx, id)
	if err != nil && !errors.Is(err, fault.NotFound) {
		return app, err
	}
	if err == nil && app.Public && secret == "" {
		return app, nil
	}
	if len(hashes) == 0 {
		hashes = []string{decoyHash}
	}
	presented, right := account.Hash(secret), false
	for _, hash := range hashes {
		if account.EqualHash(hash, presented) {
			right = true
		}
	}
	if err != nil || !right || secret == "" || app.Public {
		return account.Application{}, errClient
	}
	return app, nil
}

// Exchange turns an authorization code into tokens.
func (s *Service) Exchange(ctx context.Context, app account.Application, code, redirectURI, verifier string) (Token, error) {
	if app.Disabled {
		return Token{}, errDisabled
	}
	key, ok := account.ParseSecret(account.Code, code)
	if !ok {
		return Token{}, fault.New(fault.InvalidGrant, "This is not an authorization code of ours.")
	}
	r := store.CodeExchange{Code: key, AppID: app.ID, RedirectURI: redirectURI}
	if verifier != "" {
		if !account.ValidVerifier(verifier) {
			return Token{}, fault.New(fault.InvalidGrant, "code_verifier must be 43 to 128 letters, digits or -._~")
		}
		r.Challenge = account.Challenge(verifier)
	}
	// Such a value matches nothing that was registered, and not every database
	// would take it.
	if !account.IsSingleLine(redirectURI) {
		return Token{}, fault.New(fault.InvalidGrant, "redirect_uri is not the one of the authorization request.")
	}
	now := s.now()
	r.Access = account.NewSecret(account.AccessToken, key.Account, now)
	r.Refresh = account.NewSecret(account.RefreshToken, key.Account, now)
	r.ExpiresAt = now.Add(s.life.Access)
	grant, err := s.store.ExchangeCode(ctx, r, now)
	if err != nil {
		return Token{}, err
	}
	return s.token(r.Access.Text, r.Refresh.Text, grant), nil
}

func (s *Service) token(access, refresh string, grant store.TokenGrant) Token {
	return Token{
		Access: access, Refresh: refresh, ExpiresIn: int64(s.life.Access / time.Second),
		Scopes: grant.Scopes, User: grant.Email,
	}
}

// Refresh issues a new access token. The refresh token stays the same for an
// application with a secret: clients store it once. A public one gets a new
// refresh token each time. scope, if not empty, narrows the new access token.
func (s *Service) Refresh(ctx context.Context, app account.Application, refreshToken, scope string) (Token, error) {
	if app.Disabled {
		return Token{}, errDisabled
	}
	key, ok := account.ParseSecret(account.RefreshToken, refreshToken)
	if !ok {
		return Token{}, fault.New(fault.InvalidGrant, "This is not a refresh token of ours.")
	}
	if err := s.limitRefresh(ctx, key, app.ID); err != nil {
		return Token{}, err
	}
	asked, unknown := account.ParseScopes(scope)
	if unknown != "" {
		return Token{}, fault.New(fault.InvalidScope, "%s is not a scope.", printable(unknown))
	}
	choose := func(granted account.Scopes) (account.Scopes, error) {
		granted = granted.Intersect(app.Scopes)
		if len(granted) == 0 {
			return nil, fault.New(fault.UnauthorizedClient, "The application is no longer registered for any of the granted scopes.")
		}
		if len(asked) == 0 {
			return granted, nil
		}
		if beyond := asked.FirstNotIn(granted); beyond != "" {
			return nil, fault.New(fault.InvalidScope, "%s was not granted.", beyond)
		}
		return asked, nil
	}
	now := s.now()
	r := store.RefreshRequest{
		Token: key, AppID: app.ID, Access: account.NewSecret(account.AccessToken, key.Account, now), ExpiresAt: now.Add(s.life.Access),
		Scopes: choose, UsedSince: now.Add(-s.life.RefreshIdle), UsedStep: s.usedStep(),
	}
	answered := refreshToken
	if app.Public {
		secret := account.NewSecret(account.RefreshToken, key.Account, now)
		r.Next, answered = &secret, secret.Text
	}
	grant, err := s.store.Refresh(ctx, r, now)
	if err != nil {
		return Token{}, err
	}
	return s.token(r.Access.Text, answered, grant), nil
}

// limitRefresh counts a refresh against its grant. It reads which one that is outside
// the writing transaction, so that a flood of refused requests holds up no writer. An
// unknown token counts for nobody, and is refused soon.
func (s *Service) limitRefresh(ctx context.Context, key account.SecretRef, appID string) error {
	if s.refresh == nil {
		return nil
	}
	grant, err := s.store.RefreshGrant(ctx, key, appID)
	if err != nil {
		return firstNonEmpty(err, nil)
	}
	if _, wait, ok := s.refresh.Allow(grant); !ok {
		return fault.TooManyRequests(limit.RetryAfterSeconds(wait))
	}
	return nil
}

// Revoke ends a token of the application (RFC 7009). A refresh token takes its
// access tokens along. What is not the application's own is left alone, and
// that is no error.
func (s *Service) Revoke(ctx context.Context, app account.Application, token string) error {
	if key, ok := account.ParseSecret(account.AccessToken, token); ok {
		return s.store.RevokeAccess(ctx, key, app.ID)
	}
	if key, ok := account.ParseSecret(account.RefreshToken, token); ok {
		return s.store.RevokeRefresh(ctx, key, app.ID, s.now())
	}
	return nil
}

// TokenInfo is what introspection tells (RFC 7662); nil means not active.
type TokenInfo struct {
	Scopes    account.Scopes
	Email     string
	UserID    string
	Kind      string
	CreatedAt time.Time
	ExpiresAt time.Time

	Hash string           // of an access token, and
	Mark store.Generation // when this was true of it, for what is made of it
}

// Introspect tells an application about a token of its own.
func (s *Service) Introspect(ctx context.Context, app account.Application, token string) (*TokenInfo, error) {
	now := s.now()
	if app.Disabled {
		return nil, nil
	}
	if key, ok := account.ParseSecret(account.AccessToken, token); ok {
		b, err := s.store.AccessToken(ctx, key)
		if err != nil {
			return nil, firstNonEmpty(err, nil)
		}
		if b.App.ID != app.ID || !b.AppLive || !b.ConsentLive || !b.PersonFound || b.Person.Disabled || !now.Before(b.ExpiresAt) {
			return nil, nil
		}
		return &TokenInfo{b.Scopes, b.Person.Email, b.Person.ID, "Bearer", b.CreatedAt, b.ExpiresAt, key.Hash, b.Mark}, nil
	}
	if key, ok := account.ParseSecret(account.RefreshToken, token); ok {
		info, err := s.store.RefreshInfo(ctx, key, app.ID, now.Add(-s.life.RefreshIdle))
		if err != nil {
			return nil, firstNonEmpty(err, nil)
		}
		return &TokenInfo{
			Scopes: info.Scopes, Email: info.Person.Email, UserID: info.Person.ID, Kind: "refresh_token",
			CreatedAt: info.CreatedAt, ExpiresAt: info.UsedAt.Add(s.life.RefreshIdle),
		}, nil
	}
	return nil, nil
}

// firstNonEmpty replaces "not found" and passes every other error on.
func firstNonEmpty(err, replacement error) error {
	if errors.Is(err, fault.NotFound) {
		return replacement
	}
	return err
}

// ConnectedApps lists the applications that can act for a person now.
func (s *Service) ConnectedApps(ctx context.Context, owner string) ([]store.ConnectedApp, error) {
	now := s.now()
	return s.store.ConnectedApps(ctx, owner, now.Add(-s.life.RefreshIdle), now.Add(-s.life.Code))
}

// Disconnect ends all that an application holds of a person.
func (s *Service) Disconnect(ctx context.Context, owner, appID string) error {
	return s.store.Disconnect(ctx, owner, appID, s.now())
}
