package web_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
	"formulary/internal/web"
)

// Paths that cannot be those of anything are not found, before a page looks for it.
func TestImpossiblePaths(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		b := signedIn(s, ada)
		parameters := regexp.MustCompile(`\{[a-z]+(\.\.\.)?\}`)
		tried := 0
		for _, r := range web.Routes() {
			method, path, _ := strings.Cut(r.Pattern, " ")
			list := []string{"x%00", "%ff"} // no database can store them
			if strings.Contains(path, "/forms/{id}") {
				list = append(list, "x", "frm_x", "frm_01K9Z8M7Q3E4R5T6Y7V8W9X0A1", "%3fa=b", "a%0d%0ab")
			}
			for _, odd := range list {
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
