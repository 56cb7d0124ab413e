package store

import (
	"context"
	"time"

	"formulary/internal/db"
)

// A webhook in a space of others depends on a grant that is stored with its user. Ending the grant
// and pausing the webhook are two transactions: the second one follows at once, or, if the process
// was killed in between, with the next cleanup.

const (
	endedSpacesSQL    = `SELECT DISTINCT space_id FROM consent WHERE account_id = $1 AND ended_at = $2 AND space_id <> ''`
	personWebhooksSQL = `SELECT form_id, id, grant_id FROM webhook WHERE account_id = $1 AND person_id = $2 AND status = 'active'`
	pauseWebhookSQL   = `UPDATE webhook SET status = 'paused', updated_at = $5
		WHERE account_id = $1 AND form_id = $2 AND id = $3 AND grant_id = $4 AND status = 'active'`
	hasLapsedSQL = `SELECT 1 FROM consent WHERE account_id = $1 AND id = $2 AND ended_at <= 0 AND used_at < $3
		AND NOT EXISTS (SELECT 1 FROM access_token a WHERE a.account_id = $1 AND a.consent_id = $2 AND a.expires_at > $4)`
	// spaceWebhooksSQL and endingGrantsSQL read all accounts; see webhookAccountsSQL.
	spaceWebhooksSQL = `SELECT DISTINCT account_id, person_id, grant_id FROM webhook WHERE status = 'active' AND person_id <> ''`
	endingGrantsSQL  = `SELECT account_id, id, space_id FROM consent WHERE expires_at > 0 AND expires_at <= $1 AND ended_at <= 0 LIMIT $2`
	endOnTimeSQL     = `UPDATE consent SET ended_at = expires_at WHERE account_id = $1 AND id = $2 AND ended_at <= 0 AND expires_at > 0 AND expires_at <= $3`
)

// pauseElsewhere pauses the webhooks in spaces of others whose grants have just ended.
func (s *Store) pauseElsewhere(ctx context.Context, person string, ended time.Time) {
	var spaces []string
	err := s.db.Query(ctx, endedSpacesSQL, func(r db.Row) error {
		var space string
		err := r.Scan(&space)
		spaces = append(spaces, space)
		return err
	}, person, toMillis(ended))
	if err != nil {
		return // the cleanup pauses them
	}
	for _, space := range spaces {
		s.pauseIn(ctx, space, person, ended)
	}
}

// pauseIn pauses the webhooks of a user in a space whose grants do not allow them any more. The
// cleanup repeats what fails.
func (s *Store) pauseIn(ctx context.Context, space, person string, now time.Time) {
	_ = s.pauseSpaceWebhooks(ctx, space, person, now)
}

func (s *Store) pauseSpaceWebhooks(ctx context.Context, space, person string, now time.Time) error {
	var list []Webhook
	err := s.db.Query(ctx, personWebhooksSQL, func(r db.Row) error {
		var w Webhook
		err := r.Scan(&w.FormID, &w.ID, &w.GrantID)
		list = append(list, w)
		return err
	}, space, person)
	if err != nil {
		return err
	}
	var ended []Webhook
	for _, w := range list {
		var allowed int64
		err := queryOne(s.query(ctx), allowedSQL, []any{person, w.GrantID, toMillis(now), w.FormID}, &allowed)
		hooks := false
		if err == nil {
			hooks, err = mayHook(s.query(ctx), person, space, w.FormID)
		}
		if replaceNotFound(err, nil) != nil {
			return err
		}
		if !hooks {
			ended = append(ended, w)
		}
	}
	if len(ended) == 0 {
		return nil
	}
	return s.write(ctx, space, func(t db.Tx) error {
		for _, w := range ended {
			if _, err := t.Exec(pauseWebhookSQL, space, w.FormID, w.ID, w.GrantID, toMillis(now)); err != nil {
				return err
			}
		}
		return nil
	})
}

// cleanUpSpaceWebhooks ends the grants of active webhooks in spaces of others that were not used
// since a time, and pauses the webhooks of all grants that have ended.
func (s *Store) cleanUpSpaceWebhooks(ctx context.Context, usedSince, now time.Time) error {
	type user struct{ space, person string }
	grants := map[user][]string{}
	err := s.db.Query(ctx, spaceWebhooksSQL, func(r db.Row) error {
		var u user
		var grant string
		err := r.Scan(&u.space, &u.person, &grant)
		grants[u] = append(grants[u], grant)
		return err
	})
	if err != nil {
		return err
	}
	for u, list := range grants {
		for _, grant := range list {
			if err := s.endLapsed(ctx, u.person, grant, usedSince, now); err != nil {
				return err
			}
		}
		if err := s.pauseSpaceWebhooks(ctx, u.space, u.person, now); err != nil {
			return err
		}
	}
	return nil
}

// endLapsed ends a grant that was not used since a time.
func (s *Store) endLapsed(ctx context.Context, person, grant string, usedSince, now time.Time) error {
	args := []any{person, grant, toMillis(usedSince), toMillis(now)}
	var lapsed int64
	if err := queryOne(s.query(ctx), hasLapsedSQL, args, &lapsed); err != nil {
		return replaceNotFound(err, nil)
	}
	return s.write(ctx, person, func(t db.Tx) error {
		_, err := endGrants(ctx, t, endLapsedSQL, person, args[1:]...)
		return err
	})
}

// EndExpiredGrants ends the grants of all accounts whose time is over, with their webhooks. Their
// tokens are invalid at once without it.
func (s *Store) EndExpiredGrants(ctx context.Context, now time.Time) (err error) {
	defer wrap(&err, "end expired grants")
	type grant struct{ person, id, space string }
	for {
		var list []grant
		err := s.db.Query(ctx, endingGrantsSQL, func(r db.Row) error {
			var g grant
			err := r.Scan(&g.person, &g.id, &g.space)
			list = append(list, g)
			return err
		}, toMillis(now), cleanupBatch)
		if err != nil {
			return err
		}
		for _, g := range list {
			err := s.write(ctx, g.person, func(t db.Tx) error {
				if _, err := endGrants(ctx, t, endOnTimeSQL, g.person, g.id, toMillis(now)); err != nil {
					return err
				}
				return endGrantWebhooks(t, g.person, now)
			})
			if err == nil && g.space != "" {
				err = s.pauseSpaceWebhooks(ctx, g.space, g.person, now)
			}
			if err != nil {
				return err
			}
		}
		if len(list) < cleanupBatch {
			return nil
		}
	}
}
