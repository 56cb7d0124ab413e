package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"formulary/internal/account"
	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/id"
)

const appColumns = `app.account_id, app.id, app.name, app.public, app.redirect_uris, app.scope, app.send_issuer, app.created_at, app.disabled_at`

func scanApp(r db.Row, more ...any) (account.Application, error) {
	var a account.Application
	var uris, scope string
	var created, disabled int64
	err := r.Scan(append([]any{&a.Account, &a.ID, &a.Name, &a.Public, &uris, &scope, &a.SendIssuer, &created, &disabled}, more...)...)
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal([]byte(uris), &a.RedirectURIs); err != nil {
		return a, fmt.Errorf("redirect URIs of %s: %w", a.ID, err)
	}
	a.Scopes, _ = account.ParseScopes(scope)
	a.CreatedAt, a.Disabled = fromMillis(created), disabled != 0
	return a, nil
}

const (
	insertAppSQL = `INSERT INTO app (account_id, id, name, public, redirect_uris, scope, send_issuer, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`
	updateAppSQL = `UPDATE app SET name = $3, redirect_uris = $4, scope = $5, send_issuer = $6
		WHERE account_id = $1 AND id = $2`
	insertSecretSQL   = `INSERT INTO app_secret (account_id, app_id, id, hash, created_at) VALUES ($1, $2, $3, $4, $5)`
	appSQL            = `SELECT ` + appColumns + ` FROM app WHERE account_id = $1 AND id = $2`
	appsSQL           = `SELECT ` + appColumns + ` FROM app WHERE account_id = $1 ORDER BY id DESC`
	allAppsSQL        = `SELECT ` + appColumns + `, account.email FROM app JOIN account ON account.id = app.account_id ORDER BY app.id`
	secretsSQL        = `SELECT id, hash, created_at FROM app_secret WHERE account_id = $1 AND app_id = $2 ORDER BY id`
	setAppDisableSQL  = `UPDATE app SET disabled_at = $3 WHERE account_id = $1 AND id = $2`
	deleteAppSQL      = `DELETE FROM app WHERE account_id = $1 AND id = $2`
	deleteSecretsSQL  = `DELETE FROM app_secret WHERE account_id = $1 AND app_id = $2`
	deleteSecretSQL   = `DELETE FROM app_secret WHERE account_id = $1 AND app_id = $2 AND id = $3`
	appIDsSQL         = `SELECT id FROM app WHERE account_id = $1`
	appCredentialsSQL = `SELECT ` + appColumns + `, COALESCE(s.hash, '') FROM app
		LEFT JOIN app_secret s ON s.account_id = app.account_id AND s.app_id = app.id WHERE app.id = $1`
)

// anyApp is the invalidation key of all applications. It is invalidated before the key of
// the changed application; Store.AccessToken says why.
const anyApp = "apps"

// appKey is the invalidation key of one application.
func appKey(appID string) string { return "app/" + appID }

// invalidateApps invalidates cached values that depend on the applications, and no others.
func (s *Store) invalidateApps(ids ...string) {
	for _, appID := range ids {
		s.db.Invalidate(anyApp)
		s.db.Invalidate(appKey(appID))
	}
}

// writeApp runs a transaction and invalidates cached values of the application.
func (s *Store) writeApp(ctx context.Context, appID string, fn func(db.Tx) error) error {
	err := s.db.Write(ctx, fn)
	// Also after an error: it may not be known whether the transaction committed.
	s.invalidateApps(appID)
	return err
}

// recordApp records in the owner's log what was done to an application that exists.
func recordApp(ctx context.Context, t db.Tx, a account.Application, action AuditAction, d details) error {
	if a.Account == NoOwner {
		return nil
	}
	if err := queryOne(t.Query, appNameSQL, []any{a.ID}, &a.Name); err != nil {
		return err
	}
	return recordAudit(ctx, t, a.Account, AuditEntry{Action: action, ObjectID: a.ID, ObjectName: a.Name, Details: d})
}

// appDetails are the settings of an application that the log shows.
func appDetails(a account.Application) details {
	return details{"scope": a.Scopes.String(), "redirect_uris": strings.Join(a.RedirectURIs, " ")}
}

// AddApp registers an application; secretHash is empty for a public one. With an
// idempotency key, a repeated registration returns the ID of the first.
func (s *Store) AddApp(ctx context.Context, a account.Application, secretHash string, key IdempotencyKey) (earlier string, err error) {
	defer wrap(&err, "add application")
	err = s.db.Write(ctx, func(t db.Tx) (err error) {
		if earlier, err = key.claim(t, a.Account, a.ID, a.CreatedAt); err != nil || earlier != "" {
			return err
		}
		if _, err := t.Exec(insertAppSQL, a.Account, a.ID, a.Name, a.Public, uriList(a), a.Scopes.String(), a.SendIssuer, toMillis(a.CreatedAt)); err != nil {
			return err
		}
		if secretHash != "" {
			if _, err := t.Exec(insertSecretSQL, a.Account, a.ID, id.New(id.Secret, a.CreatedAt), secretHash, toMillis(a.CreatedAt)); err != nil {
				return err
			}
		}
		return recordApp(ctx, t, a, AuditAppCreated, appDetails(a))
	})
	return earlier, err
}

func uriList(a account.Application) string {
	text, err := json.Marshal(a.RedirectURIs)
	if err != nil {
		panic(err) // a list of strings
	}
	return string(text)
}

// UpdateApp changes the name, redirect URIs and scopes of an application.
func (s *Store) UpdateApp(ctx context.Context, a account.Application) (err error) {
	defer wrap(&err, "update application")
	return s.writeApp(ctx, a.ID, func(t db.Tx) error {
		if err := checkAffected(t.Exec(updateAppSQL, a.Account, a.ID, a.Name, uriList(a), a.Scopes.String(), a.SendIssuer)); err != nil {
			return err
		}
		return recordApp(ctx, t, a, AuditAppChanged, appDetails(a))
	})
}

// App returns an application of the owner and its secrets.
func (s *Store) App(ctx context.Context, owner, appID string) (_ account.Application, _ []account.AppSecret, err error) {
	defer wrap(&err, "read application")
	a, err := account.Application{}, error(fault.NotFound)
	if _, ok := id.Parse(id.App, appID); !ok {
		return a, nil, err
	}
	var secrets []account.AppSecret
	e := s.db.Read(ctx, func(t db.Tx) error {
		secrets = nil
		if e := t.Query(appSQL, func(r db.Row) error {
			a, err = scanApp(r)
			return err
		}, owner, appID); e != nil || err != nil {
			return e
		}
		return t.Query(secretsSQL, func(r db.Row) error {
			var secret account.AppSecret
			var created int64
			err := r.Scan(&secret.ID, &secret.Hash, &created)
			secret.CreatedAt = fromMillis(created)
			secrets = append(secrets, secret)
			return err
		}, owner, appID)
	})
	if e != nil {
		return a, nil, e
	}
	return a, secrets, err
}

// Apps lists the applications of the owner, newest first.
func (s *Store) Apps(ctx context.Context, owner string) (_ []account.Application, err error) {
	defer wrap(&err, "list applications")
	var apps []account.Application
	err = s.db.Query(ctx, appsSQL, func(r db.Row) error {
		a, err := scanApp(r)
		apps = append(apps, a)
		return err
	}, owner)
	return apps, err
}

// AppWithOwner is an application and the email address of its owner.
type AppWithOwner struct {
	account.Application
	Owner string
}

// AllApps lists every application, for the administrator's command line.
func (s *Store) AllApps(ctx context.Context) (_ []AppWithOwner, err error) {
	defer wrap(&err, "list all applications")
	var apps []AppWithOwner
	err = s.db.Query(ctx, allAppsSQL, func(r db.Row) error {
		var owner string
		a, err := scanApp(r, &owner)
		apps = append(apps, AppWithOwner{a, owner})
		return err
	})
	return apps, err
}

// AppCredentials finds an application by its client_id alone, with the hashes of its
// secrets, for client authentication. Disabled applications are returned too.
func (s *Store) AppCredentials(ctx context.Context, appID string) (_ account.Application, _ []string, err error) {
	defer wrap(&err, "read application credentials")
	known, generation, ok := s.clients.Get(appKey(appID), appID)
	if ok {
		return known.app, known.secrets, nil
	}
	if _, ok := id.Parse(id.App, appID); !ok {
		return account.Application{}, nil, fault.NotFound
	}
	// The scan does not capture err: that would allocate on cache hits too.
	var c appCredentials
	found := false
	if err := s.db.Query(ctx, appCredentialsSQL, func(r db.Row) (err error) {
		var hash string
		found = true
		c.app, err = scanApp(r, &hash)
		if hash != "" {
			c.secrets = append(c.secrets, hash)
		}
		return err
	}, appID); err != nil {
		return c.app, nil, err
	}
	if !found {
		return c.app, nil, fault.NotFound
	}
	s.clients.Put(appID, generation, c, c.size())
	return c.app, c.secrets, nil
}

// appCredentials is an application with the hashes of its secrets. It is shared between
// requests: do not modify it.
type appCredentials struct {
	app     account.Application
	secrets []string
}

// size estimates the memory of the credentials.
func (c appCredentials) size() int64 {
	size := 1024 + len(c.app.Name)
	for _, uri := range c.app.RedirectURIs {
		size += len(uri)
	}
	return int64(size)
}

// maxCredentials limits the cache of applications, in bytes.
const maxCredentials = 4 << 20

// SetAppDisabled disables or enables an application with all its tokens.
func (s *Store) SetAppDisabled(ctx context.Context, owner, appID string, disabled bool, now time.Time) (err error) {
	defer wrap(&err, "disable application")
	if _, ok := id.Parse(id.App, appID); !ok {
		return fault.NotFound
	}
	return s.changeApp(ctx, appID, now, func(t db.Tx) error {
		action, since := AuditAppEnabled, int64(0)
		if disabled {
			action, since = AuditAppDisabled, toMillis(now)
		}
		if err := checkAffected(t.Exec(setAppDisableSQL, owner, appID, since)); err != nil {
			return err
		}
		return recordApp(ctx, t, account.Application{Account: owner, ID: appID}, action, nil)
	})
}

// DeleteApp deletes an application. Its tokens are no longer valid.
func (s *Store) DeleteApp(ctx context.Context, owner, appID string, now time.Time) (err error) {
	defer wrap(&err, "delete application")
	if _, ok := id.Parse(id.App, appID); !ok {
		return fault.NotFound
	}
	return s.changeApp(ctx, appID, now, func(t db.Tx) error {
		err := recordApp(ctx, t, account.Application{Account: owner, ID: appID}, AuditAppDeleted, nil)
		if err != nil {
			return err
		}
		if err := checkAffected(t.Exec(deleteAppSQL, owner, appID)); err != nil {
			return err
		}
		_, err = t.Exec(deleteSecretsSQL, owner, appID)
		return err
	})
}

// changeApp runs a transaction that disables, enables or deletes an application.
func (s *Store) changeApp(ctx context.Context, appID string, now time.Time, change func(db.Tx) error) error {
	defer s.signalAppChange()
	return s.writeApp(ctx, appID, func(t db.Tx) error {
		if err := noteAppChange(ctx, t, appID, now); err != nil {
			return err
		}
		return change(t)
	})
}

// AddSecret adds a second secret to an application; the first one stays valid until it
// is deleted.
func (s *Store) AddSecret(ctx context.Context, owner, appID, hash string, now time.Time) (err error) {
	defer wrap(&err, "add client secret")
	return s.writeApp(ctx, appID, func(t db.Tx) error {
		// Locks the row against concurrent rotations.
		if err := checkAffected(t.Exec(`UPDATE app SET name = name WHERE account_id = $1 AND id = $2`, owner, appID)); err != nil {
			return err
		}
		n := 0
		if err := t.Query(secretsSQL, func(db.Row) error { n++; return nil }, owner, appID); err != nil {
			return err
		}
		if n >= account.MaxSecrets {
			return fault.InvalidField("secret", "this application already has two secrets; delete one before adding another")
		}
		if _, err := t.Exec(insertSecretSQL, owner, appID, id.New(id.Secret, now), hash, toMillis(now)); err != nil {
			return err
		}
		return recordApp(ctx, t, account.Application{Account: owner, ID: appID}, AuditAppSecretAdded, nil)
	})
}

// DeleteSecret deletes a secret of an application.
func (s *Store) DeleteSecret(ctx context.Context, owner, appID, secret string) (err error) {
	defer wrap(&err, "delete client secret")
	if _, ok := id.Parse(id.Secret, secret); !ok {
		return fault.NotFound
	}
	if _, ok := id.Parse(id.App, appID); !ok {
		return fault.NotFound
	}
	return s.writeApp(ctx, appID, func(t db.Tx) error {
		if err := checkAffected(t.Exec(deleteSecretSQL, owner, appID, secret)); err != nil {
			return err
		}
		return recordApp(ctx, t, account.Application{Account: owner, ID: appID}, AuditAppSecretDeleted, nil)
	})
}
