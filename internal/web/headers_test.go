package web

import (
	"net/http"
	"slices"
	"testing"
)

// These pages may be compressed. Before you add one, make sure that it has no secret for
// any visitor.
func TestCompressibleRoutes(t *testing.T) {
	want := []string{"GET /docs/api", "GET /docs/api/{operation}"}
	var got []string
	for _, r := range (&Handler{}).routes() {
		if compressible(r.pattern) {
			got = append(got, r.pattern)
			if r.access != anyone {
				t.Errorf("%s needs a session", r.pattern)
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q may be compressed, want %q", got, want)
	}
}

// Only windows that are part of an application's flow stay connected to their opener.
func TestOpenerPolicy(t *testing.T) {
	for path, want := range map[string]string{
		"/": "same-origin", "/forms/frm_x/build": "same-origin", "/account": "same-origin", "/applications/app_x": "same-origin",
		"/reset": "same-origin", "/setup": "same-origin", "/docs/api": "same-origin", "/nonsense": "same-origin", "/authorizex": "same-origin",
		"/authorize": "unsafe-none", "/signin": "unsafe-none", "/signup": "unsafe-none", "/f/frm_x": "unsafe-none", "/f/frm_x/done": "unsafe-none",
	} {
		h := http.Header{}
		setSecurityHeaders(h, path)
		if got := h.Get("Cross-Origin-Opener-Policy"); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}
