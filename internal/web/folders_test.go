package web_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

// TestFolders moves forms to folders, renames and removes folders, as their owner and as
// somebody else.
func TestFolders(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		s.AddUser("eve@example.org")
		token := s.PersonalToken(ada, "Script", "forms:read", "forms:write")
		b, eve := s.Browser(), s.Browser()
		b.SignIn(ada)
		eve.SignIn("eve@example.org")
		create := func(fields url.Values) string {
			return formPath.FindStringSubmatch(b.Post("/forms", fields).Header.Get("Location"))[1]
		}
		first := create(url.Values{"title": {"First"}})
		create(url.Values{"title": {"Second"}, "folder": {"Work & play"}})
		create(url.Values{"title": {"Third"}})
		move := func(who *clitest.Browser, form, folder string, status int) {
			t.Helper()
			if p := who.Post("/forms/"+form+"/folder", url.Values{"folder": {folder}}); p.StatusCode != status {
				t.Errorf("move to %q: %d", folder, p.StatusCode)
			}
		}
		list := func(folder string) string {
			var titles []string
			for _, m := range regexp.MustCompile(`dir="auto">(\w+)</a></h2>`).FindAllStringSubmatch(b.Get("/?folder="+url.QueryEscape(folder)).Text, -1) {
				titles = append(titles, m[1])
			}
			return strings.Join(titles, " ")
		}
		before := s.Call("GET", "/api/v1/forms/"+first, token, "").Header.Get("ETag")
		move(b, first, " Work & play ", 303)
		move(b, first, "a\nb", 422)
		move(b, first, strings.Repeat("x", 61), 422)
		move(eve, first, "Mine", 404)
		if got := list("Work & play"); got != "Second First" {
			t.Errorf("folder: %q", got)
		}
		if got := list(""); got != "Third Second First" {
			t.Errorf("all forms: %q", got)
		}
		a := s.Call("GET", "/api/v1/forms?folder=Work+%26+play&per_page=1", token, "")
		if a.Body["total_items"] != 2.0 || !strings.Contains(a.Text, `"folder":"Work \u0026 play"`) && !strings.Contains(a.Text, `"folder":"Work & play"`) || !strings.Contains(a.Header.Get("Link"), "folder=Work") {
			t.Errorf("API: %s %s", a.Header.Get("Link"), a.Text)
		}
		// Moving is not a change of the form: an open builder can still save.
		if after := s.Call("GET", "/api/v1/forms/"+first, token, "").Header.Get("ETag"); after != before {
			t.Errorf("ETag %s, before %s", after, before)
		}
		// A copy is beside its original; a restored form is back in its folder.
		copied := formPath.FindStringSubmatch(b.Post("/forms/"+first+"/duplicate", nil).Header.Get("Location"))[1]
		b.Post("/forms/"+first+"/delete", nil)
		b.Post("/forms/"+first+"/restore", nil)
		for _, id := range []string{first, copied} {
			if got := s.Call("GET", "/api/v1/forms/"+id, token, "").String("folder"); got != "Work & play" {
				t.Errorf("%s is in %q", id, got)
			}
		}
		if p := eve.Post("/folders", url.Values{"from": {"Work & play"}, "folder": {"Mine"}}); p.StatusCode != 404 {
			t.Errorf("Eve renames a folder of Ada: %d", p.StatusCode)
		}
		if p := b.Post("/folders", url.Values{"from": {""}, "folder": {"Everything"}}); p.StatusCode != 404 {
			t.Errorf("rename no folder: %d", p.StatusCode)
		}
		if p := b.Post("/folders", url.Values{"from": {"Work & play"}, "folder": {"Work"}}); p.Header.Get("Location") != "/?folder=Work" {
			t.Errorf("rename: %d", p.StatusCode)
		}
		has(t, b.Get("/"), `href="/?folder=Work"`, `mini mini-plain look-0`, `.look-0{`)
		if p := b.Post("/folders", url.Values{"from": {"Work"}, "remove": {"1"}}); p.StatusCode != 303 || strings.Contains(b.Get("/").Text, "folder=Work") {
			t.Errorf("remove: %d", p.StatusCode)
		}
	})
}
