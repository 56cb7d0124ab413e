package api

import (
	"net/http"
	"net/url"
	"path"
	"strings"

	"formulary/internal/fault"
)

// route is a path with the operations of its methods.
type route struct {
	api     *API
	path    string
	methods map[string]*operation
	allow   string // the methods, as the Allow header has them
	cors    bool
}

// newMux finds the route of a request. Patterns have no method: for a wrong one, ServeMux
// would answer in plain text, and a pattern that takes the rest of the methods conflicts
// with those of paths that overlap, such as …/responses/export and …/responses/{response}.
func (a *API) newMux() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("/", a.unknownPath)
	routes := map[string]*route{}
	for _, op := range a.operations {
		found := routes[op.Path]
		if found == nil {
			found = &route{api: a, path: op.Path, methods: map[string]*operation{}}
			routes[op.Path] = found
			mux.Handle(op.Path, found)
		}
		found.add(op)
	}
	return mux
}

func (rt *route) add(op *operation) {
	rt.methods[op.Method] = op
	if op.Method == http.MethodGet {
		rt.methods[http.MethodHead] = op
	}
	rt.cors = rt.cors || op.CORS
	var allowed []string
	for _, method := range []string{"GET", "HEAD", "POST", "PATCH", "DELETE"} {
		if rt.methods[method] != nil {
			allowed = append(allowed, method)
		}
	}
	rt.allow = strings.Join(allowed, ", ")
}

// ServeHTTP finds the operation, runs it, and writes what it returns.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !isCanonical(r.URL) {
		a.unknownPath(w, r)
		return
	}
	a.mux.ServeHTTP(w, r)
}

// isCanonical reports whether a path is written as ServeMux has it. For others ServeMux
// redirects to what it takes for the same path, which would hide a client's mistake. An
// escaped slash would be part of a parameter, and no parameter has one.
func isCanonical(u *url.URL) bool {
	if u.RawPath == "" {
		return path.Clean(u.Path) == u.Path
	}
	return path.Clean(u.RawPath) == u.RawPath && !strings.Contains(strings.ToLower(u.RawPath), "%2f")
}

// unknownPath answers requests that no route takes.
func (a *API) unknownPath(w http.ResponseWriter, r *http.Request) {
	r.Pattern = "none"
	allowAnyOrigin(w, r, strings.HasPrefix(r.URL.Path, "/api/v1/"))
	a.WriteError(w, r, fault.New(fault.UnknownPath, "No endpoint exists at this path."))
}

func (rt *route) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := rt.serve(w, r); err != nil {
		rt.api.WriteError(w, r, err)
	}
}

func (rt *route) serve(w http.ResponseWriter, r *http.Request) error {
	allowAnyOrigin(w, r, rt.cors)
	if op := rt.methods[r.Method]; op != nil {
		return op.answer(rt.api, w, r)
	}
	if r.Method == http.MethodOptions && (rt.cors || rt.path == publicPath) {
		if rt.path == publicPath {
			if err := rt.api.allowOrigin(w, r); err != nil {
				return err
			}
		}
		preflight(w, rt.allow)
		return nil
	}
	return &fault.Error{Code: fault.MethodNotAllowed, Message: "Method not allowed. Use " + rt.allow + ".", Allow: rt.allow}
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
