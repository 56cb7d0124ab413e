package web_test

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

// homeStream finds the address of the stream of the home page.
var homeStream = regexp.MustCompile(`data-live="([^"]+)"`)

// Pages learn of new responses until their session ends, also of those that were stored after the
// page was rendered and before its stream began.
func TestLivePages(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		s.AddUser(bob)
		token := s.Token(ada, s.AddApp(ada, "https://x.example/"), "forms:read,forms:write,responses:write").Access
		id := publish(t, s, token, `{"title": "Trip", "fields": [{"key": "n", "kind": "number"}]}`)
		b, theirs := s.Browser(), s.Browser()
		b.SignIn(ada)
		theirs.SignIn(bob)
		status(t, "of another account", theirs.Get("/live?form="+id), 404)
		for _, impossible := range []string{"frm_0", "%00", "%ff", strings.Repeat("x", 4000)} {
			status(t, "of a form that cannot exist", b.Get("/live?form="+impossible), 404)
		}
		status(t, "without a session", s.Browser().Get("/live"), 303)
		has(t, b.Get("/forms/"+id+"/responses"), `data-live="/live?count=0&amp;form=`+id+`"`, `data-plural="{n} new responses"`)

		address := html.UnescapeString(homeStream.FindStringSubmatch(b.Get("/").Text)[1])
		home := s.Events(b.Client, address, "")
		one := s.Events(b.Client, "/live?count=0&form="+id, "")
		other := s.Events(theirs.Client, "/live", "")
		if a := s.Call("POST", "/f/"+id, "", `{"answers": {"n": 1}}`); a.StatusCode != 201 {
			t.Fatal(a.Text)
		}
		for _, live := range []*clitest.EventStream{home, one, s.Events(b.Client, address, ""), s.Events(b.Client, "/live?count=0&form="+id, "")} {
			if e := live.Response(); e.Kind != "change" || e.Data != "{}" {
				t.Errorf("got %+v", e)
			}
		}
		b.Post("/signout", url.Values{})
		if rest := one.WaitEnd(); len(rest) > 0 {
			t.Errorf("after the end of the session: %v", rest)
		}
		s.Command("", "user", "disable", bob)
		if rest := other.WaitEnd(); len(rest) > 0 {
			t.Errorf("in another account: %v", rest)
		}
	})
}
