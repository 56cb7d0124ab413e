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

// notHTTP are the answers of net/http to what is not HTTP, before the service
// hears of it.
var notHTTP = []int{http.StatusBadRequest, http.StatusExpectationFailed, http.StatusRequestHeaderFieldsTooLarge, http.StatusNotImplemented, http.StatusHTTPVersionNotSupported}

// alsoHers are pages that do nothing for somebody else without saying so: she
// may be connected to the same application, and nothing chosen is nothing done.
var alsoHers = []string{"POST /connections/{id}/disconnect", "POST /forms/{id}/responses/delete"}

// check says what is wrong with an answer.
func (w *world) check(r *request, a answer) error {
	if a.header.Get("X-Request-Id") == "" { // which the service gives to everything
		if (r.odd || r.cut) && (a.status == 0 || slices.Contains(notHTTP, a.status) || r.method == http.MethodOptions) {
			return nil
		}
		return fmt.Errorf("the service did not answer (%v)", a.err)
	}
	if a.err != nil && !r.odd && !r.cut {
		return a.err
	}
	if a.status >= 500 && !(a.status == http.StatusNotImplemented && r.path[len(r.path)-1] == "oembed") { // as oEmbed has it for formats
		return errors.New("the service's fault")
	}
	if a.status == 499 && !r.cut {
		return errors.New("the service believes that the caller left")
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

// checkOwner looks for what belongs to somebody else, and at answers that depend
// on who asks.
func (w *world) checkOwner(r *request, a answer) error {
	for _, c := range []*caller{w.ada, w.bea, w.cleo, w.dora} {
		if c.mark != r.as.mark && strings.Contains(a.text, c.mark) {
			return fmt.Errorf("%s sees what belongs to %s", r.as.name, c.name)
		}
	}
	if !r.secured || r.moved {
		return nil
	}
	want := 0
	switch {
	case r.as.header != "Authorization" && r.as.header != "" || r.as == w.nobody && strings.Contains(r.name, " "):
		// A page: strangers are sent to sign in, and of others' forms there are none.
		if (r.as == w.nobody || r.as.mark == "") && a.status < 400 && a.status != http.StatusSeeOther {
			return fmt.Errorf("%s gets in", r.as.name)
		}
		if r.as == w.beaPages && strings.Contains(r.name, "{id}") && !slices.Contains(alsoHers, r.name) && a.status < 400 {
			return errors.New("somebody else's, and it is there")
		}
	case r.as.mark == "":
		want = http.StatusUnauthorized
	case r.as == w.small[r.scope]:
		want = http.StatusForbidden
	case r.as == w.bea && slices.Contains(r.path, "forms") && len(r.params) > 0:
		if a.status < 400 {
			return errors.New("somebody else's, and it is there")
		}
	}
	if want != 0 && a.status != want {
		return fmt.Errorf("%s gets %d, not %d", r.as.name, a.status, want)
	}
	return nil
}

// checkDocument holds the answer against the document, if it is one for
// programs.
func (w *world) checkDocument(r *request, a answer, kind string) error {
	u, err := url.ParseRequestURI(r.target())
	if err != nil {
		return fmt.Errorf("the service understood an address that is none: %w", err)
	}
	pages := u.Path == "/.well-known/security.txt" || u.Path == "/.well-known/change-password"
	programs := strings.HasPrefix(u.Path, "/api/") || u.Path == "/api" || strings.HasPrefix(u.Path, "/.well-known/") && !pages ||
		strings.HasPrefix(u.Path, "/f/") && r.method == http.MethodPost && strings.HasPrefix(r.get("Content-Type"), "application/json")
	if !programs || r.method == http.MethodOptions || r.cut {
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
		return fmt.Errorf("no operation, and %d", a.status)
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
