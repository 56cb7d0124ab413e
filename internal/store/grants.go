package store

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"time"

	"formulary/internal/account"
	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/id"
)

// ConsentRequest is a pending authorization request. It is stored here and not in the
// page, so that the decision cannot alter it.
type ConsentRequest struct {
	AppID       string
	RedirectURI string
	Scopes      account.Scopes
	State       *string // nil: none was sent
	Challenge   string
}

// encodeState escapes the state, which may contain any bytes; not every database
// accepts those as text.
func encodeState(state *string) string {
	if state == nil {
		return ""
	}
	return "=" + base64.RawURLEncoding.EncodeToString([]byte(*state))
}

func decodeState(text string) (*string, error) {
	text, ok := strings.CutPrefix(text, "=")
	if !ok {
		return nil, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	state := string(raw)
	return &state, err
}

const (
	insertConsentRequestSQL = `INSERT INTO ticket (account_id, id, hash, app_id, redirect_uri, scope, state, challenge, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`
	useConsentRequestSQL = `UPDATE ticket SET used_at = $4
		WHERE account_id = $1 AND id = $2 AND hash = $3 AND used_at = 0 AND expires_at > $4
		RETURNING app_id, redirect_uri, scope, state, challenge`
	insertGrantSQL = `INSERT INTO consent (account_id, id, app_id, scope, created_at, used_at) VALUES ($1, $2, $3, $4, $5, $5)`
	insertCodeSQL  = `INSERT INTO code (account_id, id, hash, consent_id, app_id, redirect_uri, challenge, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`
)

// AddConsentRequest stores a request until the user decides.
func (s *Store) AddConsentRequest(ctx context.Context, secret account.Secret, request ConsentRequest, expires time.Time) (err error) {
	defer wrap(&err, "add consent request")
	return s.db.Write(ctx, func(t db.Tx) error {
		_, err := t.Exec(insertConsentRequestSQL, secret.Account, secret.ID, secret.Hash, request.AppID, request.RedirectURI,
			request.Scopes.String(), encodeState(request.State), request.Challenge, toMillis(expires))
		return err
	})
}

var errConsentRequest = fault.New(fault.Forbidden, "This request has expired or was already answered. Go back to the app and start again.")

func useConsentRequest(t db.Tx, key account.SecretRef, now time.Time) (ConsentRequest, error) {
	var request ConsentRequest
	var scope, state string
	err := queryOne(t.Query, useConsentRequestSQL, []any{key.Account, key.ID, key.Hash, toMillis(now)},
		&request.AppID, &request.RedirectURI, &scope, &state, &request.Challenge)
	if errors.Is(err, fault.NotFound) {
		return request, errConsentRequest
	}
	if err != nil {
		return request, err
	}
	request.Scopes, _ = account.ParseScopes(scope)
	request.State, err = decodeState(state)
	return request, err
}

// DenyConsent ends a consent request without a grant.
func (s *Store) DenyConsent(ctx context.Context, key account.SecretRef, now time.Time) (_ ConsentRequest, err error) {
	defer wrap(&err, "deny consent")
	var request ConsentRequest
	err = s.db.Write(ctx, func(t db.Tx) (err error) {
		request, err = useConsentRequest(t, key, now)
		return err
	})
	return request, err
}

// Consent is what follows from a user's consent.
type Consent struct {
	Code    account.Secret
	Expires time.Time // of the code
	// Notice returns mails about a grant that allows more than earlier ones of the application;
	// nil: there are none.
	Notice func(NewGrant) ([]Mail, error)
}

// NewGrant is what a user has allowed.
type NewGrant struct {
	App       account.Application
	Developer account.User // who registered the application: ID, name and email address; none if it is part of the service
	Scopes    account.Scopes
}

const (
	grantedScopesSQL = `SELECT scope FROM consent WHERE account_id = $1 AND app_id = $2 AND ended_at <= 0 AND redeemed_at > 0`
	grantedAppSQL    = `SELECT ` + appColumns + `, COALESCE(a.id, ''), COALESCE(a.name, ''), COALESCE(a.email, '')
		FROM app LEFT JOIN account a ON a.id = app.account_id WHERE app.id = $1`
)

// AllowConsent ends a consent request and stores the grant and its code.
func (s *Store) AllowConsent(ctx context.Context, key account.SecretRef, c Consent, now time.Time) (_ ConsentRequest, err error) {
	defer wrap(&err, "allow consent")
	var request ConsentRequest
	err = s.db.Write(ctx, func(t db.Tx) (err error) {
		if request, err = useConsentRequest(t, key, now); err != nil {
			return err
		}
		if c.Notice != nil {
			if err := addGrantNotice(t, request, c); err != nil {
				return err
			}
		}
		if err := insertCode(t, request, c.Code, c.Expires, now); err != nil {
			return err
		}
		return recordNewGrant(ctx, t, c.Code)
	})
	s.mailsAdded()
	return request, err
}

// addGrantNotice tells the user of a grant, unless the application has as much access already.
func addGrantNotice(t db.Tx, request ConsentRequest, c Consent) error {
	owner, granted := c.Code.Account, ""
	err := t.Query(grantedScopesSQL, func(r db.Row) error {
		var scope string
		err := r.Scan(&scope)
		granted += "," + scope
		return err
	}, owner, request.AppID)
	if err != nil {
		return err
	}
	if known, _ := account.ParseScopes(granted); request.Scopes.FirstNotIn(known) == "" {
		return nil
	}
	g, found := NewGrant{Scopes: request.Scopes}, false
	err = t.Query(grantedAppSQL, func(r db.Row) (err error) {
		found = true
		g.App, err = scanApp(r, &g.Developer.ID, &g.Developer.Name, &g.Developer.Email)
		return err
	}, request.AppID)
	if err != nil || !found {
		return err
	}
	mails, err := c.Notice(g)
	if err != nil {
		return err
	}
	return addMails(t, owner, mails...)
}

func insertCode(t db.Tx, request ConsentRequest, code account.Secret, expires, now time.Time) error {
	grantID := id.New(id.Consent, now)
	if _, err := t.Exec(insertGrantSQL, code.Account, grantID, request.AppID, request.Scopes.String(), toMillis(now)); err != nil {
		return err
	}
	_, err := t.Exec(insertCodeSQL, code.Account, code.ID, code.Hash, grantID, request.AppID,
		request.RedirectURI, request.Challenge, toMillis(expires))
	return err
}

// AddCodes issues codes as if the user had allowed each of them, for the benchmark.
func (s *Store) AddCodes(ctx context.Context, request ConsentRequest, codes []account.Secret, expires, now time.Time) (err error) {
	defer wrap(&err, "add authorization codes")
	return s.db.Write(ctx, func(t db.Tx) error {
		for _, code := range codes {
			if err := insertCode(t, request, code, expires, now); err != nil {
				return err
			}
		}
		return nil
	})
}

// ConnectedApp is an application with access to an account.
type ConnectedApp struct {
	App    account.Application
	Scopes account.Scopes // of all its grants together
	Since  time.Time
	Used   time.Time
}

const (
	connectedAppsSQL = `SELECT ` + appColumns + `, c.scope, c.created_at, c.used_at
		FROM consent c JOIN app ON app.id = c.app_id
		WHERE c.account_id = $1 AND c.ended_at <= 0 AND (c.redeemed_at > 0 AND c.used_at > $2 OR c.created_at > $3)
		ORDER BY c.app_id, c.id`
	disconnectSQL    = `UPDATE consent SET ended_at = $3 WHERE account_id = $1 AND app_id = $2 AND ended_at <= 0`
	endGrantsSQL     = `UPDATE consent SET ended_at = $2 WHERE account_id = $1 AND ended_at <= 0`
	endGrantSQL      = `UPDATE consent SET ended_at = $3 WHERE account_id = $1 AND id = $2 AND ended_at <= 0`
	markGrantUsedSQL = `UPDATE consent SET used_at = $3 WHERE account_id = $1 AND id = $2 AND used_at < $3`
)

// ConnectedApps lists the applications with access to the owner's account: grants used
// since usedSince, and those granted since grantedSince, whose code may still be exchanged.
func (s *Store) ConnectedApps(ctx context.Context, owner string, usedSince, grantedSince time.Time) (_ []ConnectedApp, err error) {
	defer wrap(&err, "list connected apps")
	var list []ConnectedApp
	err = s.db.Query(ctx, connectedAppsSQL, func(r db.Row) error {
		var scope string
		var since, used int64
		app, err := scanApp(r, &scope, &since, &used)
		if err != nil {
			return err
		}
		scopes, _ := account.ParseScopes(scope)
		if n := len(list); n > 0 && list[n-1].App.ID == app.ID {
			last := &list[n-1]
			last.Scopes, _ = account.ParseScopes(last.Scopes.String() + "," + scope)
			last.Used = fromMillis(max(used, toMillis(last.Used)))
			return nil
		}
		list = append(list, ConnectedApp{app, scopes, fromMillis(since), fromMillis(used)})
		return nil
	}, owner, toMillis(usedSince), toMillis(grantedSince))
	return list, err
}

// Disconnect ends all grants of an application by the owner.
func (s *Store) Disconnect(ctx context.Context, owner, appID string, now time.Time) (err error) {
	defer wrap(&err, "disconnect app")
	if _, ok := id.Parse(id.App, appID); !ok {
		return fault.NotFound
	}
	return s.write(ctx, owner, func(t db.Tx) error {
		if err := checkAffected(endGrants(ctx, t, disconnectSQL, owner, appID, toMillis(now))); err != nil {
			return err
		}
		return endGrantWebhooks(t, owner, now)
	})
}

// endGrant ends one grant and pauses its webhooks.
func endGrant(ctx context.Context, t db.Tx, owner, grant string, now time.Time) error {
	if _, err := endGrants(ctx, t, endGrantSQL, owner, grant, toMillis(now)); err != nil {
		return err
	}
	return endGrantWebhooks(t, owner, now)
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
