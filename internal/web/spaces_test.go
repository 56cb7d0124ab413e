package web_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

var (
	spaceAddress   = regexp.MustCompile(`^/spaces/(spc_[a-z0-9]{26})`)
	personAddress  = regexp.MustCompile(`/members/(usr_[a-z0-9]{26})/remove"><button[^>]*aria-label="Remove: ([^"]*)"`)
	invitationLink = regexp.MustCompile(`/invitation\?token=fmi_[A-Za-z0-9_-]+`)
)

// signedIn adds a user and returns their browser.
func signedIn(s *clitest.Service, email string) *clitest.Browser {
	s.AddUser(email)
	b := s.Browser()
	b.SignIn(email)
	return b
}

// newSpace creates a shared space as the user of a browser, and returns its path.
func newSpace(t *testing.T, b *clitest.Browser, name string) string {
	t.Helper()
	p := b.Post("/spaces", url.Values{"name": {name}})
	status(t, "create a space", p, 303)
	return "/spaces/" + spaceAddress.FindStringSubmatch(p.Header.Get("Location"))[1]
}

// newLink creates an invitation link for a role.
func newLink(t *testing.T, b *clitest.Browser, space, role string) string {
	t.Helper()
	p := b.Post(space+"/invitations", url.Values{"role": {role}, "link": {"1"}})
	status(t, "create a link", p, 200)
	return invitationLink.FindString(p.Text)
}

// accept accepts an invitation.
func accept(b *clitest.Browser, link string) clitest.Page {
	_, token, _ := strings.Cut(link, "token=")
	return b.Post("/invitation", url.Values{"token": {token}})
}

// memberIDs returns the IDs of the members by name, as an owner sees them.
func memberIDs(b *clitest.Browser, space string) map[string]string {
	list := map[string]string{}
	for _, m := range personAddress.FindAllStringSubmatch(b.Get(space).Text, -1) {
		list[m[2]] = m[1]
	}
	return list
}

func lacks(t *testing.T, p clitest.Page, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(p.Text, text) {
			t.Errorf("%s has %q", p.Request.URL.Path, text)
		}
	}
}

func TestSpaces(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		a, b := signedIn(s, ada), signedIn(s, bob)
		home := a.Get("/")
		has(t, home, `<a href="/spaces">Spaces</a>`)
		lacks(t, home, "space-menu")
		problem(t, "no name", a.Post("/spaces", url.Values{"name": {" "}}))
		space := newSpace(t, a, "Team <1>")
		has(t, a.Get(space), "<h1>Team &lt;1&gt;</h1>", ada)
		has(t, a.Get("/"), "space-menu", `<span class="space-name">Team &lt;1&gt;</span>`, `action="`+space+`/switch"`, `<a href="`+space+`">Members and settings</a>`)
		status(t, "a form of the space", a.Post("/forms", url.Values{"title": {"Survey"}}), 303)
		has(t, a.Get("/"), "Survey")

		// The own space is another list, and one of somebody else is not there.
		own := regexp.MustCompile(`action="(/spaces/spc_\w+)/switch"`).FindStringSubmatch(a.Get("/spaces").Text)[1]
		status(t, "switch", a.Post(own+"/switch", nil), 303)
		lacks(t, a.Get("/"), "Survey", "Members and settings")
		has(t, a.Get("/spaces"), `href="`+space+`" aria-label="Members and settings: Team &lt;1&gt;"`)
		for _, path := range []string{space, "/spaces/spc_x", own} {
			missing := b.Get(path)
			status(t, "bob at "+path, missing, 404)
			has(t, missing, "or you may not have access to it")
		}
		status(t, "bob switches", b.Post(space+"/switch", nil), 404)

		status(t, "join", accept(b, newLink(t, a, space, "viewer")), 303)
		has(t, b.Get("/"), "Survey", `<span class="space-name">Team &lt;1&gt;</span>`)
		page := b.Get(space)
		has(t, page, "Leave space", "Viewer")
		lacks(t, page, "Invite people", "Delete space", "/remove")
		for _, path := range []string{space, space + "/delete", space + "/invitations", space + "/members/x/remove"} {
			denied := b.Post(path, url.Values{"name": {"Mine"}})
			status(t, "a viewer posts to "+path, denied, 403)
			has(t, denied, "Your role doesn’t allow this")
		}
		people := memberIDs(a, space)
		status(t, "change the role", a.Post(space+"/members/"+people[bob], url.Values{"role": {"editor"}}), 303)
		problem(t, "no role", a.Post(space+"/members/"+people[bob], url.Values{"role": {"guest"}}))
		status(t, "an editor creates", b.Post("/forms", url.Values{"title": {"Second"}}), 303)
		for _, path := range []string{"/members/usr_x", "/members/usr_x/remove", "/members/usr_01k9z8m7q3e4r5t6y7v8w9x0a1", "/members/usr_01k9z8m7q3e4r5t6y7v8w9x0a1/remove"} {
			status(t, "nobody at "+path, a.Post(space+path, url.Values{"role": {"viewer"}}), 404)
		}

		// The last owner stays, and the page says why.
		for _, p := range []clitest.Page{
			a.Post(space+"/leave", nil), a.Post(space+"/members/"+people[ada]+"/remove", nil),
			a.Post(space+"/members/"+people[ada], url.Values{"role": {"viewer"}}),
		} {
			problem(t, "the last owner", p)
			has(t, p, "would have no owner")
		}
		status(t, "rename", a.Post(space, url.Values{"name": {"Crew"}}), 303)
		has(t, a.Get(space), "<h1>Crew</h1>")
		status(t, "leave", b.Post(space+"/leave", nil), 303)
		lacks(t, b.Get("/"), "Survey")
		status(t, "after leaving", b.Get(space), 404)
		problem(t, "delete without the name", a.Post(space+"/delete", url.Values{"confirm": {"crew"}}))
		status(t, "delete", a.Post(space+"/delete", url.Values{"confirm": {"Crew"}}), 303)
		has(t, a.Get("/spaces?done=deleted"), "Space deleted.")
		status(t, "after the deletion", a.Get(space), 404)
	})
}

// A form that is opened in another space brings its space with it.
func TestSpaceOfForm(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		a := signedIn(s, ada)
		a.Post("/forms", url.Values{"title": {"Mine"}})
		space := newSpace(t, a, "Team")
		made := a.Post("/forms", url.Values{"title": {"Ours"}})
		status(t, "create", made, 303)
		own := regexp.MustCompile(`action="(/spaces/spc_\w+)/switch"`).FindStringSubmatch(a.Get("/spaces").Text)[1]
		a.Post(own+"/switch", nil)
		has(t, a.Get("/"), "Mine")
		form := strings.TrimSuffix(made.Header.Get("Location"), "/build")
		status(t, "open", a.Get(form+"/share"), 200)
		page := a.Get("/")
		has(t, page, "Ours")
		lacks(t, page, "Mine")
		status(t, "delete", a.Post(form+"/delete", nil), 303)
		has(t, a.Get("/"), "Recently deleted", "Ours")
		status(t, "restore", a.Post(form+"/restore", nil), 303)
		has(t, a.Get(space), "<h1>Team</h1>")
	})
}

// A form is shared with one person, who sees no other.
func TestShareFormWithPerson(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		a, b := signedIn(s, ada), signedIn(s, bob)
		form := func(title, folder string) string {
			p := a.Post("/forms", url.Values{"title": {title}, "folder": {folder}})
			return strings.TrimSuffix(p.Header.Get("Location"), "/build")
		}
		shared, private := form("Shared", "First"), form("Private", "Second")
		problem(t, "nobody", a.Post(shared+"/people", url.Values{"email": {"nobody@example.com"}, "role": {"editor"}}))
		problem(t, "a wrong role", a.Post(shared+"/people", url.Values{"email": {bob}, "role": {"owner"}}))
		problem(t, "herself", a.Post(shared+"/people", url.Values{"email": {ada}, "role": {"viewer"}}))
		status(t, "share", a.Post(shared+"/people", url.Values{"email": {bob}, "role": {"viewer"}}), 303)
		has(t, a.Get(shared+"/share?done=shared"), bob, "Stop sharing", "Form shared.")

		list := b.Get("/spaces")
		has(t, list, ada, "Forms that are shared with you")
		space := regexp.MustCompile(`action="(/spaces/spc_\w+)/leave"`).FindStringSubmatch(list.Text)[1]
		status(t, "switch", b.Post(space+"/switch", nil), 303)
		for _, path := range []string{"/", "/?search=e", "/?folder=First", "/?status=draft", "/?sort=title"} {
			page := b.Get(path)
			has(t, page, "Shared")
			lacks(t, page, "Private", "New form", "Second", "/duplicate")
		}
		status(t, "members of the space", b.Get(space), 403)
		status(t, "the other form", b.Get(private+"/responses"), 404)
		status(t, "responses", b.Get(shared+"/responses"), 200)
		status(t, "the builder", b.Get(shared+"/build"), 403)
		status(t, "a new form", b.Post("/forms", url.Values{"title": {"X"}}), 403)
		lacks(t, b.Get(shared+"/share"), `id="people"`, shared+"/close")
		person := regexp.MustCompile(`/people/(usr_\w+)/remove`).FindStringSubmatch(a.Get(shared + "/share").Text)[1]
		status(t, "change the role", a.Post(shared+"/people/"+person, url.Values{"role": {"editor"}}), 303)
		status(t, "the builder", b.Get(shared+"/build"), 200)
		status(t, "an editor shares", b.Post(shared+"/people", url.Values{"email": {bob}, "role": {"viewer"}}), 403)
		a.Post(private+"/delete", nil)
		lacks(t, b.Get("/"), "Private")
		status(t, "stop for no form", a.Post("/forms/x%00/people/"+person+"/remove", nil), 404)
		status(t, "stop", a.Post(shared+"/people/"+person+"/remove", nil), 303)
		status(t, "afterwards", b.Get(shared+"/responses"), 404)
		lacks(t, b.Get("/"), "Shared")

		// By a link, to whoever opens it first; then they leave.
		p := a.Post(shared+"/people", url.Values{"role": {"viewer"}, "link": {"1"}})
		link := invitationLink.FindString(p.Text)
		joined := accept(b, link)
		if joined.Header.Get("Location") != shared+"/responses" {
			t.Errorf("accepted: %d %s", joined.StatusCode, joined.Header.Get("Location"))
		}
		status(t, "responses", b.Get(shared+"/responses"), 200)
		status(t, "leave", b.Post(space+"/leave", nil), 303)
		status(t, "afterwards", b.Get(shared+"/responses"), 404)
	})
}
