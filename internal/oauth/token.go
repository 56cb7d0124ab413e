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

// Token is the result of Exchange and Refresh.
type Token struct {
	Access    string
	Refresh   string
	ExpiresIn int64 // seconds
	Scopes    account.Scopes
	User      string // email address of the account
}

var errClient = fault.New(fault.InvalidClient, "The client_id or client_secret is incorrect.")

// decoyHash is compared if the application does not exist, so that the response time does
// not reveal whether it does.
var decoyHash = account.Hash("")

var errDisabled = fault.New(fault.InvalidGrant, "The application is disabled.")

// AuthenticateClient returns the application with the given client_id and secret. Public
// applications have no secret and must not send one. Disabled applications are
// authenticated too, but Exchange, Refresh and Introspect give them nothing.
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
	presentedHash, isCorrect := account.Hash(secret), false
	for _, hash := range hashes {
		if account.EqualHash(hash, presentedHash) {
			isCorrect = true
		}
	}
	if err != nil || !isCorrect || secret == "" || app.Public {
		return account.Application{}, errClient
	}
	return app, nil
}

// Exchange exchanges an authorization code for tokens.
func (s *Service) Exchange(ctx context.Context, app account.Application, code, redirectURI, verifier string) (Token, error) {
	if app.Disabled {
		return Token{}, errDisabled
	}
	key, ok := account.ParseSecret(account.Code, code)
	if !ok {
		return Token{}, fault.New(fault.InvalidGrant, "The authorization code is invalid.")
	}
	r := store.CodeExchange{Code: key, AppID: app.ID, RedirectURI: redirectURI}
	if verifier != "" {
		if !account.ValidVerifier(verifier) {
			return Token{}, fault.New(fault.InvalidGrant, "code_verifier must be 43 to 128 characters: letters, digits and -._~")
		}
		r.Challenge = account.Challenge(verifier)
	}
	// Such a value cannot have been registered, and PostgreSQL does not accept NUL
	// characters.
	if !account.IsSingleLine(redirectURI) {
		return Token{}, fault.New(fault.InvalidGrant, "redirect_uri does not match the authorization request.")
	}
	now := s.now()
	r.Access = account.NewSecret(account.AccessToken, key.Account, now)
	r.Refresh = account.NewSecret(account.RefreshToken, key.Account, now)
	r.ExpiresAt = now.Add(s.lifetimes.Access)
	grant, err := s.store.ExchangeCode(ctx, r, now)
	if err != nil {
		return Token{}, err
	}
	return s.newToken(r.Access.Text, r.Refresh.Text, grant), nil
}

func (s *Service) newToken(access, refresh string, grant store.TokenGrant) Token {
	return Token{
		Access: access, Refresh: refresh, ExpiresIn: int64(s.lifetimes.Access / time.Second),
		Scopes: grant.Scopes, User: grant.Email,
	}
}

// Refresh issues a new access token. For an application with a secret the refresh token
// stays the same: clients store it once. A public application gets a new refresh token
// each time. If scope is not empty, the new access token is limited to it.
func (s *Service) Refresh(ctx context.Context, app account.Application, refreshToken, scope string) (Token, error) {
	if app.Disabled {
		return Token{}, errDisabled
	}
	key, ok := account.ParseSecret(account.RefreshToken, refreshToken)
	if !ok {
		return Token{}, fault.New(fault.InvalidGrant, "The refresh token is invalid.")
	}
	if err := s.limitRefresh(ctx, key, app.ID); err != nil {
		return Token{}, err
	}
	requested, unknown := account.ParseScopes(scope)
	if unknown != "" {
		return Token{}, fault.New(fault.InvalidScope, "Unknown scope: %s.", printable(unknown))
	}
	choose := func(granted account.Scopes) (account.Scopes, error) {
		granted = granted.Intersect(app.Scopes)
		if len(granted) == 0 {
			return nil, fault.New(fault.UnauthorizedClient, "The application is no longer registered for any of the granted scopes.")
		}
		if len(requested) == 0 {
			return granted, nil
		}
		if notAllowed := requested.FirstNotIn(granted); notAllowed != "" {
			return nil, fault.New(fault.InvalidScope, "The scope %s was not granted.", notAllowed)
		}
		return requested, nil
	}
	now := s.now()
	r := store.RefreshRequest{
		Token: key, AppID: app.ID, Access: account.NewSecret(account.AccessToken, key.Account, now), ExpiresAt: now.Add(s.lifetimes.Access),
		Scopes: choose, UsedSince: now.Add(-s.lifetimes.RefreshIdle), UsedStep: s.refreshUsedPrecision(),
	}
	returnedToken := refreshToken
	if app.Public {
		secret := account.NewSecret(account.RefreshToken, key.Account, now)
		r.Next, returnedToken = &secret, secret.Text
	}
	grant, err := s.store.Refresh(ctx, r, now)
	if err != nil {
		return Token{}, err
	}
	return s.newToken(r.Access.Text, returnedToken, grant), nil
}

// limitRefresh counts a refresh against the rate limit of its grant. It looks up the grant
// outside the write transaction, so that refused requests do not block writers. Unknown
// tokens are not counted; the caller rejects them.
func (s *Service) limitRefresh(ctx context.Context, key account.SecretRef, appID string) error {
	if s.refreshLimiter == nil {
		return nil
	}
	grant, err := s.store.RefreshGrant(ctx, key, appID)
	if err != nil {
		return replaceNotFound(err, nil)
	}
	if _, wait, ok := s.refreshLimiter.Allow(grant); !ok {
		return fault.TooManyRequests(limit.RetryAfterSeconds(wait))
	}
	return nil
}

// Revoke revokes a token of the application (RFC 7009). Revoking a refresh token revokes
// its access tokens too. Tokens of other applications and unknown tokens are ignored
// without an error.
func (s *Service) Revoke(ctx context.Context, app account.Application, token string) error {
	if key, ok := account.ParseSecret(account.AccessToken, token); ok {
		return s.store.RevokeAccess(ctx, key, app.ID)
	}
	if key, ok := account.ParseSecret(account.RefreshToken, token); ok {
		return s.store.RevokeRefresh(ctx, key, app.ID, s.now())
	}
	return nil
}

// TokenInfo is the result of introspection (RFC 7662).
type TokenInfo struct {
	Scopes    account.Scopes
	Email     string
	UserID    string
	Kind      string
	CreatedAt time.Time
	ExpiresAt time.Time

	// For caches; only set for access tokens.
	Hash       string           // hash of the token
	Generation store.Generation // cache generation in which the result is valid
}

// Introspect returns information about a token of the application, or nil if the token is
// not active or belongs to another application.
func (s *Service) Introspect(ctx context.Context, app account.Application, token string) (*TokenInfo, error) {
	now := s.now()
	if app.Disabled {
		return nil, nil
	}
	if key, ok := account.ParseSecret(account.AccessToken, token); ok {
		b, err := s.store.AccessToken(ctx, key)
		if err != nil {
			return nil, replaceNotFound(err, nil)
		}
		if b.App.ID != app.ID || !b.AppLive || !b.GrantLive || !b.UserFound || b.User.Disabled || !now.Before(b.ExpiresAt) || b.HasEnded(now) {
			return nil, nil
		}
		return &TokenInfo{b.Scopes, b.User.Email, b.User.ID, "Bearer", b.CreatedAt, b.ExpiresAt, key.Hash, b.Generation}, nil
	}
	if key, ok := account.ParseSecret(account.RefreshToken, token); ok {
		info, err := s.store.RefreshInfo(ctx, key, app.ID, now.Add(-s.lifetimes.RefreshIdle), now)
		if err != nil {
			return nil, replaceNotFound(err, nil)
		}
		return &TokenInfo{
			Scopes: info.Scopes, Email: info.User.Email, UserID: info.User.ID, Kind: "refresh_token",
			CreatedAt: info.CreatedAt, ExpiresAt: info.UsedAt.Add(s.lifetimes.RefreshIdle),
		}, nil
	}
	return nil, nil
}

// replaceNotFound returns the replacement for fault.NotFound, and other errors unchanged.
func replaceNotFound(err, replacement error) error {
	if errors.Is(err, fault.NotFound) {
		return replacement
	}
	return err
}

// liveGrants says which grants give access now.
func (s *Service) liveGrants() store.LiveGrants {
	now := s.now()
	return store.LiveGrants{UsedSince: now.Add(-s.lifetimes.RefreshIdle), GrantedSince: now.Add(-s.lifetimes.Code), Now: now}
}

// Grants lists the grants of the user, those of an application together.
func (s *Service) Grants(ctx context.Context, person string) ([]store.Grant, error) {
	return s.store.Grants(ctx, person, s.liveGrants())
}

// Grant returns one grant of the user.
func (s *Service) Grant(ctx context.Context, person, grantID string) (store.Grant, error) {
	return s.store.Grant(ctx, person, grantID, s.liveGrants())
}

// Disconnect revokes all grants, codes and tokens of the application for the account.
func (s *Service) Disconnect(ctx context.Context, owner, appID string) error {
	return s.store.Disconnect(ctx, owner, appID, s.now())
}

// EndGrant revokes one grant with its codes and tokens.
func (s *Service) EndGrant(ctx context.Context, person, grantID string) error {
	return s.store.EndGrant(ctx, person, grantID, s.now())
}
