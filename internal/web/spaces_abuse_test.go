package web_test

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

// Whoever signs up with the address of somebody else gets nothing that is shared with that address:
// it is confirmed first.
func TestShareWithUnconfirmedAddress(t *testing.T) {
	eachWithPeople(t, func(t *testing.T, s *people) {
		a, eve := s.Browser(), s.Browser()
		a.SignIn(ada)
		form := strings.TrimSuffix(a.Post("/forms", url.Values{"title": {"Plans"}}).Header.Get("Location"), "/build")
		status(t, "sign up", eve.Post("/signup", url.Values{"email": {"cfo@example.com"}, "password": {clitest.Password}}), 303)
		p := a.Post(form+"/people", url.Values{"email": {"cfo@example.com"}, "role": {"viewer"}})
		status(t, "share", p, 303)
		if !strings.Contains(p.Header.Get("Location"), "done=invited") {
			t.Errorf("shared at once: %s", p.Header.Get("Location"))
		}
		status(t, "eve", eve.Get(form+"/responses"), 404)
		// The owner of the mailbox gets the link.
		link := s.one("cfo@example.com", "Invitation to the form “Plans”").link(t)
		status(t, "accept", accept(eve, link), 303)
		status(t, "afterwards", eve.Get(form+"/responses"), 200)
	}, "--signup=open")
}

// One person cannot have mails sent to any number of addresses, however many networks and spaces
// they use.
func TestInvitationsOfOnePerson(t *testing.T) {
	eachWithPeople(t, func(t *testing.T, s *people) {
		a := s.Browser()
		a.SignIn(ada)
		space := newSpace(t, a, "Team")
		form := strings.TrimSuffix(a.Post("/forms", url.Values{"title": {"Plans"}}).Header.Get("Location"), "/build")
		s.AddUser(bob)
		invited := 0
		for i := range 220 {
			path, email := space+"/invitations", "p"+strconv.Itoa(i)+"@example.com"
			if i%2 == 1 {
				path, email = form+"/people", bob // asks whether the address has an account
			}
			if p := a.PostAs(t, "198.51."+strconv.Itoa(i)+".1", path, url.Values{"email": {email}, "role": {"viewer"}}); p.StatusCode != 429 {
				invited++
			}
		}
		// The allowance refills a little while the test runs.
		if invited < 200 || invited > 202 {
			t.Errorf("%d invitations of one person", invited)
		}
		status(t, "a link", a.Post(space+"/invitations", url.Values{"link": {"1"}, "role": {"viewer"}}), 200)
	})
}

// The link of somebody whom an administrator has disabled lets nobody in.
func TestInvitationOfDisabledOwner(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		a, b := signedIn(s, ada), signedIn(s, bob)
		link := newLink(t, a, newSpace(t, a, "Team"), "owner")
		status(t, "before", b.Get(link), 200)
		s.Command("", "user", "disable", ada)
		status(t, "look", b.Get(link), 400)
		status(t, "accept", accept(b, link), 400)
		s.Command("", "user", "enable", ada)
		status(t, "enabled again", accept(b, link), 303)
	})
}

// A forged form does not make the space an owner of itself, after which the last person could
// leave.
func TestSpaceAsItsOwner(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		a := signedIn(s, ada)
		space := newSpace(t, a, "Team")
		person := "usr_" + regexp.MustCompile(`spc_(\w+)`).FindStringSubmatch(space)[1]
		status(t, "forged", a.Post(space+"/members/"+person, url.Values{"role": {"owner"}}), 404)
		problem(t, "the last owner", a.Post(space+"/leave", nil))
	})
}

// A guest's stream of all shared forms ends when these change: it says nothing of a form that is
// no longer shared.
func TestLiveStreamOfGuest(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		a, b := signedIn(s, ada), signedIn(s, bob)
		forms := make([]string, 2)
		for i := range forms {
			forms[i] = strings.TrimSuffix(a.Post("/forms", url.Values{"title": {"Survey"}, "questions": {"Name"}}).Header.Get("Location"), "/build")
			status(t, "publish", a.Post(forms[i]+"/publish", nil), 303)
			status(t, "share", a.Post(forms[i]+"/people", url.Values{"email": {bob}, "role": {"viewer"}}), 303)
		}
		b.Get(forms[0] + "/responses") // enters the space
		stream := s.Events(b.Client, "/live", "")
		person := regexp.MustCompile(`/people/(usr_\w+)/remove`).FindStringSubmatch(a.Get(forms[0] + "/share").Text)[1]
		status(t, "stop", a.Post(forms[0]+"/people/"+person+"/remove", nil), 303)
		if got := s.Call("POST", "/f/"+strings.TrimPrefix(forms[0], "/forms/"), "", `{"answers": {"name": "Eve"}}`); got.StatusCode != 201 {
			t.Fatal(got.Text)
		}
		if rest := stream.WaitEnd(); len(rest) > 0 {
			t.Errorf("after the end of the share: %v", rest)
		}
	})
}

// Hostile titles and names stay text on the page and in the file of the audit log.
func TestAuditOfHostileText(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		a := signedIn(s, ada)
		status(t, "name", a.Post("/account/profile", url.Values{"name": {"@SUM(A1)"}, "language": {"en"}, "timezone": {"UTC"}}), 303)
		space := newSpace(t, a, `=HYPERLINK("https://evil.example")`)
		for _, title := range []string{"<img src=x onerror=alert(1)>", "-2+3", "Order\u202edeteled\u2066"} {
			form := strings.TrimSuffix(a.Post("/forms", url.Values{"title": {title}}).Header.Get("Location"), "/build")
			status(t, "delete", a.Post(form+"/delete", nil), 303)
		}
		page := a.Get(space + "/audit")
		status(t, "page", page, 200)
		has(t, page, "&lt;img src=x", "Orderdeteled")
		lacks(t, page, "<img src=x", "\u202e", "\u2066")
		file := a.Get(space + "/audit/download")
		status(t, "file", file, 200)
		has(t, file, `'=HYPERLINK(`, `,'@SUM(A1),`, `,'-2+3,`)
		if found := regexp.MustCompile(`(?m)(^|,)"?[=+@-]`).FindString(file.Text); found != "" {
			t.Errorf("a cell is a formula: %q in %s", found, file.Text)
		}
	})
}
