package store

import (
	"context"
	"errors"
	"time"

	"formulary/internal/account"
	"formulary/internal/db"
	"formulary/internal/fault"
)

// AccessToken is an access token with its grant, application and user.
type AccessToken struct {
	Scopes      account.Scopes
	CreatedAt   time.Time
	ExpiresAt   time.Time
	GrantID     string
	ConsentUsed time.Time
	App         struct{ ID, Name, Owner string } // empty for a personal token
	User        account.User
	Access      account.Access // of the user, within the limits of the grant
	GrantEnds   time.Time      // zero: when it is revoked

	PersonalName string // the name of a personal token

	AppLive   bool // exists and is not disabled
	GrantLive bool // exists and is not revoked
	UserFound bool

	Generation Generation // for caches of derived values

	appKey        string // invalidation key of the application
	appGeneration uint64 // generation of the application when this was read
}

// HasEnded reports whether the grant was for a time that is over.
func (b *AccessToken) HasEnded(now time.Time) bool {
	return !b.GrantEnds.IsZero() && !now.Before(b.GrantEnds)
}

const accessTokenSQL = `SELECT t.hash, t.scope, t.created_at, t.expires_at, t.consent_id, t.app_id,
		COALESCE(c.used_at, 0), COALESCE(c.ended_at, 1), COALESCE(c.space_id, ''), COALESCE(c.some_forms, FALSE), COALESCE(c.expires_at, 0), COALESCE(m.role, ''),
		COALESCE((SELECT string_agg(f.form_id, ',') FROM consent_form f WHERE f.account_id = t.account_id AND f.consent_id = t.consent_id), ''),
		COALESCE(app.name, ''), COALESCE(app.account_id, ''), COALESCE(app.disabled_at, -1),
		COALESCE(a.id, ''), COALESCE(a.email, ''), COALESCE(a.name, ''), COALESCE(a.language, ''),
		COALESCE(a.created_at, 0), COALESCE(a.disabled_at, 0), COALESCE(a.email_verified_at, 0)
	FROM access_token t
	LEFT JOIN consent c ON c.account_id = t.account_id AND c.id = t.consent_id
	LEFT JOIN membership m ON m.account_id = t.account_id AND m.space_id = c.space_id
	LEFT JOIN app ON app.id = t.app_id
	LEFT JOIN account a ON a.id = t.account_id
	WHERE t.account_id = $1 AND t.id = $2`

// maxAccessTokens limits the cache of access tokens.
const maxAccessTokens = 20_000

// AccessToken looks up an access token with everything that decides whether it is
// valid. An unknown token is fault.NotFound. A cached value is used until its owner or
// its application changes.
func (s *Store) AccessToken(ctx context.Context, key account.SecretRef) (_ AccessToken, err error) {
	defer wrap(&err, "look up access token")
	b, generation, ok := s.accessTokens.Get(key.Account, key.Hash)
	if ok {
		if app, known := s.db.Generation(b.appKey); known && app == b.appGeneration {
			return b, nil
		}
	}
	// Only the row names the application, so the application's generation is read after
	// it. A change in between has changed anyApp's generation first: such a value is used
	// once and not cached.
	before, _ := s.db.Generation(anyApp)
	b, err = s.readAccessToken(forCaller(ctx, key.Account), key)
	if err != nil {
		return b, err
	}
	b.appKey = appKey(b.App.ID)
	app, known := s.db.Generation(b.appKey)
	if after, _ := s.db.Generation(anyApp); known && generation.known && before == after {
		b.appGeneration = app
		// Generations only grow, so the sum shows a change of either.
		b.Generation = Generation{generation.number + app, true}
		s.accessTokens.Put(key.Hash, generation, b, 1+int64(len(b.Access.Forms)))
	}
	return b, nil
}

// readAccessToken runs one statement, because every request waits for it.
func (s *Store) readAccessToken(ctx context.Context, key account.SecretRef) (AccessToken, error) {
	var b AccessToken
	var hash, scope string
	var created, expires, used, ended, appDisabled, joined, disabled, verified int64
	var limits grantLimits
	err := queryOne(s.query(ctx), accessTokenSQL, []any{key.Account, key.ID}, &hash, &scope, &created, &expires, &b.GrantID, &b.App.ID,
		&used, &ended, &limits.space, &limits.someForms, &limits.ends, &limits.role, &limits.forms, &b.App.Name, &b.App.Owner, &appDisabled,
		&b.User.ID, &b.User.Email, &b.User.Name, &b.User.Language, &joined, &disabled, &verified)
	if err != nil {
		return b, err
	}
	if !account.EqualHash(hash, key.Hash) {
		return b, fault.NotFound
	}
	b.Scopes, _ = account.ParseScopes(scope)
	b.CreatedAt, b.ExpiresAt, b.ConsentUsed = fromMillis(created), fromMillis(expires), fromMillis(used)
	b.GrantLive, b.AppLive, b.UserFound = ended <= 0, appDisabled == 0, b.User.ID != ""
	b.GrantEnds = fromMillis(limits.ends)
	if b.Access, err = limits.access(s.query(ctx), key.Account); isMissing(err) {
		b.GrantLive, err = false, nil
	}
	b.User.CreatedAt, b.User.Disabled, b.User.EmailVerifiedAt = fromMillis(joined), disabled != 0, fromMillis(verified)
	return b, err
}

// TokenGrant is the result of an exchange or a refresh.
type TokenGrant struct {
	Email  string
	Scopes account.Scopes
}

// CodeExchange is a code with everything that must match the request it was issued for,
// and the tokens to issue.
type CodeExchange struct {
	Code        account.SecretRef
	AppID       string
	RedirectURI string
	Challenge   string // of the presented verifier; empty: none

	Access, Refresh account.Secret
	ExpiresAt       time.Time // of the access token
}

const (
	useCodeSQL = `UPDATE code SET used_at = $7
		WHERE account_id = $1 AND id = $2 AND hash = $3 AND app_id = $4 AND redirect_uri = $5 AND challenge = $6
		AND used_at = 0 AND expires_at > $7 RETURNING consent_id`
	usedCodeSQL = `SELECT consent_id FROM code
		WHERE account_id = $1 AND id = $2 AND hash = $3 AND app_id = $4 AND redirect_uri = $5 AND challenge = $6 AND used_at > 0`
	issueFirstSQL = `UPDATE consent SET redeemed_at = $3, used_at = $3, issued = issued + 1
		WHERE account_id = $1 AND id = $2 AND ended_at <= 0 AND (expires_at = 0 OR expires_at > $3) RETURNING scope, issued`
	grantEmailSQL   = `SELECT email FROM account WHERE id = $1 AND disabled_at = 0`
	insertAccessSQL = `INSERT INTO access_token (account_id, id, hash, consent_id, app_id, scope, created_at, expires_at, slot)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (consent_id, slot, account_id) WHERE slot > 0 DO UPDATE
		SET id = excluded.id, hash = excluded.hash, scope = excluded.scope, created_at = excluded.created_at, expires_at = excluded.expires_at`
	insertRefreshSQL = `INSERT INTO refresh_token (account_id, id, hash, consent_id, app_id, created_at, used_at)
		VALUES ($1, $2, $3, $4, $5, $6, $6)`
)

var (
	errCode    = fault.New(fault.InvalidGrant, "The authorization code is invalid, expired, already used, or was issued for another application, redirect_uri or code_challenge.")
	errRefresh = fault.New(fault.InvalidGrant, "The refresh token is invalid, expired, revoked, or was issued to another application.")
)

// ExchangeCode exchanges a code for tokens. The first statement decides the race: only one
// caller can see the code unused. A second use ends the grant if it has the redirect_uri
// and the verifier of the first. The code alone ends nothing, because logs and browser
// histories may show it.
func (s *Store) ExchangeCode(ctx context.Context, r CodeExchange, now time.Time) (_ TokenGrant, err error) {
	defer wrap(&err, "exchange authorization code")
	var grant TokenGrant
	var replayed bool
	err = s.db.Write(forCaller(ctx, r.Code.Account), func(t db.Tx) error {
		grant, replayed = TokenGrant{}, false
		var grantID, scope string
		owner := r.Code.Account
		err := queryOne(t.Query, useCodeSQL, []any{owner, r.Code.ID, r.Code.Hash, r.AppID, r.RedirectURI, r.Challenge, toMillis(now)}, &grantID)
		if errors.Is(err, fault.NotFound) {
			if err := queryOne(t.Query, usedCodeSQL, []any{owner, r.Code.ID, r.Code.Hash, r.AppID, r.RedirectURI, r.Challenge}, &grantID); err != nil {
				return replaceNotFound(err, errCode)
			}
			replayed = true
			return endGrant(ctx, t, owner, grantID, now)
		}
		if err != nil {
			return err
		}
		var issued int64
		if err := queryOne(t.Query, issueFirstSQL, []any{owner, grantID, toMillis(now)}, &scope, &issued); err != nil {
			return replaceNotFound(err, errCode)
		}
		grant.Scopes, _ = account.ParseScopes(scope)
		if err := queryOne(t.Query, grantEmailSQL, []any{owner}, &grant.Email); err != nil {
			return replaceNotFound(err, errCode)
		}
		if _, err := insertAccess(t, issuedToken{r.Access, grantID, r.AppID, issued, grant.Scopes, r.ExpiresAt}, now); err != nil {
			return err
		}
		return insertRefresh(t, r.Refresh, grantID, r.AppID, now)
	})
	if replayed || isUncertain(err) {
		s.db.Invalidate(r.Code.Account)
	}
	if err == nil && replayed {
		s.pauseElsewhere(ctx, r.Code.Account, now)
		err = errCode
	}
	return grant, err
}

// isUncertain reports whether a failed transaction may have been committed.
func isUncertain(err error) bool { return err != nil && fault.Wrap(err).Code.Status() >= 500 }

func replaceNotFound(err error, as error) error {
	if errors.Is(err, fault.NotFound) {
		return as
	}
	return err
}

// MaxTokens is the maximum number of valid access tokens of a grant. Issuing another
// revokes the oldest.
const MaxTokens = 100

// issuedToken is a new access token.
type issuedToken struct {
	secret    account.Secret
	consentID string
	appID     string
	number    int64 // sequence number within its grant, from 1
	scopes    account.Scopes
	expiresAt time.Time
}

// insertAccess stores an access token. Tokens of a grant take slots in turn: the token
// in the slot is the oldest and is replaced. The caller has locked the grant's row by
// counting, so no two tokens get the same slot.
func insertAccess(t db.Tx, a issuedToken, now time.Time) (replaced bool, err error) {
	slot := 1 + a.number%MaxTokens
	_, err = t.Exec(insertAccessSQL, a.secret.Account, a.secret.ID, a.secret.Hash, a.consentID, a.appID, a.scopes.String(), toMillis(now), toMillis(a.expiresAt), slot)
	return a.number >= MaxTokens, err // the first ones find their slots empty
}

func insertRefresh(t db.Tx, secret account.Secret, grantID, app string, now time.Time) error {
	_, err := t.Exec(insertRefreshSQL, secret.Account, secret.ID, secret.Hash, grantID, app, toMillis(now))
	return err
}

const (
	refreshSQL = `SELECT r.consent_id, r.rotated_at, r.used_at, c.scope, a.email FROM refresh_token r
		JOIN consent c ON c.account_id = r.account_id AND c.id = r.consent_id
		JOIN account a ON a.id = r.account_id
		WHERE r.account_id = $1 AND r.id = $2 AND r.hash = $3 AND r.app_id = $4
		AND r.used_at > $5 AND c.ended_at <= 0 AND a.disabled_at = 0`
	touchRefreshSQL = `UPDATE refresh_token SET used_at = $3 WHERE account_id = $1 AND id = $2`
	// Counting locks the row: concurrent refreshes of one grant take turns.
	countIssuedSQL = `UPDATE consent SET issued = issued + 1, used_at = CASE WHEN used_at < $3 THEN $3 ELSE used_at END
		WHERE account_id = $1 AND id = $2 AND ended_at <= 0 AND (expires_at = 0 OR expires_at > $3) RETURNING issued`
	rotateRefreshSQL = `UPDATE refresh_token SET used_at = $3, rotated_at = $3 WHERE account_id = $1 AND id = $2 AND rotated_at = 0`
)

// RefreshRequest is a request for a new access token.
type RefreshRequest struct {
	Token     account.SecretRef // the refresh token
	AppID     string
	Access    account.Secret
	ExpiresAt time.Time       // of the access token
	Next      *account.Secret // replaces the refresh token; nil: it stays
	// Scopes chooses the scopes of the access token from those of the grant.
	Scopes    func(granted account.Scopes) (account.Scopes, error)
	UsedSince time.Time     // a refresh token unused since then has expired
	UsedStep  time.Duration // precision of the stored time of use
}

// Refresh issues a new access token. Using a refresh token that was replaced ends the
// grant and all of its tokens.
func (s *Store) Refresh(ctx context.Context, r RefreshRequest, now time.Time) (_ TokenGrant, err error) {
	defer wrap(&err, "refresh access token")
	key := r.Token
	var grant TokenGrant
	var reused, removed bool
	err = s.db.Write(forCaller(ctx, key.Account), func(t db.Tx) error {
		grant, reused, removed = TokenGrant{}, false, false
		var grantID, scope string
		var rotated, used int64
		err := queryOne(t.Query, refreshSQL, []any{key.Account, key.ID, key.Hash, r.AppID, toMillis(r.UsedSince)},
			&grantID, &rotated, &used, &scope, &grant.Email)
		if err != nil {
			return replaceNotFound(err, errRefresh)
		}
		end := func() error {
			reused = true
			return endGrant(ctx, t, key.Account, grantID, now)
		}
		if rotated != 0 {
			return end()
		}
		granted, _ := account.ParseScopes(scope)
		if grant.Scopes, err = r.Scopes(granted); err != nil {
			return err
		}
		stale := now.Sub(fromMillis(used)) >= r.UsedStep
		if r.Next == nil && stale {
			_, err = t.Exec(touchRefreshSQL, key.Account, key.ID, toMillis(now))
		} else if r.Next != nil {
			var n int64
			// Another request may have rotated it since it was read.
			if n, err = t.Exec(rotateRefreshSQL, key.Account, key.ID, toMillis(now)); err == nil && n == 0 {
				return end()
			}
			if err == nil {
				err = insertRefresh(t, *r.Next, grantID, r.AppID, now)
			}
		}
		if err != nil {
			return err
		}
		var issued int64
		if err := queryOne(t.Query, countIssuedSQL, []any{key.Account, grantID, toMillis(now)}, &issued); err != nil {
			return replaceNotFound(err, errRefresh)
		}
		removed, err = insertAccess(t, issuedToken{r.Access, grantID, r.AppID, issued, grant.Scopes, r.ExpiresAt}, now)
		return err
	})
	if reused || removed || isUncertain(err) {
		s.db.Invalidate(key.Account)
	}
	if err == nil && reused {
		s.pauseElsewhere(ctx, key.Account, now)
		err = errRefresh
	}
	return grant, err
}

const (
	refreshInfoSQL = `SELECT r.consent_id, r.created_at, r.used_at, c.scope, a.id, a.email FROM refresh_token r
		JOIN consent c ON c.account_id = r.account_id AND c.id = r.consent_id
		JOIN account a ON a.id = r.account_id
		WHERE r.account_id = $1 AND r.id = $2 AND r.hash = $3 AND r.app_id = $4
		AND r.used_at > $5 AND r.rotated_at = 0 AND c.ended_at <= 0 AND (c.expires_at = 0 OR c.expires_at > $6) AND a.disabled_at = 0`
	deleteAccessSQL = `DELETE FROM access_token WHERE account_id = $1 AND id = $2 AND hash = $3 AND app_id = $4`
	refreshGrantSQL = `SELECT consent_id FROM refresh_token WHERE account_id = $1 AND id = $2 AND hash = $3 AND app_id = $4`
)

// RefreshInfo describes a refresh token for introspection.
type RefreshInfo struct {
	Scopes    account.Scopes
	User      account.User
	CreatedAt time.Time
	UsedAt    time.Time
}

// RefreshGrant returns the grant ID of a refresh token of the application, valid or
// not.
func (s *Store) RefreshGrant(ctx context.Context, key account.SecretRef, appID string) (_ string, err error) {
	defer wrap(&err, "look up refresh token")
	var grantID string
	err = queryOne(s.query(ctx), refreshGrantSQL, []any{key.Account, key.ID, key.Hash, appID}, &grantID)
	return grantID, err
}

// RefreshInfo looks up a refresh token of the application. A token that is no longer
// valid is fault.NotFound.
func (s *Store) RefreshInfo(ctx context.Context, key account.SecretRef, appID string, usedSince, now time.Time) (_ RefreshInfo, err error) {
	defer wrap(&err, "introspect refresh token")
	var info RefreshInfo
	var grantID, scope string
	var created, used int64
	err = queryOne(s.query(ctx), refreshInfoSQL, []any{key.Account, key.ID, key.Hash, appID, toMillis(usedSince), toMillis(now)},
		&grantID, &created, &used, &scope, &info.User.ID, &info.User.Email)
	info.Scopes, _ = account.ParseScopes(scope)
	info.CreatedAt, info.UsedAt = fromMillis(created), fromMillis(used)
	return info, err
}

// RevokeAccess revokes an access token of the application. An unknown token is not an
// error.
func (s *Store) RevokeAccess(ctx context.Context, key account.SecretRef, appID string) (err error) {
	defer wrap(&err, "revoke access token")
	return s.write(ctx, key.Account, func(t db.Tx) error {
		_, err := t.Exec(deleteAccessSQL, key.Account, key.ID, key.Hash, appID)
		return err
	})
}

// RevokeRefresh revokes a refresh token of the application and its whole grant.
func (s *Store) RevokeRefresh(ctx context.Context, key account.SecretRef, appID string, now time.Time) (err error) {
	defer wrap(&err, "revoke refresh token")
	err = s.write(ctx, key.Account, func(t db.Tx) error {
		var grantID string
		if err := queryOne(t.Query, refreshGrantSQL, []any{key.Account, key.ID, key.Hash, appID}, &grantID); err != nil {
			return replaceNotFound(err, nil)
		}
		return endGrant(ctx, t, key.Account, grantID, now)
	})
	if err == nil {
		s.pauseElsewhere(ctx, key.Account, now)
	}
	return err
}
