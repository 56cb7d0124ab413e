// Package api is the interface for applications: /api/v1, whose operations are
// typed and make the OpenAPI document, and /api/oauth2 beside it.
package api

import (
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"formulary/internal/compress"
	"formulary/internal/fault"
	"formulary/internal/limit"
	"formulary/internal/oauth"
	"formulary/internal/store"
)

// Config is what the API is made of.
type Config struct {
	Store   *store.Store
	OAuth   *oauth.Service
	BaseURL string
	Log     *slog.Logger
	Now     func() time.Time
	// Tokens limits the requests with the tokens of each grant; nil: no limit.
	Tokens *limit.Limiter[string]
	// Guesses limits wrong client secrets by address and application.
	Guesses *limit.Limiter[ClientAttempt]
	// Address is where a request comes from.
	Address func(*http.Request) netip.Addr
	// Submissions limits what one address sends to forms; nil: no limit.
	Submissions *limit.Limiter[netip.Addr]
}

// ClientAttempt is who tries secrets of which application.
type ClientAttempt struct {
	Address netip.Addr
	Client  string
}

// API answers everything under /api/ and the metadata document.
type API struct {
	Config
	operations     []*operation
	static         map[string]*route
	patterns       []*route
	document       func() []byte
	cachedDocument func() *compress.Content
	formPages      *store.Cache[formPageKey, reply]
	users          *store.Cache[[2]string, reply] // by owner and token

	introspected *store.Cache[[2]string, []byte] // by application and hash of the token
}

// Pages have the files that browsers and security researchers look for.
const (
	securityText   = "/.well-known/security.txt"
	changePassword = "/.well-known/change-password"
)

// Handles says whether a request is for a program to answer, not for a page.
func Handles(r *http.Request) bool {
	path := r.URL.Path
	if path == securityText || path == changePassword {
		return false // among the pages
	}
	if path == "/api" || strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/.well-known/") {
		return true
	}
	// A public form takes answers from its page, and as JSON from elsewhere;
	// browsers ask first whether they may send that.
	return strings.HasPrefix(path, "/f/") && (r.Method == http.MethodOptions ||
		r.Method == http.MethodPost && !isFormEncoded(r.Header.Get("Content-Type")))
}

// isFormEncoded says whether a body is what a page of ours sends.
func isFormEncoded(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	return strings.EqualFold(strings.TrimSpace(kind), "application/x-www-form-urlencoded")
}

// route is a path with what its methods do.
type route struct {
	path     string
	segments []string // "{}" stands for a parameter
	methods  map[string]*operation
	allow    string
	cors     bool
}

// New builds the API from its operations.
func New(c Config) *API {
	a := &API{
		Config: c, static: map[string]*route{},
		formPages: store.NewCacheWithCounts[formPageKey, reply](c.Store, maxFormPages),
		users:     store.NewCache[[2]string, reply](c.Store, maxUsers),

		introspected: store.NewCache[[2]string, []byte](c.Store, maxUsers),
	}
	a.operations = a.table()
	for _, op := range a.operations {
		op.zipped = compressible(op.ID)
		a.add(op)
	}
	// Nobody reads it while the service starts.
	a.document = sync.OnceValue(func() []byte { return buildDocument(a.operations) })
	a.cachedDocument = sync.OnceValue(func() *compress.Content { return compress.Keep(a.document()) })
	return a
}

// Document is the OpenAPI document.
func (a *API) Document() []byte { return a.document() }

// table is every operation there is, in the order of the reference.
func (a *API) table() []*operation {
	return []*operation{
		newOperation(a.me()),
		newOperation(a.listForms()),
		newOperation(a.createForm()),
		newOperation(a.readForm()),
		newOperation(a.changeForm()),
		newOperation(a.deleteForm()),
		newOperation(a.publishForm()),
		newOperation(a.closeForm()),
		newOperation(a.openForm()),
		newOperation(a.duplicateForm()),
		newOperation(a.formSchema()),
		newOperation(a.listVersions()),
		newOperation(a.readVersion()),
		newOperation(a.listResponses()),
		newOperation(a.addResponse()),
		newOperation(a.deleteResponses()),
		a.exportResponses(),
		newOperation(a.readResponse()),
		newOperation(a.changeResponse()),
		newOperation(a.deleteResponse()),
		newOperation(a.summary()),
		a.forOrigins(newOperation(a.submitPublicly())),
		a.openAPI(),
		a.token(),
		a.refresh(),
		a.revoke(),
		a.introspect(),
		a.metadata(),
	}
}

func (a *API) add(op *operation) {
	var r *route
	for _, known := range append(a.patterns, a.static[op.Path]) {
		if known != nil && known.path == op.Path {
			r = known
		}
	}
	if r == nil {
		r = &route{path: op.Path, methods: map[string]*operation{}}
		for segment := range strings.SplitSeq(op.Path, "/") {
			if strings.HasPrefix(segment, "{") {
				segment = "{}"
			}
			r.segments = append(r.segments, segment)
		}
		if strings.Contains(op.Path, "{") {
			a.patterns = append(a.patterns, r)
		} else {
			a.static[op.Path] = r
		}
	}
	r.methods[op.Method] = op
	r.cors = r.cors || op.CORS
	var methods []string
	for _, m := range []string{"GET", "POST", "PATCH", "DELETE"} {
		if r.methods[m] != nil {
			methods = append(methods, m)
			if m == "GET" {
				methods = append(methods, "HEAD")
			}
		}
	}
	r.allow = strings.Join(methods, ", ")
}

// maxSegments is more than any path of ours has.
const maxSegments = 12

// find returns the route of a path and the values of its parameters.
func (a *API) find(path string) (*route, []string) {
	if r := a.static[path]; r != nil {
		return r, nil
	}
	var room [maxSegments]string // without a trip to the heap
	segments := room[:0]
	for segment := range strings.SplitSeq(path, "/") {
		if len(segments) == maxSegments {
			return nil, nil
		}
		segments = append(segments, segment)
	}
next:
	for _, r := range a.patterns {
		if len(r.segments) != len(segments) {
			continue
		}
		for i, want := range r.segments {
			if want != segments[i] && (want != "{}" || segments[i] == "") {
				continue next
			}
		}
		values := make([]string, 0, 2)
		for i, want := range r.segments {
			if want == "{}" {
				values = append(values, segments[i])
			}
		}
		return r, values
	}
	return nil, nil
}

// ServeHTTP finds the operation, runs it, and writes what it returns.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := a.serve(w, r); err != nil {
		a.WriteError(w, r, err)
	}
}

func (a *API) serve(w http.ResponseWriter, r *http.Request) error {
	found, values := a.find(r.URL.Path)
	// A slash that was written otherwise is part of a name, and no name has one.
	if found == nil || r.URL.RawPath != "" && strings.Contains(strings.ToLower(r.URL.RawPath), "%2f") {
		r.Pattern = "none"
		allowAnyOrigin(w, r, strings.HasPrefix(r.URL.Path, "/api/v1/"))
		return fault.New(fault.UnknownPath, "No endpoint exists at this path.")
	}
	r.Pattern = found.path
	allowAnyOrigin(w, r, found.cors)
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	op := found.methods[method]
	switch {
	case op != nil:
		return op.answer(a, w, r, values)
	case method == http.MethodOptions && found.cors:
		preflight(w, found.allow)
		return nil
	case method == http.MethodOptions && found.path == publicPath:
		if err := a.allowOrigin(w, r, values[0]); err != nil {
			return err
		}
		preflight(w, found.allow)
		return nil
	default:
		return &fault.Error{Code: fault.MethodNotAllowed, Message: "Method not allowed. Use " + found.allow + ".", Allow: found.allow}
	}
}

// allowAnyOrigin opens an answer to pages of every site. No cookie counts here,
// so nothing is given that the page's own code could not get anyway.
func allowAnyOrigin(w http.ResponseWriter, r *http.Request, open bool) {
	if !open {
		return
	}
	h := w.Header()
	h["Access-Control-Allow-Origin"] = anyOriginHeader
	if len(r.Header["Origin"]) > 0 {
		h["Access-Control-Expose-Headers"] = exposedHeaders
	}
}

var (
	anyOriginHeader = []string{"*"}
	exposedHeaders  = []string{"ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id"}
)

func preflight(w http.ResponseWriter, allow string) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Access-Control-Allow-Methods", allow)
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, If-Match, Idempotency-Key")
	h.Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusNoContent)
}
