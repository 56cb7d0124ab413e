package oauth

import (
	"context"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/limit"
	"formulary/internal/store"
)

// Lifetimes are the lifetimes of codes and tokens. Their values are flags of the serve
// command (cli/serve.go); a code is valid for 60 seconds by default.
type Lifetimes struct {
	Code        time.Duration
	Access      time.Duration
	RefreshIdle time.Duration // a refresh token expires after this time without use
}

// consentRequestTTL is how long a user can take to decide on the consent page.
const consentRequestTTL = 15 * time.Minute

// Service is the authorization server.
type Service struct {
	store          *store.Store
	issuer         string
	lifetimes      Lifetimes
	now            func() time.Time
	refreshLimiter *limit.Limiter[string]
}

// New returns the authorization server. issuer is the URL of the service. refreshLimiter
// limits how often the tokens of one grant are refreshed; nil: no limit.
func New(s *store.Store, issuer string, lifetimes Lifetimes, refreshLimiter *limit.Limiter[string], now func() time.Time) *Service {
	return &Service{s, issuer, lifetimes, now, refreshLimiter}
}

// Issuer returns the issuer identifier of the authorization server, a URL.
func (s *Service) Issuer() string { return s.issuer }

// Principal is the user and application of a valid access token.
type Principal struct {
	User       account.User // who acts; for access to data, use Owner
	Access     account.Access
	Scopes     account.Scopes
	App        struct{ ID, Name, Owner string } // empty for a personal token
	Token      string                           // ID of the token, not the secret
	Grant      string                           // ID of the grant. A personal token is its own
	Personal   string                           // name of the personal token; empty: an application's token
	ExpiresAt  time.Time
	GrantEnds  time.Time // zero: when it is revoked
	Generation store.Generation
}

// Owner returns the ID of the account whose data the token gives access to: the space that the
// user chose.
func (c *Principal) Owner() string { return c.Access.Space }

// IsCurrent reports whether neither the token nor its grant has reached its end.
func (c *Principal) IsCurrent(now time.Time) bool {
	return now.Before(c.ExpiresAt) && (c.GrantEnds.IsZero() || now.Before(c.GrantEnds))
}

// Client returns the ID of what sends the requests: the application, or the personal token.
// Idempotency keys are kept apart by it: the answer to a repeated request shows what the first one
// created, which others must not see.
func (c *Principal) Client() string {
	if c.App.ID == "" || c.Access.Forms != nil || c.Access.Space != c.User.ID {
		return c.Grant
	}
	return c.App.ID
}

// RateKey is whose requests share one rate limit: those of a grant, or of all personal tokens of
// a user.
func (c *Principal) RateKey() string {
	if c.Personal != "" {
		return c.User.ID
	}
	return c.Grant
}

// lastUsedPrecision is the precision of "last used" times. It bounds the writes that
// reads cause.
const lastUsedPrecision = time.Minute

// refreshUsedPrecision is lastUsedPrecision, but at most 1% of the idle lifetime of refresh
// tokens.
func (s *Service) refreshUsedPrecision() time.Duration {
	return min(lastUsedPrecision, s.lifetimes.RefreshIdle/100)
}

// Authenticate returns the principal of an access token or a personal token. Otherwise it returns one of the
// errors 401001 (invalid), 401005 (expired) and 401006 (user not found), in this order of
// precedence.
func (s *Service) Authenticate(ctx context.Context, token string) (Principal, error) {
	var c Principal
	lookUp, expired := s.store.AccessToken, errExpiredToken
	key, ok := account.ParseSecret(account.AccessToken, token)
	if !ok {
		lookUp, expired = s.store.AccessOfPersonalToken, errExpiredPersonalToken
		key, ok = account.ParseSecret(account.PersonalToken, token)
	}
	if !ok {
		return c, errInvalidToken
	}
	b, err := lookUp(ctx, key)
	if err != nil {
		return c, replaceNotFound(err, errInvalidToken)
	}
	now := s.now()
	// Deleting a user deletes their grants and applications too. So a missing grant means
	// that the token was revoked only if the user exists.
	if b.UserFound && (!b.GrantLive || !b.AppLive || b.User.Disabled || b.HasEnded(now)) {
		return c, errInvalidToken
	}
	if !now.Before(b.ExpiresAt) {
		return c, expired
	}
	if !b.UserFound {
		return c, errUserNotFound
	}
	if now.Sub(b.ConsentUsed) >= lastUsedPrecision {
		if err := s.markUsed(ctx, key, b, now); err != nil && fault.Wrap(err).Code != fault.DatabaseUnreachable {
			return c, err
		}
	}
	return Principal{User: b.User, Access: b.Access, Scopes: b.Scopes, App: b.App, Token: key.ID, Grant: b.GrantID, Personal: b.PersonalName, ExpiresAt: b.ExpiresAt, GrantEnds: b.GrantEnds, Generation: b.Generation}, nil
}

func (s *Service) markUsed(ctx context.Context, key account.SecretRef, b store.AccessToken, now time.Time) error {
	if b.PersonalName != "" {
		return s.store.MarkPersonalTokenUsed(ctx, key, now)
	}
	return s.store.MarkGrantUsed(ctx, key, b.GrantID, now)
}

var (
	errInvalidToken = &fault.Error{Code: fault.InvalidToken, Message: "Invalid access token",
		Challenge: `Bearer error="invalid_token", error_description="Invalid access token"`}
	errExpiredToken = &fault.Error{Code: fault.ExpiredToken, Message: "Access token is expired, please refresh",
		Challenge: `Bearer error="invalid_token", error_description="Access token is expired, please refresh"`}
	errExpiredPersonalToken = &fault.Error{Code: fault.ExpiredToken, Message: "The personal token has expired. Create a new one.",
		Challenge: `Bearer error="invalid_token", error_description="The personal token has expired"`}
	errUserNotFound = &fault.Error{Code: fault.UserNotFound, Message: "User not found",
		Challenge: `Bearer error="invalid_token", error_description="User not found"`}
)

// InvalidToken returns the error for a malformed access token.
func InvalidToken() error { return errInvalidToken }
