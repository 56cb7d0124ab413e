package oauth

import (
	"context"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/limit"
	"formulary/internal/store"
)

// Lifetimes of what the server hands out.
type Lifetimes struct {
	Code        time.Duration
	Access      time.Duration
	RefreshIdle time.Duration // a refresh token ends after so long without use
}

// consentRequestTTL is how long a person may look at the consent page.
const consentRequestTTL = 15 * time.Minute

// Service is the authorization server.
type Service struct {
	store   *store.Store
	issuer  string
	life    Lifetimes
	now     func() time.Time
	refresh *limit.Limiter[string]
}

// New makes the authorization server; issuer is the address of the service, and
// refreshes limits how often one grant gets new tokens (nil: no limit).
func New(s *store.Store, issuer string, life Lifetimes, refreshes *limit.Limiter[string], now func() time.Time) *Service {
	return &Service{s, issuer, life, now, refreshes}
}

// Issuer is the address by which the authorization server is known.
func (s *Service) Issuer() string { return s.issuer }

// Principal is who stands behind a valid access token.
type Principal struct {
	User   account.User // who acts; data goes by Owner
	Scopes account.Scopes
	App    struct{ ID, Name, Owner string }
	Token  string // names the token; not the token itself
	Grant  string // names what the user granted; all of its tokens share limits
	Mark   store.Generation
}

// Owner is the account whose data the token gives access to. For now it is always the
// user's own.
func (c *Principal) Owner() string { return c.User.ID }

// usedStep is how exactly "last used" is kept: a read must not cost a write.
const usedStep = time.Minute

// usedStep of a refresh token is also small beside its life without use.
func (s *Service) usedStep() time.Duration { return min(usedStep, s.life.RefreshIdle/100) }

// Authenticate says who is behind an access token, or why nobody is: 401001, 401005,
// 401006, in this order.
func (s *Service) Authenticate(ctx context.Context, token string) (Principal, error) {
	var c Principal
	key, ok := account.ParseSecret(account.AccessToken, token)
	if !ok {
		return c, errInvalidToken
	}
	b, err := s.store.AccessToken(ctx, key)
	if err != nil {
		return c, firstNonEmpty(err, errInvalidToken)
	}
	now := s.now()
	// A deleted account takes its consents and applications with it, so it is
	// told from a revoked token by the person alone.
	if b.PersonFound && (!b.ConsentLive || !b.AppLive || b.Person.Disabled) {
		return c, errInvalidToken
	}
	if !now.Before(b.ExpiresAt) {
		return c, errExpiredToken
	}
	if !b.PersonFound {
		return c, errUserNotFound
	}
	if now.Sub(b.ConsentUsed) >= usedStep {
		if err := s.store.MarkGrantUsed(ctx, key, b.ConsentID, now); err != nil && fault.Wrap(err).Code != fault.DatabaseUnreachable {
			return c, err
		}
	}
	return Principal{User: b.Person, Scopes: b.Scopes, App: b.App, Token: key.ID, Grant: b.ConsentID, Mark: b.Mark}, nil
}

var (
	errInvalidToken = &fault.Error{Code: fault.InvalidToken, Message: "Invalid access token",
		Challenge: `Bearer error="invalid_token", error_description="Invalid access token"`}
	errExpiredToken = &fault.Error{Code: fault.ExpiredToken, Message: "Access token is expired, please refresh",
		Challenge: `Bearer error="invalid_token", error_description="Access token is expired, please refresh"`}
	errUserNotFound = &fault.Error{Code: fault.UserNotFound, Message: "User not found",
		Challenge: `Bearer error="invalid_token", error_description="User not found"`}
)

// InvalidToken is the answer to a token that cannot be one.
func InvalidToken() error { return errInvalidToken }
