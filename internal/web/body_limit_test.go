package web_test

import (
	"net/url"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

// Each route has its own limit for bodies: forms and drafts need more than other pages.
func TestBodyLimits(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		_, id := publishAsAda(t, s, `{"title": "T", "fields": [{"key": "a", "kind": "long_text"}]}`)
		b := s.Browser()
		b.SignIn(ada)
		const some, much = 70 << 10, 1<<20 + 1
		post := func(path string, n int) int {
			return b.Post(path, url.Values{"a": {strings.Repeat("x", n)}}).StatusCode
		}
		for _, path := range []string{"/signin", "/account/profile", "/forms/" + id + "/share"} {
			if got := post(path, some); got != 413 {
				t.Errorf("%s accepts %d bytes: %d", path, some, got)
			}
		}
		for _, path := range []string{"/f/" + id, "/forms/" + id + "/preview"} {
			if got := post(path, some); got == 413 {
				t.Errorf("%s refuses %d bytes", path, some)
			}
			if got := post(path, much); got != 413 {
				t.Errorf("%s accepts %d bytes: %d", path, much, got)
			}
		}
		draft := func(n int) string {
			return `{"title": "T", "language": "en", "fields": [], "description": "` + strings.Repeat("x", n) + `"}`
		}
		// Drafts may have mistakes; published forms may not.
		if got := b.Put("/forms/"+id+"/draft", "2", draft(some)); got.StatusCode != 200 {
			t.Errorf("a draft of %d bytes: %d %s", some, got.StatusCode, got.Text)
		}
		if got := b.Post("/forms/"+id+"/publish", nil); got.StatusCode != 422 {
			t.Errorf("publishing it: %d", got.StatusCode)
		}
		if got := b.Put("/forms/"+id+"/draft", "2", draft(much)); got.StatusCode != 400 {
			t.Errorf("a draft of %d bytes: %d %s", much, got.StatusCode, got.Text)
		}
	})
}
