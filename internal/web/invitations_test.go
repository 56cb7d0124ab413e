package web_test

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

var invitationAction = regexp.MustCompile(`action="([^"]*/invitations/[0-9a-f]+)/(again|withdraw)"`)

// An invitation by mail is for the account with its address only.
func TestInvitationByMail(t *testing.T) {
	eachWithPeople(t, func(t *testing.T, s *people) {
		a, eve := s.Browser(), signedIn(s.Service, "eve@example.com")
		a.SignIn(ada)
		space := newSpace(t, a, "Team")
		problem(t, "no address", a.Post(space+"/invitations", url.Values{"role": {"editor"}}))
		invited := a.Post(space+"/invitations", url.Values{"email": {"Bob@example.com"}, "role": {"editor"}})
		status(t, "invite", invited, 303)
		m := s.one("Bob@example.com", "Invitation to the space “Team”")
		m.must(t, ada+" invites you to work together", "expires in 7 days")
		first := m.link(t)
		page := a.Get(space)
		has(t, page, "Bob@example.com", "Withdraw")
		lacks(t, page, "fmi_")
		again := invitationAction.FindStringSubmatch(page.Text)[1]
		status(t, "again", a.Post(again+"/again", nil), 303)
		status(t, "a link that was replaced", s.Browser().Get(first), 400)
		list := s.sent("Bob@example.com", "Invitation to the space “Team”")
		link := list[len(list)-1].link(t)
		// A GET accepts nothing, whoever opens the link.
		has(t, eve.Get(link), "This invitation is for Bob@example.com", "Use another account")
		has(t, s.Browser().Get(link), "sign in with the address Bob@example.com", "/signup?next=%2finvitation%3ftoken")
		status(t, "eve accepts", accept(eve, link), 200)
		status(t, "eve afterwards", eve.Get(space), 404)
		b := s.Browser()
		p := b.Post("/signup", url.Values{"email": {bob}, "password": {clitest.Password}, "next": {link}})
		if p.StatusCode != 303 || p.Header.Get("Location") != link {
			t.Fatalf("sign up: %d %s", p.StatusCode, p.Header.Get("Location"))
		}
		has(t, b.Get(link), "Accept invitation")
		status(t, "not accepted by looking", b.Get(space), 404)
		status(t, "accept", accept(b, link), 303)
		has(t, b.Get("/?done=joined"), "You joined the space.", "Team")
		used := accept(b, link)
		status(t, "twice", used, 400)
		has(t, used, "This invitation doesn’t work anymore")
		problem(t, "a member", a.Post(space+"/invitations", url.Values{"email": {bob}, "role": {"viewer"}}))
		// In the language of the browser, like all pages behind mails.
		status(t, "nonsense", s.Browser().Get("/invitation?token=x"), 400)
	}, "--signup=open")
}

// Nobody is flooded with invitations.
func TestInvitationLimits(t *testing.T) {
	eachWithPeople(t, func(t *testing.T, s *people) {
		a := s.Browser()
		a.SignIn(ada)
		space := newSpace(t, a, "Team")
		limited := false
		for i := range 20 {
			p := a.PostAs(t, "198.51.100."+strconv.Itoa(i), space+"/invitations", url.Values{"email": {bob}, "role": {"viewer"}})
			limited = limited || p.StatusCode == 429
		}
		if !limited {
			t.Error("20 invitations to the same address")
		}
	})
}

func TestInvitationLink(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		a, b := signedIn(s, ada), signedIn(s, bob)
		space := newSpace(t, a, "Team")
		page := a.Get(space)
		has(t, page, "Email is off on this server")
		lacks(t, page, `name="email"`)
		link := newLink(t, a, space, "viewer")
		page = a.Get(space)
		lacks(t, page, link, "fmi_")
		has(t, a.Get(link), "Accept invitation")
		has(t, accept(a, link), "You have access already.")
		action := invitationAction.FindStringSubmatch(page.Text)[1]
		again := a.Post(action+"/again", nil)
		status(t, "again", again, 200)
		status(t, "a link that was replaced", b.Get(link), 400)
		newer := invitationLink.FindString(again.Text)
		status(t, "a new link", b.Get(newer), 200)
		action = invitationAction.FindStringSubmatch(a.Get(space).Text)[1]
		status(t, "withdraw", a.Post(action+"/withdraw", nil), 303)
		status(t, "withdraw again", a.Post(action+"/withdraw", nil), 404)
		status(t, "withdrawn", accept(b, newer), 400)
		has(t, a.Get(space+"/audit"), "invited anyone with the link (viewer)", "revoked the invitation for anyone with the link", `<a href="`+space+`">Team</a>`)
		status(t, "language", a.Post("/account/profile", url.Values{"language": {"de"}}), 303)
		has(t, a.Get(space+"/audit"), "hat alle mit dem Link eingeladen (Betrachter)")
		status(t, "language", a.Post("/account/profile", url.Values{"language": {"en"}}), 303)
		// Without an account, there is nothing to sign up for.
		stranger := s.Browser().Get(newLink(t, a, space, "owner"))
		has(t, stranger, "To accept, sign in.", "/signin?next=")
		lacks(t, stranger, "/signup")
		for _, path := range []string{"/invitations/x/again", "/invitations/x/withdraw", "/invitations/" + strings.Repeat("0", 24) + "/again"} {
			status(t, path, a.Post(space+path, nil), 404)
		}
	}, "--signup=closed")
}
