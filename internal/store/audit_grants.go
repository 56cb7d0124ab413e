package store

import (
	"cmp"
	"context"
	"maps"
	"strconv"

	"formulary/internal/account"
	"formulary/internal/db"
)

const (
	grantOfCodeSQL = `SELECT consent_id FROM code WHERE account_id = $1 AND id = $2`
	// Applications and their names are on every machine of a distributed database.
	grantAuditSQL = `SELECT c.app_id, COALESCE(app.name, ''), c.space_id, c.scope, c.some_forms, c.expires_at,
		(SELECT COUNT(*) FROM consent_form f WHERE f.account_id = $1 AND f.consent_id = $2)
		FROM consent c LEFT JOIN app ON app.id = c.app_id WHERE c.account_id = $1 AND c.id = $2`
	appNameSQL = `SELECT name FROM app WHERE id = $1`
)

// recordNewGrant records the grant of a code, in the space that the grant is for.
func recordNewGrant(ctx context.Context, t db.Tx, code account.Secret) error {
	var grant string
	if err := queryOne(t.Query, grantOfCodeSQL, []any{code.Account, code.ID}, &grant); err != nil {
		return err
	}
	return recordGrant(ctx, t, code.Account, grant, AuditGrantCreated)
}

// recordGrant records that a person gave a grant or changed its limits, as they are now.
func recordGrant(ctx context.Context, t db.Tx, person, grant string, action AuditAction) error {
	var app, name, space, scope string
	var some bool
	var expires, forms int64
	if err := queryOne(t.Query, grantAuditSQL, []any{person, grant}, &app, &name, &space, &scope, &some, &expires, &forms); err != nil {
		return err
	}
	d := details{"scope": scope, "forms": "all", "expires_at": auditTime(fromMillis(expires))}
	if some {
		d["forms"] = strconv.FormatInt(forms, 10)
	}
	return recordAudit(ctx, t, cmp.Or(space, person), AuditEntry{Action: action, ObjectID: app, ObjectName: name, Details: d})
}

// endGrants runs a statement that ends grants of a person, and records it. It returns how many
// ended.
func endGrants(ctx context.Context, t db.Tx, sql, person string, args ...any) (int64, error) {
	return changeGrants(ctx, t, AuditEntry{Action: AuditGrantEnded}, sql, person, args...)
}

// changeGrants runs a statement that changes grants of a person, and records an entry for each
// application and space. Unless the person has done it, the entry says whose grants they are. It
// returns how many changed.
func changeGrants(ctx context.Context, t db.Tx, e AuditEntry, sql, person string, args ...any) (n int64, err error) {
	type key struct{ app, space string }
	var changed []key
	seen := map[key]bool{}
	if err := t.Query(sql+` RETURNING app_id, space_id`, func(r db.Row) error {
		var k key
		err := r.Scan(&k.app, &k.space)
		if n++; !seen[k] {
			changed, seen[k] = append(changed, k), true
		}
		return err
	}, append([]any{person}, args...)...); err != nil || n == 0 {
		return n, err
	}
	d := details{}
	maps.Copy(d, e.Details)
	if actorOf(ctx).PersonID != person {
		d["person_id"] = person
		if d["person"], err = personName(t, person); err != nil {
			return n, err
		}
	}
	for _, k := range changed {
		space, entry := cmp.Or(k.space, person), AuditEntry{Action: e.Action, ObjectID: k.app, ObjectName: e.ObjectName, Details: d}
		if err := queryOne(t.Query, appNameSQL, []any{k.app}, &entry.ObjectName); replaceNotFound(err, nil) != nil {
			return n, err
		}
		if err := recordAudit(ctx, t, space, entry); err != nil {
			return n, err
		}
	}
	return n, nil
}

// revokeTokens runs a statement that deletes personal tokens, and records each of them. It
// returns how many there were.
func revokeTokens(ctx context.Context, t db.Tx, sql, person string, args ...any) (int64, error) {
	var revoked []AuditEntry
	if err := t.Query(sql+` RETURNING id, name`, func(r db.Row) error {
		e := AuditEntry{Action: AuditTokenRevoked}
		err := r.Scan(&e.ObjectID, &e.ObjectName)
		revoked = append(revoked, e)
		return err
	}, append([]any{person}, args...)...); err != nil {
		return 0, err
	}
	for _, e := range revoked {
		if err := recordAudit(ctx, t, person, e); err != nil {
			return 0, err
		}
	}
	return int64(len(revoked)), nil
}
