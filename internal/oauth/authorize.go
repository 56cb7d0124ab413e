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

// maxQueryBytes bounds an authorization request, which is stored while the user decides.
const maxQueryBytes = 16 << 10

// Request is a valid authorization request, for which the user can be asked for consent.
type Request struct {
	App         account.Application
	RedirectURI string
	Scopes      account.Scopes
	State       *string // nil: none was sent
	Challenge   string  // PKCE; empty: none was sent
}

// RedirectError is an error for the application: the browser is redirected to To, which
// contains the error code.
type RedirectError struct {
	To    string
	Error string
}

// Parse validates an authorization request. If it returns an error, show it to the user
// and do not redirect: the redirect URI cannot be trusted. If it returns a RedirectError,
// redirect the browser to the application.
func (s *Service) Parse(ctx context.Context, rawQuery string) (Request, *RedirectError, error) {
	var req Request
	if len(rawQuery) > maxQueryBytes {
		return req, nil, errorPage("The request is too long.")
	}
	query, queryErr := parseQuery(rawQuery)
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
	// The redirect URI is valid, so further errors are sent to the application.
	if states := query["state"]; len(states) == 1 {
		req.State = &states[0]
	}
	fail := func(code, format string, args ...any) (Request, *RedirectError, error) {
		return req, s.redirectDenied(req, code, fmt.Sprintf(format, args...)), nil
	}
	if queryErr != nil {
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
	if notAllowed := scopes.FirstNotIn(app.Scopes); notAllowed != "" {
		return fail("invalid_scope", "the application is not registered for %s", notAllowed)
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

// parseQuery is like url.ParseQuery, but accepts semicolons: the state may contain them.
// It returns all valid parameters together with the last error.
func parseQuery(raw string) (url.Values, error) {
	query := url.Values{}
	var queryErr error
	for part := range strings.SplitSeq(raw, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		name, nameErr := url.QueryUnescape(name)
		value, valueErr := url.QueryUnescape(value)
		if err := errors.Join(nameErr, valueErr); err != nil {
			queryErr = err
			continue
		}
		query.Add(name, value)
	}
	return query, queryErr
}

// errorPage returns an error that is shown to the user as a page.
func errorPage(format string, args ...any) error {
	return fault.New(fault.BadRequest, format, args...)
}

// printable shortens a text and replaces the characters that RFC 6749 does not allow in
// error_description.
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

// redirectURL adds the parameters, the state and, if the application wants it, iss to the
// redirect URI.
func (s *Service) redirectURL(req Request, params url.Values) string {
	if req.State != nil {
		params.Set("state", *req.State)
	}
	if req.App.SendIssuer {
		params.Set("iss", s.issuer)
	}
	return account.AddQuery(req.RedirectURI, params, "code", "error", "error_description", "state", "iss")
}

// BeginConsent stores the request while the user decides. It returns the consent request
// key, which the browser must send to CompleteConsent.
func (s *Service) BeginConsent(ctx context.Context, owner string, req Request) (string, error) {
	now := s.now()
	secret := account.NewSecret(account.ConsentRequestKey, owner, now)
	err := s.store.AddConsentRequest(ctx, secret, store.ConsentRequest{
		AppID: req.App.ID, RedirectURI: req.RedirectURI, Scopes: req.Scopes, State: req.State, Challenge: req.Challenge,
	}, now.Add(consentRequestTTL))
	return secret.Text, err
}

var errNoConsentRequest = fault.New(fault.Forbidden, "This request has expired. Go back to the app and start again.")

// PendingConsent returns the request of a consent request key that the user has not decided on yet.
func (s *Service) PendingConsent(ctx context.Context, owner, requestKey string) (Request, error) {
	key, ok := account.ParseSecret(account.ConsentRequestKey, requestKey)
	if !ok || key.Account != owner {
		return Request{}, errNoConsentRequest
	}
	consent, err := s.store.ConsentRequest(ctx, key, s.now())
	if err != nil {
		return Request{}, err
	}
	return s.revalidate(ctx, consent)
}

// Decision is what a user has decided on the consent page.
type Decision struct {
	Allow  bool
	Choice store.GrantChoice // what the application may use; zero: all forms in the user's own space
	// Notice returns mails about the new access; nil: there are none.
	Notice func(store.NewGrant) ([]store.Mail, error)
}

// CompleteConsent stores the decision of the user and returns the URL to redirect the
// browser to. It accepts each consent request key once, and only from the user it was
// made for.
func (s *Service) CompleteConsent(ctx context.Context, owner, requestKey string, d Decision) (string, error) {
	key, ok := account.ParseSecret(account.ConsentRequestKey, requestKey)
	if !ok || key.Account != owner {
		return "", errNoConsentRequest
	}
	now := s.now()
	if !d.Allow {
		consent, err := s.store.DenyConsent(ctx, key, now)
		if err != nil {
			return "", err
		}
		req, err := s.revalidate(ctx, consent)
		if err != nil {
			return "", err
		}
		return s.redirectDenied(req, "access_denied", "the user denied access").To, nil
	}
	code := account.NewSecret(account.Code, owner, now)
	consent, err := s.store.AllowConsent(ctx, key, store.Consent{Code: code, Expires: now.Add(s.lifetimes.Code), Choice: d.Choice, Notice: d.Notice}, now)
	if err != nil {
		return "", err
	}
	req, err := s.revalidate(ctx, consent)
	if err != nil {
		return "", err
	}
	return s.redirectURL(req, url.Values{"code": {code.Text}}), nil
}

// revalidate turns a stored consent request into a Request. The application may have been
// disabled or changed while the user was deciding.
func (s *Service) revalidate(ctx context.Context, c store.ConsentRequest) (Request, error) {
	app, _, err := s.store.AppCredentials(ctx, c.AppID)
	if errors.Is(err, fault.NotFound) || err == nil && app.Disabled {
		return Request{}, errorPage("This application has been disabled.")
	}
	if err == nil && !account.RedirectMatches(app.RedirectURIs, c.RedirectURI, app.Public) {
		err = errorPage("The redirect_uri is no longer registered for the application %q.", app.Name)
	}
	return Request{App: app, RedirectURI: c.RedirectURI, Scopes: c.Scopes, State: c.State, Challenge: c.Challenge}, err
}
