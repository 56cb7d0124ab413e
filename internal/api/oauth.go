package api

import (
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/id"
	"formulary/internal/limit"
	"formulary/internal/oauth"
	"formulary/internal/store"
)

// Token is the response of the token and refresh endpoints.
type Token struct {
	AccessToken  string `json:"access_token" doc:"Access token to send with API requests" example:"fma_…"`
	RefreshToken string `json:"refresh_token" doc:"Use it to get a new access token" example:"fmr_…"`
	TokenType    string `json:"token_type" enum:"Bearer"`
	ExpiresIn    int64  `json:"expires_in" doc:"Lifetime of the access token in seconds" example:"3600"`
	Scope        string `json:"scope" doc:"Granted scopes, separated by commas" example:"forms:read,responses:read"`
	User         string `json:"user" format:"email" doc:"Email address of the account" example:"ada@example.com"`
}

// Bodies of the OAuth endpoints, for the OpenAPI document. Clients that authenticate
// with HTTP Basic omit client_id and client_secret.
type (
	tokenForm struct {
		GrantType    string `json:"grant_type" enum:"authorization_code,refresh_token"`
		Code         string `json:"code,omitempty" doc:"Authorization code from the redirect (authorization_code only)" example:"fmc_…"`
		RedirectURI  string `json:"redirect_uri,omitempty" doc:"Same redirect_uri as in the authorization request (authorization_code only)" example:"https://app.example/callback"`
		CodeVerifier string `json:"code_verifier,omitempty" minLength:"43" maxLength:"128" doc:"Code verifier (PKCE only)"`
		RefreshToken string `json:"refresh_token,omitempty" doc:"Refresh token (refresh_token only)"`
		Scope        string `json:"scope,omitempty" doc:"Narrows the scopes of the new access token (refresh_token only)"`
		ClientForm
	}
	refreshForm struct {
		GrantType    string `json:"grant_type" enum:"refresh_token"`
		RefreshToken string `json:"refresh_token" example:"fmr_…"`
		Scope        string `json:"scope,omitempty" doc:"Narrows the scopes of the new access token"`
		ClientForm
	}
	tokenAndHint struct {
		Token string `json:"token" example:"fma_…"`
		Hint  string `json:"token_type_hint,omitempty" doc:"Accepted and ignored"`
		ClientForm
	}
)

// ClientForm contains the credentials of an application in a body. It is exported
// because only exported fields appear in the OpenAPI document.
type ClientForm struct {
	_            struct{} `additionalProperties:"true"`
	ClientID     string   `json:"client_id,omitempty" example:"app_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	ClientSecret string   `json:"client_secret,omitempty" doc:"Omit for public applications" example:"fms_…"`
}

// Introspection describes a token as in RFC 7662. If the token is not active, only
// active is set.
type Introspection struct {
	Active    bool   `json:"active" example:"true"`
	Scope     string `json:"scope,omitempty" doc:"Scopes, separated by commas" example:"forms:read,responses:read"`
	ClientID  string `json:"client_id,omitempty" example:"app_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Username  string `json:"username,omitempty" doc:"Email address of the account" example:"ada@example.com"`
	TokenType string `json:"token_type,omitempty" example:"Bearer"`
	Exp       int64  `json:"exp,omitempty" doc:"Expiry time in Unix seconds" example:"1780252200"`
	Iat       int64  `json:"iat,omitempty" doc:"Time of issue in Unix seconds" example:"1780248600"`
	Sub       string `json:"sub,omitempty" doc:"Account ID" example:"usr_01k9z8m7q3e4r5t6y7v8w9x0a1"`
	Iss       string `json:"iss,omitempty" doc:"The issuer: address of this service" example:"https://forms.example"`
}

// oauthErrors are possible on every OAuth endpoint.
var oauthErrors = []fault.Code{fault.InvalidRequest, fault.InvalidClient, fault.TooLarge, fault.UnsupportedMedia}

func (a *API) token() *operation {
	return a.oauthOperation(operation{
		Path: "/api/oauth2/token", ID: "token", MaxBody: maxOAuth, CORS: true,
		Summary:     "Exchange an authorization code",
		Description: "Also accepts `grant_type=refresh_token`, for libraries that use a single token endpoint.",
		Errors:      append([]fault.Code{fault.InvalidGrant, fault.UnsupportedGrant, fault.InvalidScope, fault.UnauthorizedClient}, oauthErrors...),
		form:        reflect.TypeFor[tokenForm](), output: reflect.TypeFor[Token](),
	}, func(w http.ResponseWriter, r *http.Request, in values) error {
		switch in["grant_type"] {
		case "authorization_code":
			return a.exchange(w, r, in)
		case "refresh_token":
			return a.refreshGrant(w, r, in)
		}
		return unsupported(in, "authorization_code and refresh_token")
	})
}

func (a *API) refresh() *operation {
	return a.oauthOperation(operation{
		Path: "/api/oauth2/refresh", ID: "refresh", MaxBody: maxOAuth, CORS: true,
		Summary:     "Refresh an access token",
		Description: "Confidential applications keep their refresh token. Public applications get a new one each time.",
		Errors:      append([]fault.Code{fault.InvalidGrant, fault.UnsupportedGrant, fault.InvalidScope, fault.UnauthorizedClient}, oauthErrors...),
		form:        reflect.TypeFor[refreshForm](), output: reflect.TypeFor[Token](),
	}, func(w http.ResponseWriter, r *http.Request, in values) error {
		if in["grant_type"] != "refresh_token" {
			return unsupported(in, "refresh_token")
		}
		return a.refreshGrant(w, r, in)
	})
}

func unsupported(in values, supported string) error {
	if in["grant_type"] == "" {
		return missingParameter("grant_type")
	}
	return fault.New(fault.UnsupportedGrant, "grant_type must be one of %s.", supported)
}

func missingParameter(field string) error {
	return fault.New(fault.InvalidRequest, "%s is required.", field)
}

func (a *API) exchange(w http.ResponseWriter, r *http.Request, in values) error {
	app, err := a.client(r, in)
	if err == error(errNoSecret) {
		return missingParameter("client_secret")
	}
	if err != nil {
		return err
	}
	for _, field := range []string{"code", "redirect_uri"} {
		if in[field] == "" {
			return missingParameter(field)
		}
	}
	token, err := a.OAuth.Exchange(r.Context(), app, in["code"], in["redirect_uri"], in["code_verifier"])
	if err != nil {
		return err
	}
	writeToken(w, token)
	return nil
}

func (a *API) refreshGrant(w http.ResponseWriter, r *http.Request, in values) error {
	app, err := a.client(r, in)
	if err != nil {
		return err
	}
	if in["refresh_token"] == "" {
		return missingParameter("refresh_token")
	}
	token, err := a.OAuth.Refresh(r.Context(), app, in["refresh_token"], in["scope"])
	if err != nil {
		return err
	}
	writeToken(w, token)
	return nil
}

func writeToken(w http.ResponseWriter, t oauth.Token) {
	writeJSON(w, http.StatusOK, Token{t.Access, t.Refresh, "Bearer", t.ExpiresIn, t.Scopes.String(), t.User})
}

func (a *API) revoke() *operation {
	return a.oauthOperation(operation{
		Path: "/api/oauth2/revoke", ID: "revoke", MaxBody: maxOAuth, CORS: true,
		Summary:     "Revoke a token",
		Description: "RFC 7009. Revoking a refresh token also revokes its access tokens. Unknown tokens are ignored.",
		Errors:      oauthErrors,
		form:        reflect.TypeFor[tokenAndHint](),
	}, func(w http.ResponseWriter, r *http.Request, in values) error {
		app, err := a.client(r, in)
		if err != nil {
			return err
		}
		if in["token"] == "" {
			return missingParameter("token")
		}
		ctx := store.WithActor(r.Context(), store.Actor{Kind: store.ActorApplication, AppID: app.ID, AppName: app.Name, Address: a.Address(r)})
		if err := a.OAuth.Revoke(ctx, app, in["token"]); err != nil {
			return err
		}
		w.WriteHeader(http.StatusOK)
		return nil
	})
}

func (a *API) introspect() *operation {
	return a.oauthOperation(operation{
		Path: "/api/oauth2/introspect", ID: "introspect", MaxBody: maxOAuth,
		Summary:     "Inspect a token",
		Description: "RFC 7662. Applications can inspect only their own tokens; all other tokens are reported as inactive.",
		Errors:      oauthErrors,
		form:        reflect.TypeFor[tokenAndHint](), output: reflect.TypeFor[Introspection](),
	}, func(w http.ResponseWriter, r *http.Request, in values) error {
		app, err := a.client(r, in)
		if err != nil {
			return err
		}
		if app.Public {
			// Public applications have no secret, so any client can pretend to be one.
			return errNoSecret
		}
		if in["token"] == "" {
			return missingParameter("token")
		}
		info, err := a.OAuth.Introspect(r.Context(), app, in["token"])
		if err != nil {
			return err
		}
		if info == nil {
			writeJSON(w, http.StatusOK, Introspection{})
			return nil
		}
		writeBytes(w, http.StatusOK, a.tokenInfo(app, info))
		return nil
	})
}

// tokenInfo returns what an application may know about an active token.
func (a *API) tokenInfo(app account.Application, info *oauth.TokenInfo) []byte {
	about := [2]string{app.ID, info.Hash}
	text, ok := a.introspected.GetAt(info.Generation, about)
	if !ok {
		text = encode(Introspection{
			Active: true, Scope: info.Scopes.String(), ClientID: app.ID, Username: info.Email, TokenType: info.Kind,
			Exp: info.ExpiresAt.Unix(), Iat: info.CreatedAt.Unix(), Sub: info.UserID, Iss: a.OAuth.Issuer(),
		})
		a.introspected.Put(about, info.Generation, text, int64(len(text)+pageOverhead))
	}
	return text
}

// values are the fields of a form body. Each occurs once.
type values map[string]string

// oauthOperation adds what all OAuth endpoints have in common.
func (a *API) oauthOperation(op operation, run func(http.ResponseWriter, *http.Request, values) error) *operation {
	op.Method, op.Tag, op.Open, op.Status = "POST", "OAuth 2.0", true, 200
	op.serve = func(a *API, w http.ResponseWriter, r *http.Request) error {
		setNoStore(w.Header())
		in, err := readForm(w, r, op.MaxBody)
		if err != nil {
			return err
		}
		return run(w, r, in)
	}
	return &op
}

// readForm reads a form body. It ignores the query, because secrets there would end up
// in logs.
func readForm(w http.ResponseWriter, r *http.Request, maxBytes int64) (values, error) {
	if r.URL.RawQuery != "" {
		return nil, fault.New(fault.InvalidRequest, "Send parameters in the body, not in the query string.")
	}
	const formType = "application/x-www-form-urlencoded"
	if given := r.Header.Get("Content-Type"); given != formType {
		if kind, _, err := mime.ParseMediaType(given); err != nil || kind != formType {
			return nil, fault.New(fault.UnsupportedMedia, "Send the body as application/x-www-form-urlencoded.")
		}
	}
	text, err := readAll(w, r, maxBytes)
	if err != nil {
		return nil, err
	}
	return parseForm(string(text))
}

// parseForm is like url.ParseQuery, but rejects duplicate fields.
func parseForm(text string) (values, error) {
	in := values{}
	for pair := range strings.SplitSeq(text, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		if err == nil {
			value, err = url.QueryUnescape(value)
		}
		if err != nil || strings.Contains(pair, ";") {
			return nil, fault.New(fault.InvalidRequest, "The body could not be parsed.")
		}
		if _, ok := in[name]; ok {
			return nil, fault.New(fault.InvalidRequest, "%.40q appears more than once.", name)
		}
		in[name] = value
	}
	return in, nil
}

var (
	errNoSecret      = fault.New(fault.InvalidClient, "This application must authenticate with its client_secret.")
	errAmbiguousAuth = fault.New(fault.InvalidRequest, "Send client credentials in the body or with HTTP Basic, not both.")
	errBadHeader     = fault.New(fault.InvalidRequest, "This endpoint only accepts HTTP Basic in the Authorization header.")
)

// client authenticates the application.
func (a *API) client(r *http.Request, in values) (account.Application, error) {
	id, secret := in["client_id"], in["client_secret"]
	basic := len(r.Header["Authorization"]) > 0
	if basic {
		user, password, ok := r.BasicAuth()
		if !ok || len(r.Header["Authorization"]) > 1 {
			return account.Application{}, errBadHeader
		}
		if secret != "" || id != "" && id != unescape(user) {
			return account.Application{}, errAmbiguousAuth
		}
		id, secret = unescape(user), unescape(password)
	}
	if id == "" {
		if basic {
			return account.Application{}, basicChallenge(errNoSecret)
		}
		return account.Application{}, missingClient(in)
	}
	attempt := ClientAttempt{limit.ClientNetwork(a.Address(r)), attemptName(id)}
	if wait := a.ClientAttempts.RetryAfter(attempt); secret != "" && wait > 0 {
		return account.Application{}, fault.TooManyRequests(limit.RetryAfterSeconds(wait))
	}
	app, err := a.OAuth.AuthenticateClient(r.Context(), id, secret)
	wrong := err != nil && fault.Wrap(err).Code == fault.InvalidClient
	if wrong && secret != "" {
		// Correct secrets are not counted, so a busy application is never delayed. Of
		// many concurrent wrong ones, those past the limit learn nothing.
		if _, wait, ok := a.ClientAttempts.Allow(attempt); !ok {
			return account.Application{}, fault.TooManyRequests(limit.RetryAfterSeconds(wait))
		}
		if err := a.ClientAttempts.Record(r.Context(), attempt); err != nil {
			return account.Application{}, err
		}
	}
	if wrong && secret == "" {
		err = errNoSecret
	}
	if wrong && basic {
		err = basicChallenge(fault.Wrap(err))
	}
	return app, err
}

// missingClient distinguishes a code exchange, where client_id is one more missing
// field, from other requests, which are not authenticated.
func missingClient(in values) error {
	if slices.Contains([]string{"authorization_code", "refresh_token"}, in["grant_type"]) {
		return missingParameter("client_id")
	}
	return errNoSecret
}

// basicChallenge adds the header that RFC 6749 requires if HTTP Basic was used.
func basicChallenge(e *fault.Error) error {
	with := *e
	with.Challenge = `Basic realm="Formulary", charset="UTF-8"`
	return &with
}

// unescape decodes the form encoding that RFC 6749 §2.3.1 requires inside HTTP Basic.
// Many clients omit it; our IDs and secrets are the same either way.
func unescape(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}

// attemptName limits the memory that unauthenticated clients can make us use.
func attemptName(clientID string) string {
	if _, ok := id.Parse(id.App, clientID); !ok {
		return "unknown"
	}
	return clientID
}
