package api

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/limit"
	"formulary/internal/oauth"
	"formulary/internal/store"
)

// bearer returns the token in the Authorization header, the only place where it is
// accepted.
func bearer(headers []string) (string, error) {
	if len(headers) > 1 {
		return "", oauth.InvalidToken()
	}
	if len(headers) == 0 || strings.TrimSpace(headers[0]) == "" {
		return "", &fault.Error{Code: fault.NoAuthorization, Message: "Authorization header is missing", Challenge: "Bearer"}
	}
	kind, token, _ := strings.Cut(strings.TrimSpace(headers[0]), " ")
	if !strings.EqualFold(kind, "Bearer") {
		return "", &fault.Error{Code: fault.NotBearer, Message: "Authorization type is not Bearer", Challenge: "Bearer"}
	}
	return strings.TrimSpace(token), nil
}

// authorize authenticates the token, and checks that it has the scope, that the user's role in the
// space allows the same, and that the form may be used.
func (a *API) authorize(w http.ResponseWriter, r *http.Request, op *operation) (oauth.Principal, error) {
	token, err := bearer(r.Header["Authorization"])
	if err != nil {
		return oauth.Principal{}, err
	}
	caller, err := a.OAuth.Authenticate(r.Context(), token)
	if err != nil {
		return caller, err
	}
	if err := a.limitGrant(w, caller.RateKey()); err != nil {
		return caller, err
	}
	return caller, checkAccess(&caller, r, op)
}

// checkAccess checks what a valid token may do.
func checkAccess(caller *oauth.Principal, r *http.Request, op *operation) error {
	if op.Scope != "" && !caller.Scopes.Has(op.Scope) {
		return missingScope(op.Scope)
	}
	formID := ""
	if op.isOfForm() {
		formID = r.PathValue("id")
	}
	if err := caller.Access.Check(op.Scope, formID); err != nil {
		return err
	}
	if op.AllForms && caller.Access.Forms != nil {
		return errSomeForms
	}
	if op.WholeSpace {
		return caller.Access.Check(op.Scope, "")
	}
	return nil
}

var errSomeForms = fault.New(fault.MissingRole, "The access is limited to some forms of the space, and this would change others.")

// contextFor returns the context for the work of a request: it counts towards the account whose
// data it is about, and its changes are attributed to the caller.
func (a *API) contextFor(r *http.Request, c *oauth.Principal) context.Context {
	actor := store.Actor{
		Kind: store.ActorApplication, PersonID: c.User.ID, PersonName: c.User.DisplayName(),
		AppID: c.App.ID, AppName: cmp.Or(c.App.Name, c.Personal), Address: a.Address(r),
	}
	return store.ForAccount(store.WithActor(r.Context(), actor), c.Owner())
}

func missingScope(scope account.Scope) error {
	return &fault.Error{
		Code:      fault.MissingScope,
		Message:   fmt.Sprintf("The access token is missing the scope %s.", scope),
		Challenge: fmt.Sprintf(`Bearer error="insufficient_scope", scope=%q`, scope),
	}
}

// limitGrant counts a request against its grant or its user (see RateKey), so that more tokens do not mean more
// requests.
func (a *API) limitGrant(w http.ResponseWriter, grant string) error {
	if a.Tokens == nil {
		return nil
	}
	left, wait, ok := a.Tokens.Allow(grant)
	a.Tokens.SetHeader(w.Header(), "token", left, wait)
	if !ok {
		return fault.TooManyRequests(limit.RetryAfterSeconds(wait))
	}
	return nil
}

// statusOf returns the HTTP status of a request that ends with status or with err.
func statusOf(status int, err error) int {
	if err != nil {
		return fault.Wrap(err).Code.Status()
	}
	return status
}

// logRequest adds a finished request to the log of its application.
func (a *API) logRequest(c *oauth.Principal, w http.ResponseWriter, r *http.Request, status int, started time.Time) {
	if c.App.Owner == "" {
		return // without a valid token, the application is unknown
	}
	if status >= 500 && r.Context().Err() != nil {
		status = fault.ClientClosedRequest
	}
	a.Store.LogRequest(c.App.Owner, c.App.ID, store.RequestLogEntry{
		Method: r.Method, Path: r.URL.EscapedPath(), Status: int64(status), Took: a.Now().Sub(started), RequestID: w.Header().Get("X-Request-Id"), At: started,
	})
}
