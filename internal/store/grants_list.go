package store

import (
	"context"
	"time"

	"formulary/internal/account"
	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/id"
)

// Grant is the access of an application, as its user sees it.
type Grant struct {
	ID        string
	App       account.Application
	Developer account.User // who registered the application: ID, name and email address
	Scopes    account.Scopes
	Limits    GrantLimits
	SpaceName string // empty: the user's own space
	Since     time.Time
	Used      time.Time
}

// MaxGrantsListed is how many grants of an account are listed.
const MaxGrantsListed = 500

const (
	// Accounts are on every machine of a distributed database.
	liveGrantsSQL = `SELECT ` + appColumns + `, c.id, c.scope, c.created_at, c.used_at, c.space_id, c.some_forms, c.expires_at,
		COALESCE((SELECT string_agg(f.form_id, ',') FROM consent_form f WHERE f.account_id = c.account_id AND f.consent_id = c.id), ''),
		COALESCE(NULLIF(s.name, ''), s.email, ''), COALESCE(a.id, ''), COALESCE(a.name, ''), COALESCE(a.email, '')
		FROM consent c JOIN app ON app.id = c.app_id LEFT JOIN account a ON a.id = app.account_id LEFT JOIN account s ON s.id = c.space_id
		WHERE c.account_id = $1 AND c.ended_at <= 0 AND (c.expires_at = 0 OR c.expires_at > $4)
		AND (c.redeemed_at > 0 AND c.used_at > $2 OR c.created_at > $3)`
	grantsSQL     = liveGrantsSQL + ` ORDER BY c.app_id, c.used_at DESC, c.id LIMIT $5`
	grantSQL      = liveGrantsSQL + ` AND c.id = $5`
	disconnectSQL = `UPDATE consent SET ended_at = $3 WHERE account_id = $1 AND app_id = $2 AND ended_at <= 0`
	endGrantsSQL  = `UPDATE consent SET ended_at = $2 WHERE account_id = $1 AND ended_at <= 0`
	endGrantSQL   = `UPDATE consent SET ended_at = $3 WHERE account_id = $1 AND id = $2 AND ended_at <= 0`

	markGrantUsedSQL = `UPDATE consent SET used_at = $3 WHERE account_id = $1 AND id = $2 AND used_at < $3`
)

// LiveGrants says which grants give access: those used since UsedSince, and those granted since
// GrantedSince, whose code may still be exchanged.
type LiveGrants struct {
	UsedSince, GrantedSince, Now time.Time
}

func scanGrant(r db.Row) (Grant, error) {
	var g Grant
	var scope string
	var since, used int64
	var limits grantLimits
	var err error
	g.App, err = scanApp(r, &g.ID, &scope, &since, &used, &limits.space, &limits.someForms, &limits.ends, &limits.forms,
		&g.SpaceName, &g.Developer.ID, &g.Developer.Name, &g.Developer.Email)
	g.Scopes, _ = account.ParseScopes(scope)
	g.Since, g.Used, g.Limits = fromMillis(since), fromMillis(used), limits.limits()
	return g, err
}

// Grants lists the grants of a user, those of an application together.
func (s *Store) Grants(ctx context.Context, person string, live LiveGrants) (list []Grant, err error) {
	defer wrap(&err, "list grants")
	err = s.db.Query(ctx, grantsSQL, func(r db.Row) error {
		g, err := scanGrant(r)
		list = append(list, g)
		return err
	}, person, toMillis(live.UsedSince), toMillis(live.GrantedSince), toMillis(live.Now), MaxGrantsListed)
	return list, err
}

// Grant returns one grant of a user.
func (s *Store) Grant(ctx context.Context, person, grantID string, live LiveGrants) (_ Grant, err error) {
	defer wrap(&err, "read grant")
	g, err := Grant{}, error(fault.NotFound)
	if _, ok := id.Parse(id.Consent, grantID); !ok {
		return g, err
	}
	if e := s.db.Query(ctx, grantSQL, func(r db.Row) error {
		g, err = scanGrant(r)
		return err
	}, person, toMillis(live.UsedSince), toMillis(live.GrantedSince), toMillis(live.Now), grantID); e != nil {
		return g, e
	}
	return g, err
}

// Disconnect ends all grants of an application by the user.
func (s *Store) Disconnect(ctx context.Context, person, appID string, now time.Time) (err error) {
	defer wrap(&err, "disconnect app")
	if _, ok := id.Parse(id.App, appID); !ok {
		return fault.NotFound
	}
	return s.writeEnd(ctx, person, now, func(t db.Tx) error {
		return checkAffected(endGrants(ctx, t, disconnectSQL, person, appID, toMillis(now)))
	})
}

// EndGrant ends one grant of a user.
func (s *Store) EndGrant(ctx context.Context, person, grantID string, now time.Time) (err error) {
	defer wrap(&err, "end grant")
	if _, ok := id.Parse(id.Consent, grantID); !ok {
		return fault.NotFound
	}
	return s.writeEnd(ctx, person, now, func(t db.Tx) error {
		return checkAffected(endGrants(ctx, t, endGrantSQL, person, grantID, toMillis(now)))
	})
}

// writeEnd runs a transaction that ends grants, and pauses their webhooks.
func (s *Store) writeEnd(ctx context.Context, person string, now time.Time, end func(db.Tx) error) error {
	err := s.write(ctx, person, func(t db.Tx) error {
		if err := end(t); err != nil {
			return err
		}
		return endGrantWebhooks(t, person, now)
	})
	if err == nil {
		s.pauseElsewhere(ctx, person, now)
	}
	return err
}

// endGrant ends one grant and pauses its webhooks, except those in other spaces.
func endGrant(ctx context.Context, t db.Tx, person, grant string, now time.Time) error {
	if _, err := endGrants(ctx, t, endGrantSQL, person, grant, toMillis(now)); err != nil {
		return err
	}
	return endGrantWebhooks(t, person, now)
}

// MarkGrantUsed stores that an application used its access.
func (s *Store) MarkGrantUsed(ctx context.Context, token account.SecretRef, grantID string, now time.Time) (err error) {
	defer wrap(&err, "mark grant used")
	defer s.accessTokens.Delete(token.Hash)
	return s.db.Write(ctx, func(t db.Tx) error {
		_, err := t.Exec(markGrantUsedSQL, token.Account, grantID, toMillis(now))
		return err
	})
}

const (
	holdGrantSQL = `UPDATE consent SET issued = issued WHERE account_id = $1 AND id = $2 AND ended_at <= 0 AND (expires_at = 0 OR expires_at > $3)
		RETURNING space_id, some_forms, expires_at`
	grantFormsSQL     = `SELECT form_id FROM consent_form WHERE account_id = $1 AND consent_id = $2`
	narrowGrantSQL    = `UPDATE consent SET some_forms = $3, expires_at = $4, ended_at = $5 WHERE account_id = $1 AND id = $2`
	dropGrantFormsSQL = `DELETE FROM consent_form WHERE account_id = $1 AND consent_id = $2`
)

// NarrowGrant limits a grant further. What the grant does not allow stays so: forms that are not in
// it are left out, and a later end, or none, leaves the end as it is.
func (s *Store) NarrowGrant(ctx context.Context, person, grantID string, to GrantChoice, now time.Time) (err error) {
	defer wrap(&err, "narrow grant")
	if _, ok := id.Parse(id.Consent, grantID); !ok {
		return fault.NotFound
	}
	err = s.write(ctx, person, func(t db.Tx) error {
		if err := narrowGrant(t, person, grantID, to.limits, now); err != nil {
			return err
		}
		return recordGrant(ctx, t, person, grantID, AuditGrantChanged)
	})
	if err == nil && to.limits.Space != "" {
		s.pauseIn(ctx, to.limits.Space, person, now)
	}
	return err
}

func narrowGrant(t db.Tx, person, grantID string, to GrantLimits, now time.Time) error {
	var g grantLimits
	if err := queryOne(t.Query, holdGrantSQL, []any{person, grantID, toMillis(now)}, &g.space, &g.someForms, &g.ends); err != nil {
		return err
	}
	if g.space != to.Space {
		return fault.NotFound
	}
	if ends := toMillis(to.Ends); ends != 0 && (g.ends == 0 || ends < g.ends) {
		g.ends = ends
	}
	forms := to.Forms
	if g.someForms {
		var err error
		if forms, err = keptForms(t, person, grantID, to); err != nil {
			return err
		}
	}
	after := GrantLimits{Space: g.space, SomeForms: g.someForms || to.SomeForms, Ends: fromMillis(g.ends)}
	if _, err := t.Exec(narrowGrantSQL, person, grantID, after.SomeForms, g.ends, after.endedAt()); err != nil {
		return err
	}
	if to.SomeForms {
		if _, err := t.Exec(dropGrantFormsSQL, person, grantID); err != nil {
			return err
		}
		if err := insertGrantForms(t, person, grantID, forms); err != nil {
			return err
		}
	}
	return endGrantWebhooks(t, person, now)
}

// keptForms returns the forms of a grant of some forms that stay in it.
func keptForms(t db.Tx, person, grantID string, to GrantLimits) (kept []string, err error) {
	asked := map[string]bool{}
	for _, formID := range to.Forms {
		asked[formID] = true
	}
	err = t.Query(grantFormsSQL, func(r db.Row) error {
		var formID string
		err := r.Scan(&formID)
		if asked[formID] {
			kept = append(kept, formID)
		}
		return err
	}, person, grantID)
	return kept, err
}
