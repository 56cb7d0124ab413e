package store

import (
	"context"
	"time"

	"formulary/internal/account"
	"formulary/internal/db"
	"formulary/internal/fault"
)

// PersonalToken is a token that a user created for scripts. The secret is not stored.
type PersonalToken struct {
	ID        string
	Name      string
	Scopes    account.Scopes
	CreatedAt time.Time
	ExpiresAt time.Time
	UsedAt    time.Time // zero: never
}

// MaxPersonalTokens is the maximum number of personal tokens of an account, expired ones
// included.
const MaxPersonalTokens = 50

const (
	personalAccessSQL = `SELECT t.hash, t.name, t.scope, t.created_at, t.expires_at, t.used_at,
			COALESCE(a.id, ''), COALESCE(a.email, ''), COALESCE(a.name, ''), COALESCE(a.language, ''),
			COALESCE(a.created_at, 0), COALESCE(a.disabled_at, 0), COALESCE(a.email_verified_at, 0)
		FROM personal_token t LEFT JOIN account a ON a.id = t.account_id
		WHERE t.account_id = $1 AND t.id = $2`
	personalTokensSQL = `SELECT id, name, scope, created_at, expires_at, used_at FROM personal_token
		WHERE account_id = $1 ORDER BY id DESC`
	countPersonalTokensSQL = `SELECT COUNT(*) FROM personal_token WHERE account_id = $1`
	insertPersonalTokenSQL = `INSERT INTO personal_token (account_id, id, hash, name, scope, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`
	deletePersonalTokenSQL   = `DELETE FROM personal_token WHERE account_id = $1 AND id = $2`
	deletePersonalTokensSQL  = `DELETE FROM personal_token WHERE account_id = $1`
	markPersonalTokenUsedSQL = `UPDATE personal_token SET used_at = $3 WHERE account_id = $1 AND id = $2 AND used_at < $3`
	// Like access tokens, the tokens of a deleted user stay for a while, without their names:
	// clients learn that the user is deleted (401006).
	releasePersonalTokensSQL = `UPDATE personal_token SET name = '', expires_at = CASE WHEN expires_at < $2 THEN expires_at ELSE $2 END
		WHERE account_id = $1`
)

// AccessOfPersonalToken looks up a personal token with everything that decides whether it is
// valid. An unknown token is fault.NotFound. A cached value is used until its owner changes.
func (s *Store) AccessOfPersonalToken(ctx context.Context, key account.SecretRef) (_ AccessToken, err error) {
	defer wrap(&err, "look up personal token")
	b, generation, ok := s.accessTokens.Get(key.Account, key.Hash)
	if ok {
		return b, nil
	}
	b = AccessToken{GrantID: key.ID, AppLive: true, GrantLive: true}
	var hash, scope string
	var created, expires, used, joined, disabled, verified int64
	err = queryOne(s.query(forCaller(ctx, key.Account)), personalAccessSQL, []any{key.Account, key.ID},
		&hash, &b.PersonalName, &scope, &created, &expires, &used,
		&b.User.ID, &b.User.Email, &b.User.Name, &b.User.Language, &joined, &disabled, &verified)
	if err != nil {
		return b, err
	}
	if !account.EqualHash(hash, key.Hash) {
		return b, fault.NotFound
	}
	b.Scopes, _ = account.ParseScopes(scope)
	b.CreatedAt, b.ExpiresAt, b.ConsentUsed = fromMillis(created), fromMillis(expires), fromMillis(used)
	b.UserFound = b.User.ID != ""
	b.Access = account.OwnSpace(key.Account)
	b.User.CreatedAt, b.User.Disabled, b.User.EmailVerifiedAt = fromMillis(joined), disabled != 0, fromMillis(verified)
	if generation.known {
		// TokenGeneration adds the generation of the application, here of none.
		app, _ := s.db.Generation(appKey(""))
		b.Generation = Generation{generation.number + app, true}
		s.accessTokens.Put(key.Hash, generation, b, 1)
	}
	return b, nil
}

// PersonalTokens lists the personal tokens of an account, newest first.
func (s *Store) PersonalTokens(ctx context.Context, owner string) (_ []PersonalToken, err error) {
	defer wrap(&err, "list personal tokens")
	var list []PersonalToken
	err = s.db.Query(ctx, personalTokensSQL, func(r db.Row) error {
		var p PersonalToken
		var scope string
		var created, expires, used int64
		err := r.Scan(&p.ID, &p.Name, &scope, &created, &expires, &used)
		p.Scopes, _ = account.ParseScopes(scope)
		p.CreatedAt, p.ExpiresAt, p.UsedAt = fromMillis(created), fromMillis(expires), fromMillis(used)
		list = append(list, p)
		return err
	}, owner)
	return list, err
}

// AddPersonalToken stores a new personal token, and mails about it.
func (s *Store) AddPersonalToken(ctx context.Context, secret account.Secret, p PersonalToken, mails []Mail) (err error) {
	defer wrap(&err, "add personal token")
	err = s.write(ctx, secret.Account, func(t db.Tx) error {
		// With the account's row locked, two requests cannot both take the last place.
		if err := checkAffected(t.Exec(holdAccountSQL, secret.Account)); err != nil {
			return err
		}
		var n int64
		if err := queryOne(t.Query, countPersonalTokensSQL, []any{secret.Account}, &n); err != nil {
			return err
		}
		if n >= MaxPersonalTokens {
			return fault.New(fault.QuotaReached, "You already have %d personal tokens. Revoke one you no longer use.", MaxPersonalTokens)
		}
		if _, err := t.Exec(insertPersonalTokenSQL, secret.Account, secret.ID, secret.Hash, p.Name, p.Scopes.String(),
			toMillis(p.CreatedAt), toMillis(p.ExpiresAt)); err != nil {
			return err
		}
		if err := recordAudit(ctx, t, secret.Account, AuditEntry{Action: AuditTokenCreated, ObjectID: secret.ID, ObjectName: p.Name,
			Details: details{"scope": p.Scopes.String(), "expires_at": auditTime(p.ExpiresAt)}}); err != nil {
			return err
		}
		return addMails(t, secret.Account, mails...)
	})
	s.mailsAdded()
	return err
}

// RevokePersonalToken deletes a personal token and pauses the webhooks that it created.
func (s *Store) RevokePersonalToken(ctx context.Context, owner, tokenID string, now time.Time) (err error) {
	defer wrap(&err, "revoke personal token")
	if !account.ValidSelector(tokenID) {
		return fault.NotFound
	}
	return s.write(ctx, owner, func(t db.Tx) error {
		if err := checkAffected(revokeTokens(ctx, t, deletePersonalTokenSQL, owner, tokenID)); err != nil {
			return err
		}
		return endTokenWebhooks(t, owner, now)
	})
}

// revokePersonalTokens deletes all personal tokens of an account.
func revokePersonalTokens(ctx context.Context, t db.Tx, owner string, now time.Time) error {
	if _, err := revokeTokens(ctx, t, deletePersonalTokensSQL, owner); err != nil {
		return err
	}
	return endTokenWebhooks(t, owner, now)
}

// MarkPersonalTokenUsed stores that a personal token was used.
func (s *Store) MarkPersonalTokenUsed(ctx context.Context, token account.SecretRef, now time.Time) (err error) {
	defer wrap(&err, "mark personal token used")
	defer s.accessTokens.Delete(token.Hash)
	return s.db.Write(ctx, func(t db.Tx) error {
		_, err := t.Exec(markPersonalTokenUsedSQL, token.Account, token.ID, toMillis(now))
		return err
	})
}
