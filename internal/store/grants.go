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
	pendingConsentSQL = `SELECT app_id, redirect_uri, scope, state, challenge FROM ticket
		WHERE account_id = $1 AND id = $2 AND hash = $3 AND used_at = 0 AND expires_at > $4`
	insertGrantSQL = `INSERT INTO consent (account_id, id, app_id, scope, created_at, used_at, ended_at, space_id, some_forms, expires_at)
		VALUES ($1, $2, $3, $4, $5, $5, $6, $7, $8, $9)`
	insertCodeSQL = `INSERT INTO code (account_id, id, hash, consent_id, app_id, redirect_uri, challenge, expires_at)
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
	return readConsentRequest(t.Query, useConsentRequestSQL, key, now)
}

// ConsentRequest returns a request that the user has not decided on yet.
func (s *Store) ConsentRequest(ctx context.Context, key account.SecretRef, now time.Time) (_ ConsentRequest, err error) {
	defer wrap(&err, "read consent request")
	return readConsentRequest(s.query(ctx), pendingConsentSQL, key, now)
}

func readConsentRequest(q querier, sql string, key account.SecretRef, now time.Time) (ConsentRequest, error) {
	var request ConsentRequest
	var scope, state string
	err := queryOne(q, sql, []any{key.Account, key.ID, key.Hash, toMillis(now)},
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
	Choice  GrantChoice
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
	// comparedGrants is how many grants of an application a new one is compared with.
	comparedGrants = 5
	// MaxLimitedGrants is how many grants of some forms a user can give to one application. Another
	// one ends the oldest.
	MaxLimitedGrants = 50

	grantedSQL = `SELECT c.scope, c.space_id, c.some_forms, c.expires_at,
		COALESCE((SELECT string_agg(f.form_id, ',') FROM consent_form f WHERE f.account_id = c.account_id AND f.consent_id = c.id), '')
		FROM consent c WHERE c.account_id = $1 AND c.app_id = $2 AND c.ended_at <= 0 AND c.redeemed_at > 0
		AND c.space_id = $3 AND (NOT c.some_forms OR $4) ORDER BY c.created_at DESC, c.id DESC LIMIT $5`
	// Each has up to MaxGrantForms rows.
	surplusGrantsSQL = `SELECT c.id FROM consent c WHERE c.account_id = $1 AND c.app_id = $2 AND c.some_forms AND c.ended_at <= 0
		AND c.id <> (SELECT consent_id FROM code WHERE account_id = $1 AND id = $4) ORDER BY c.created_at DESC, c.id DESC LIMIT 100 OFFSET $3`
	grantedAppSQL = `SELECT ` + appColumns + `, COALESCE(a.id, ''), COALESCE(a.name, ''), COALESCE(a.email, '')
		FROM app LEFT JOIN account a ON a.id = app.account_id WHERE app.id = $1`
)

// AllowConsent ends a consent request and stores the grant and its code.
func (s *Store) AllowConsent(ctx context.Context, key account.SecretRef, c Consent, now time.Time) (_ ConsentRequest, err error) {
	defer wrap(&err, "allow consent")
	var request ConsentRequest
	var ended bool
	err = s.db.Write(ctx, func(t db.Tx) (err error) {
		// Before the request, as in the deletion of a user.
		if err := holdMembership(t, key.Account, c.Choice.limits.Space); err != nil {
			return err
		}
		if request, err = useConsentRequest(t, key, now); err != nil {
			return err
		}
		if c.Notice != nil {
			if err := addGrantNotice(t, request, c, now); err != nil {
				return err
			}
		}
		if err := insertCode(t, request, c, now); err != nil {
			return err
		}
		if err := recordNewGrant(ctx, t, c.Code); err != nil {
			return err
		}
		ended, err = endSurplusGrants(ctx, t, request, c, now)
		return err
	})
	if ended || isUncertain(err) {
		s.db.Invalidate(key.Account)
		s.pauseElsewhere(ctx, key.Account, now)
	}
	s.mailsAdded()
	return request, err
}

// endSurplusGrants ends the oldest grants of some forms if the application has too many, and
// forgets their forms.
func endSurplusGrants(ctx context.Context, t db.Tx, request ConsentRequest, c Consent, now time.Time) (ended bool, err error) {
	if !c.Choice.limits.SomeForms {
		return false, nil
	}
	var surplus []string
	if err := t.Query(surplusGrantsSQL, func(r db.Row) error {
		var grant string
		err := r.Scan(&grant)
		surplus = append(surplus, grant)
		return err
	}, c.Code.Account, request.AppID, MaxLimitedGrants-1, c.Code.ID); err != nil {
		return false, err
	}
	for _, grant := range surplus {
		if err := endGrant(ctx, t, c.Code.Account, grant, now); err != nil {
			return false, err
		}
		if _, err := t.Exec(dropGrantFormsSQL, c.Code.Account, grant); err != nil {
			return false, err
		}
	}
	return len(surplus) > 0, nil
}

// addGrantNotice tells the user of a grant, unless the application has as much access already.
func addGrantNotice(t db.Tx, request ConsentRequest, c Consent, now time.Time) error {
	owner, granted := c.Code.Account, ""
	err := t.Query(grantedSQL, func(r db.Row) error {
		var scope string
		var g grantLimits
		err := r.Scan(&scope, &g.space, &g.someForms, &g.ends, &g.forms)
		if limits := g.limits(); limits.covers(c.Choice.limits) && !limits.hasEnded(now) {
			granted += "," + scope
		}
		return err
	}, owner, request.AppID, c.Choice.limits.Space, c.Choice.limits.SomeForms, comparedGrants)
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

func insertCode(t db.Tx, request ConsentRequest, c Consent, now time.Time) error {
	grantID, owner, limits := id.New(id.Consent, now), c.Code.Account, c.Choice.limits
	if _, err := t.Exec(insertGrantSQL, owner, grantID, request.AppID, request.Scopes.String(), toMillis(now),
		limits.endedAt(), limits.Space, limits.SomeForms, toMillis(limits.Ends)); err != nil {
		return err
	}
	if err := insertGrantForms(t, owner, grantID, limits.Forms); err != nil {
		return err
	}
	_, err := t.Exec(insertCodeSQL, owner, c.Code.ID, c.Code.Hash, grantID, request.AppID,
		request.RedirectURI, request.Challenge, toMillis(c.Expires))
	return err
}

// AddCodes issues codes as if the user had allowed each of them, for the benchmark.
func (s *Store) AddCodes(ctx context.Context, request ConsentRequest, codes []account.Secret, expires, now time.Time) (err error) {
	defer wrap(&err, "add authorization codes")
	return s.db.Write(ctx, func(t db.Tx) error {
		for _, code := range codes {
			if err := insertCode(t, request, Consent{Code: code, Expires: expires}, now); err != nil {
				return err
			}
		}
		return nil
	})
}
