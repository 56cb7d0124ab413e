package api_test

import (
	"strings"
	"testing"
)

// The rate limit comes before the body: rejected requests cost only their headers, and
// unreadable bodies count too. Applications have a separate limit.
func TestSubmissionLimit(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		path := w.openForm(w.ada, `{"title": "T", "fields": [{"key": "a", "kind": "short_text"}]}`)
		public := "/f/" + strings.TrimPrefix(path, "/api/v1/forms/")
		for _, c := range []struct {
			body, limit string
			code        int
		}{
			{`{"answers": {}}`, `"respondent";r=1;t=0`, 0},
			{`{"answers": {`, `"respondent";r=0;t=0`, 400002},
			{`{"answers": {`, `"respondent";r=0;t=`, 429001},
			{`{"answers": {}}`, `"respondent";r=0;t=`, 429001},
		} {
			a := w.Call("POST", public, "", c.body)
			w.expectCode(c.body, a, c.code)
			if got := a.Header.Get("RateLimit"); !strings.HasPrefix(got, c.limit) {
				t.Errorf("%s: RateLimit is %s, want %s", c.body, got, c.limit)
			}
			if got := a.Header.Get("RateLimit-Policy"); got != `"respondent";q=2;w=60` {
				t.Errorf("%s: RateLimit-Policy is %s", c.body, got)
			}
			if (a.Header.Get("Retry-After") != "") != (c.code == 429001) {
				t.Errorf("%s: Retry-After is %q", c.body, a.Header.Get("Retry-After"))
			}
		}
		a := w.Call("POST", path+"/responses", w.ada, `{"answers": {}}`)
		w.expectCode("an application", a, 0)
		if got := a.Header.Get("RateLimit"); !strings.HasPrefix(got, `"token";`) {
			t.Errorf("an application: RateLimit is %s", got)
		}
	}, "--rate-per-respondent=2")
}
