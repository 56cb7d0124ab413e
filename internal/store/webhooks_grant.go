package store

import (
	"context"
	"errors"
	"time"

	"formulary/internal/account"
	"formulary/internal/db"
	"formulary/internal/fault"
)

// A webhook that an application created ends with the access of the application, one that was
// created with a personal token ends with the token.

// forGrantSQL is a condition on a grant c: it has not ended, and allows the use of the form $4.
const forGrantSQL = `c.ended_at <= 0 AND (c.expires_at = 0 OR c.expires_at > $3)
	AND (NOT c.some_forms OR EXISTS (SELECT 1 FROM consent_form f WHERE f.account_id = $1 AND f.consent_id = $2 AND f.form_id = $4))`

const (
	pauseWebhooksSQL = `UPDATE webhook SET status = 'paused', updated_at = $2 WHERE account_id = $1 AND status = 'active'
		AND grant_id IN (SELECT c.id FROM consent c WHERE c.account_id = $1 AND (c.ended_at > 0 OR c.expires_at > 0 AND c.expires_at <= $2
		OR c.some_forms AND NOT EXISTS (SELECT 1 FROM consent_form f WHERE f.account_id = $1 AND f.consent_id = c.id AND f.form_id = webhook.form_id)))`
	// keepGrantSQL locks a grant, so that nobody ends it before the transaction does.
	keepGrantSQL = `UPDATE consent SET issued = issued WHERE account_id = $1 AND id = $2`
	allowedSQL   = `SELECT 1 FROM consent c WHERE c.account_id = $1 AND c.id = $2 AND ` + forGrantSQL
	// A disabled application has no access, though its grants have not ended.
	liveGrantSQL = `SELECT 1 FROM consent c JOIN app ON app.id = c.app_id
		WHERE c.account_id = $1 AND c.id = $2 AND app.disabled_at = 0 AND ` + forGrantSQL
	// Nothing can be done with a grant without a valid access token and a refresh token that
	// was used in time. A webhook may also have been created while its grant ended.
	// lapsedGrantsSQL reads all accounts; see webhookAccountsSQL.
	lapsedGrantsSQL = `SELECT DISTINCT c.account_id, c.id FROM webhook w JOIN consent c ON c.account_id = w.account_id AND c.id = w.grant_id
		WHERE w.status = 'active' AND (c.ended_at > 0 OR c.used_at < $1
		AND NOT EXISTS (SELECT 1 FROM access_token a WHERE a.account_id = c.account_id AND a.consent_id = c.id AND a.expires_at > $2)) LIMIT $3`
	endLapsedSQL = `UPDATE consent SET ended_at = $4 WHERE account_id = $1 AND id = $2 AND ended_at <= 0 AND used_at < $3
		AND NOT EXISTS (SELECT 1 FROM access_token a WHERE a.account_id = $1 AND a.consent_id = $2 AND a.expires_at > $4)`
)

// endGrantWebhooks pauses the webhooks in the user's own space whose grants have ended, or do not
// allow the use of their form any more.
func endGrantWebhooks(t db.Tx, person string, now time.Time) error {
	_, err := t.Exec(pauseWebhooksSQL, person, toMillis(now))
	return err
}

// hasEnded reports whether what a webhook depends on gives no access to its form any more. Without
// a grant, it is the owner who has access.
func hasEnded(q querier, space string, w Webhook, now time.Time) (bool, error) {
	if w.GrantID == "" {
		return false, nil
	}
	owner := space
	if w.PersonID != "" {
		owner = w.PersonID
	}
	sql, args := liveGrantSQL, []any{owner, w.GrantID, toMillis(now), w.FormID}
	if account.ValidSelector(w.GrantID) {
		sql, args = livePersonalTokenSQL, args[:3]
	}
	var live int64
	if err := queryOne(q, sql, args, &live); err != nil || w.PersonID == "" {
		return live == 0, replaceNotFound(err, nil)
	}
	allowed, err := mayHook(q, w.PersonID, space, w.FormID)
	return !allowed, err
}

// checkGrantOf returns an error if the grant of a webhook in a space of others has ended since the
// request that stores the webhook was authorized. Whoever ends it, or the access of its user to the
// space, then finds the webhook.
func checkGrantOf(t db.Tx, space string, w Webhook, now time.Time) error {
	if w.PersonID == "" {
		return nil // the cleanup finds those in the user's own space
	}
	if err := holdMembership(t, w.PersonID, space); errors.Is(err, ErrForeignSpace) {
		return fault.NotFound
	} else if err != nil {
		return err
	}
	if _, err := t.Exec(keepGrantSQL, w.PersonID, w.GrantID); err != nil {
		return err
	}
	ended, err := hasEnded(t.Query, space, w, now)
	return errorWhen(err, ended, fault.NotFound)
}

// mayHook reports whether the role of a person in a space of others allows webhooks of a form.
func mayHook(q querier, person, space, formID string) (bool, error) {
	access, err := readAccess(q, person, space)
	if err != nil {
		return false, replaceNotFound(err, nil)
	}
	return access.Check(account.WebhooksWrite, formID) == nil, nil
}

// endLapsedGrants ends the grants of active webhooks that were not used since a time, in all
// accounts.
func (s *Store) endLapsedGrants(ctx context.Context, usedSince, now time.Time) error {
	type grant struct{ owner, id string }
	for {
		var list []grant
		err := s.db.Query(ctx, lapsedGrantsSQL, func(r db.Row) error {
			var g grant
			err := r.Scan(&g.owner, &g.id)
			list = append(list, g)
			return err
		}, toMillis(usedSince), toMillis(now), cleanupBatch)
		if err != nil {
			return err
		}
		for _, g := range list {
			err := s.write(ctx, g.owner, func(t db.Tx) error {
				if _, err := endGrants(ctx, t, endLapsedSQL, g.owner, g.id, toMillis(usedSince), toMillis(now)); err != nil {
					return err
				}
				return endGrantWebhooks(t, g.owner, now)
			})
			if err != nil {
				return err
			}
		}
		if len(list) < cleanupBatch {
			return nil
		}
	}
}

const (
	// A webhook with a grant and without an application was created with a personal token.
	pauseTokenWebhooksSQL = `UPDATE webhook SET status = 'paused', updated_at = $2
		WHERE account_id = $1 AND status = 'active' AND app_id = '' AND grant_id <> ''
		AND grant_id NOT IN (SELECT id FROM personal_token WHERE account_id = $1 AND expires_at > $2)`
	livePersonalTokenSQL = `SELECT 1 FROM personal_token WHERE account_id = $1 AND id = $2 AND expires_at > $3`
	// lapsedTokensSQL reads all accounts; see webhookAccountsSQL.
	lapsedTokensSQL = `SELECT DISTINCT w.account_id FROM webhook w
		WHERE w.status = 'active' AND w.app_id = '' AND w.grant_id <> '' AND NOT EXISTS
		(SELECT 1 FROM personal_token p WHERE p.account_id = w.account_id AND p.id = w.grant_id AND p.expires_at > $1) LIMIT $2`
)

// endTokenWebhooks pauses the webhooks of personal tokens that have ended.
func endTokenWebhooks(t db.Tx, owner string, now time.Time) error {
	_, err := t.Exec(pauseTokenWebhooksSQL, owner, toMillis(now))
	return err
}

// endExpiredTokens pauses the webhooks of personal tokens that have expired, in all accounts.
func (s *Store) endExpiredTokens(ctx context.Context, now time.Time) error {
	for {
		var owners []string
		err := s.db.Query(ctx, lapsedTokensSQL, func(r db.Row) error {
			var owner string
			err := r.Scan(&owner)
			owners = append(owners, owner)
			return err
		}, toMillis(now), cleanupBatch)
		if err != nil {
			return err
		}
		for _, owner := range owners {
			if err := s.write(ctx, owner, func(t db.Tx) error { return endTokenWebhooks(t, owner, now) }); err != nil {
				return err
			}
		}
		if len(owners) < cleanupBatch {
			return nil
		}
	}
}
