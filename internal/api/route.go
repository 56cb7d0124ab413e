package api

import (
	"net/http"
	"net/url"
	"path"
	"strings"

	"formulary/internal/fault"
	"formulary/internal/id"
)

// route is a path with its operations by method.
type route struct {
	api     *API
	path    string
	methods map[string]*operation
	allow   string // value of the Allow header
	cors    bool
}

// newMux finds the route of a request. Patterns have no method, for two reasons:
// ServeMux responds to wrong methods in plain text, and a pattern for all other methods
// would conflict with overlapping paths such as …/responses/export and
// …/responses/{response}.
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

// isPublic reports whether the sites that the owner of a form allows may use the path.
func (rt *route) isPublic() bool { return rt.path == publicPath || rt.path == uploadPath }

// ServeHTTP finds and runs the operation, and writes its result.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !isCanonical(r.URL) {
		a.unknownPath(w, r)
		return
	}
	a.mux.ServeHTTP(w, r)
}

// isCanonical reports whether ServeMux would leave the path unchanged. It redirects
// others, which would hide mistakes of clients. No parameter contains an escaped slash.
func isCanonical(u *url.URL) bool {
	if u.RawPath == "" {
		return path.Clean(u.Path) == u.Path
	}
	return path.Clean(u.RawPath) == u.RawPath && !strings.Contains(strings.ToLower(u.RawPath), "%2f")
}

// unknownPath handles requests that match no route.
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
	if !id.IsStorable(r.URL.Path) {
		return fault.NotFound
	}
	if op := rt.methods[r.Method]; op != nil {
		return op.answer(rt.api, w, r)
	}
	if r.Method == http.MethodOptions && (rt.cors || rt.isPublic()) {
		if rt.isPublic() {
			if err := rt.api.allowOrigin(w, r); err != nil {
				return err
			}
		}
		preflight(w, rt.allow)
		return nil
	}
	return &fault.Error{Code: fault.MethodNotAllowed, Message: "Method not allowed. Use " + rt.allow + ".", Allow: rt.allow}
}

// allowAnyOrigin lets pages of every site read the response. The API ignores cookies,
// so a page gets nothing that its own server could not get.
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
	exposedHeaders  = []string{"Accept-Ranges, Content-Disposition, Content-Range, ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id"}
)

func preflight(w http.ResponseWriter, allow string) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Access-Control-Allow-Methods", allow)
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, If-Match, Idempotency-Key, Last-Event-ID, Content-Disposition, Range, Upload-Offset")
	h.Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusNoContent)
}
