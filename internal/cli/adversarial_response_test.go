package cli_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// protocolErrors are the statuses with which net/http itself rejects malformed
// requests, before a handler runs.
var protocolErrors = []int{http.StatusBadRequest, http.StatusExpectationFailed, http.StatusRequestHeaderFieldsTooLarge, http.StatusNotImplemented, http.StatusHTTPVersionNotSupported}

// harmlessRoutes succeed for a user who does not own the resource, without effect: she
// may be connected to the same application, and an empty selection deletes nothing.
var harmlessRoutes = []string{"POST /connections/{id}/disconnect", "POST /forms/{id}/responses/delete"}

// check returns what is wrong with the response to a request.
func (w *fixture) check(r *request, a httpResponse) error {
	isValidHTTP := !r.malformed && !r.truncated
	if a.header.Get("X-Request-Id") == "" { // the service sets it on every response
		isHTTPError := a.status == 0 || slices.Contains(protocolErrors, a.status) || r.method == http.MethodOptions
		if !isValidHTTP && isHTTPError {
			return nil
		}
		return fmt.Errorf("the request did not reach the service (%v)", a.err)
	}
	if a.err != nil && isValidHTTP {
		return a.err
	}
	// oEmbed defines 501 for unknown formats.
	isUnknownFormat := a.status == http.StatusNotImplemented && r.path[len(r.path)-1] == "oembed"
	if a.status >= 500 && !isUnknownFormat {
		return errors.New("internal server error")
	}
	if a.status == 499 && !r.truncated {
		return errors.New("the service reports that the client disconnected")
	}
	if err := w.checkOwner(r, a); err != nil {
		return err
	}
	kind := a.header.Get("Content-Type")
	if kind == "" && a.text != "" {
		return errors.New("no content type")
	}
	if policy := a.header.Get("Content-Security-Policy"); strings.HasPrefix(kind, "text/html") && !strings.Contains(policy, "default-src") {
		return fmt.Errorf("a page with the content security policy %q", policy)
	}
	return w.checkDocument(r, a, kind)
}

// checkOwner fails if the response contains data of another user, or if its status does
// not fit the caller's access.
func (w *fixture) checkOwner(r *request, a httpResponse) error {
	for _, c := range []*caller{w.ada, w.bea, w.cleo, w.dora} {
		if c.marker != r.as.marker && strings.Contains(a.text, c.marker) {
			return fmt.Errorf("%s gets data of %s", r.as.name, c.name)
		}
	}
	if !r.secured || r.skipAccessCheck {
		return nil
	}
	want := 0
	hasSession := r.as.header != "" && r.as.header != "Authorization"
	isRoute := strings.Contains(r.name, " ") // "GET /path"; operations have a name
	switch {
	case hasSession || r.as == w.anonymous && isRoute:
		// A page: anonymous callers are redirected to sign-in, and forms of other users
		// are not found.
		isSignedIn := r.as != w.anonymous && r.as.marker != ""
		if !isSignedIn && a.status < 400 && a.status != http.StatusSeeOther {
			return fmt.Errorf("%s gets access", r.as.name)
		}
		if r.as == w.beaBrowser && strings.Contains(r.name, "{id}") && !slices.Contains(harmlessRoutes, r.name) && a.status < 400 {
			return errors.New("access to another user's resource")
		}
	case r.as.marker == "":
		want = http.StatusUnauthorized
	case r.as == w.lackingScope[r.scope]:
		want = http.StatusForbidden
	case r.as == w.bea && slices.Contains(r.path, "forms") && len(r.params) > 0:
		if a.status < 400 {
			return errors.New("access to another user's resource")
		}
	}
	if want != 0 && a.status != want {
		return fmt.Errorf("%s gets %d, not %d", r.as.name, a.status, want)
	}
	return nil
}

// checkDocument validates the response against the OpenAPI document, if the request is
// one of the API.
func (w *fixture) checkDocument(r *request, a httpResponse, kind string) error {
	u, err := url.ParseRequestURI(r.target())
	if err != nil {
		return fmt.Errorf("the service accepted an invalid URL: %w", err)
	}
	isPage := u.Path == "/.well-known/security.txt" || u.Path == "/.well-known/change-password"
	isAPI := strings.HasPrefix(u.Path, "/api/") || u.Path == "/api" || strings.HasPrefix(u.Path, "/.well-known/") && !isPage ||
		strings.HasPrefix(u.Path, "/f/") && r.method == http.MethodPost && strings.HasPrefix(r.get("Content-Type"), "application/json")
	if !isAPI || r.method == http.MethodOptions || r.truncated {
		return nil
	}
	method := r.method
	if method == http.MethodHead {
		op := w.doc.Operation(http.MethodGet, u.Path)
		if op != nil && op.Responses.Status(a.status) == nil {
			return fmt.Errorf("the document has no status %d", a.status)
		}
		return nil
	}
	if w.doc.Operation(method, u.Path) == nil && a.status != http.StatusNotFound && a.status != http.StatusMethodNotAllowed {
		return fmt.Errorf("unknown operation answered with %d", a.status)
	}
	if err := w.doc.Check(method, u.Path, a.status, kind, []byte(a.text)); err != nil {
		return err
	}
	if a.status < 400 {
		return nil
	}
	var body struct {
		Code    int    `json:"errorCode"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal([]byte(a.text), &body); err != nil || body.Code/1000 != a.status || body.Message == "" {
		return fmt.Errorf("the error %d with the status %d (%v)", body.Code, a.status, err)
	}
	return nil
}
