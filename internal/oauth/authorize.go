package oauth

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/store"
)

// maxQuery bounds an authorization request, which is kept while the person
// decides.
const maxQuery = 16 << 10

// Request is an authorization request that may be put to a person.
type Request struct {
	App         account.Application
	RedirectURI string
	Scopes      account.Scopes
	State       *string
	Challenge   string
}

// RedirectError is an error that goes back to the application: the person's
// browser is sent to To.
type RedirectError struct {
	To    string
	Error string
}

// Parse checks an authorization request. An error is for the person to read,
// and the browser must not be sent anywhere; a *Redirected goes back to the
// application.
func (s *Service) Parse(ctx context.Context, rawQuery string) (Request, *RedirectError, error) {
	var req Request
	if len(rawQuery) > maxQuery {
		return req, nil, errorPage("The request is too long.")
	}
	query, broken := parseQuery(rawQuery)
	for _, name := range []string{"client_id", "redirect_uri"} {
		switch n := len(query[name]); {
		case n > 1:
			return req, nil, errorPage("The request contains %s more than once.", name)
		case n == 0 || query.Get(name) == "":
			return req, nil, errorPage("The request is missing %s.", name)
		}
	}
	app, _, err := s.store.AppCredentials(ctx, query.Get("client_id"))
	if errors.Is(err, fault.NotFound) {
		return req, nil, errorPage("No application has this client_id.")
	}
	if err != nil {
		return req, nil, err
	}
	if app.Disabled {
		return req, nil, errorPage("The application %q is disabled.", app.Name)
	}
	req.App, req.RedirectURI = app, query.Get("redirect_uri")
	if !account.RedirectMatches(app.RedirectURIs, req.RedirectURI, app.Public) {
		return req, nil, errorPage("The redirect_uri is not registered for the application %q.", app.Name)
	}
	// From here on the application may be told itself.
	if states := query["state"]; len(states) == 1 {
		req.State = &states[0]
	}
	fail := func(code, format string, args ...any) (Request, *RedirectError, error) {
		return req, s.redirectDenied(req, code, fmt.Sprintf(format, args...)), nil
	}
	if broken != nil {
		return fail("invalid_request", "the query string is malformed")
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if len(query[name]) > 1 {
			return fail("invalid_request", "%s appears more than once", printable(name))
		}
	}
	switch query.Get("response_type") {
	case "code":
	case "":
		return fail("invalid_request", "response_type is required; use code")
	default:
		return fail("unsupported_response_type", "response_type must be code")
	}
	scopes, unknown := account.ParseScopes(query.Get("scope"))
	switch {
	case unknown != "":
		return fail("invalid_scope", "unknown scope: %s", printable(unknown))
	case len(scopes) == 0:
		return fail("invalid_scope", "scope is required")
	}
	if beyond := scopes.FirstNotIn(app.Scopes); beyond != "" {
		return fail("invalid_scope", "the application is not registered for %s", beyond)
	}
	req.Scopes = scopes
	req.Challenge = query.Get("code_challenge")
	method := query.Get("code_challenge_method")
	switch {
	case req.Challenge == "" && method != "":
		return fail("invalid_request", "code_challenge_method requires a code_challenge")
	case req.Challenge == "" && app.Public:
		return fail("invalid_request", "public applications must send a code_challenge (PKCE)")
	case req.Challenge == "":
	case method != "S256":
		return fail("invalid_request", "code_challenge_method must be S256")
	case !account.ValidChallenge(req.Challenge):
		return fail("invalid_request", "code_challenge must be the base64url-encoded SHA-256 of the code_verifier")
	}
	return req, nil, nil
}

// parseQuery is url.ParseQuery that takes a semicolon for what it is: a state
// may have one.
func parseQuery(raw string) (url.Values, error) {
	query := url.Values{}
	var broken error
	for part := range strings.SplitSeq(raw, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		name, wrongName := url.QueryUnescape(name)
		value, wrongValue := url.QueryUnescape(value)
		if err := errors.Join(wrongName, wrongValue); err != nil {
			broken = err
			continue
		}
		query.Add(name, value)
	}
	return query, broken
}

func errorPage(format string, args ...any) error {
	return fault.New(fault.BadRequest, format, args...)
}

// printable keeps what RFC 6749 lets into error_description.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < 0x20 || r > 0x7e || r == '"' || r == '\\' {
			return '?'
		}
		return r
	}, text)
	if len(text) > 60 {
		text = text[:60] + "..."
	}
	return text
}

func (s *Service) redirectDenied(req Request, code, description string) *RedirectError {
	params := url.Values{"error": {code}, "error_description": {description}}
	return &RedirectError{s.redirectURL(req, params), code}
}

func (s *Service) redirectURL(req Request, params url.Values) string {
	if req.State != nil {
		params.Set("state", *req.State)
	}
	if req.App.SendIssuer {
		params.Set("iss", s.issuer)
	}
	return account.AddQuery(req.RedirectURI, params, "code", "error", "error_description", "state", "iss")
}

// BeginConsent keeps the request while the person decides, and returns the ticket that
// their answer must bring.
func (s *Service) BeginConsent(ctx context.Context, owner string, req Request) (string, error) {
	now := s.now()
	secret := account.NewSecret(account.ConsentRequestKey, owner, now)
	err := s.store.AddConsentRequest(ctx, secret, store.ConsentRequest{
		AppID: req.App.ID, RedirectURI: req.RedirectURI, Scopes: req.Scopes, State: req.State, Challenge: req.Challenge,
	}, now.Add(consentRequestTTL))
	return secret.Text, err
}

var errNoConsentRequest = fault.New(fault.Forbidden, "This request has expired. Go back to the app and start again.")

// CompleteConsent takes the person's answer and returns where to send the browser.
func (s *Service) CompleteConsent(ctx context.Context, owner, ticket string, allow bool) (string, error) {
	key, ok := account.ParseSecret(account.ConsentRequestKey, ticket)
	if !ok || key.Account != owner {
		return "", errNoConsentRequest
	}
	now := s.now()
	if !allow {
		asked, err := s.store.DenyConsent(ctx, key, now)
		if err != nil {
			return "", err
		}
		req, err := s.revalidate(ctx, asked)
		if err != nil {
			return "", err
		}
		return s.redirectDenied(req, "access_denied", "the user denied access").To, nil
	}
	code := account.NewSecret(account.Code, owner, now)
	asked, err := s.store.AllowConsent(ctx, key, code, now.Add(s.life.Code), now)
	if err != nil {
		return "", err
	}
	req, err := s.revalidate(ctx, asked)
	if err != nil {
		return "", err
	}
	return s.redirectURL(req, url.Values{"code": {code.Text}}), nil
}

// revalidate brings a ticket back together with its application, which may have been
// switched off or changed while the person was deciding.
func (s *Service) revalidate(ctx context.Context, t store.ConsentRequest) (Request, error) {
	app, _, err := s.store.AppCredentials(ctx, t.AppID)
	if errors.Is(err, fault.NotFound) || err == nil && app.Disabled {
		return Request{}, errorPage("This application has been disabled.")
	}
	if err == nil && !account.RedirectMatches(app.RedirectURIs, t.RedirectURI, app.Public) {
		err = errorPage("The redirect_uri is no longer registered for the application %q.", app.Name)
	}
	return Request{App: app, RedirectURI: t.RedirectURI, Scopes: t.Scopes, State: t.State, Challenge: t.Challenge}, err
}
