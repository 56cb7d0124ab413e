package web_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
	"formulary/internal/web"
)

// No page looks for an ID that no database can store.
func TestPathsNoDatabaseStores(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		b := signedIn(s, ada)
		parameters := regexp.MustCompile(`\{[a-z]+(\.\.\.)?\}`)
		tried := 0
		for _, r := range web.Routes() {
			method, path, _ := strings.Cut(r.Pattern, " ")
			for _, odd := range []string{"x%00", "%ff"} {
				target := parameters.ReplaceAllString(path, odd)
				if target == path {
					continue
				}
				tried++
				switch method {
				case "GET":
					status(t, r.Pattern, b.Get(target), 404)
				case "PUT":
					status(t, r.Pattern, b.Put(target, "1", "{}"), 404)
				default:
					status(t, r.Pattern, b.Post(target, url.Values{}), 404)
				}
			}
		}
		if tried < 100 {
			t.Errorf("only %d requests", tried)
		}
	})
}
