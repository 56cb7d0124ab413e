package web_test

import (
	"net/url"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
)

const confirmSubject = "Confirm your email address"

// isVerified asks the API.
func (s *people) isVerified(token string) any {
	s.t.Helper()
	return s.Call("GET", "/api/v1/me", token, "").Body["email_verified"]
}

// Who signs up confirms the address with a link. Until then, no notices are sent to it.
func TestConfirmSignup(t *testing.T) {
	eachWithPeople(t, func(t *testing.T, s *people) {
		b := s.Browser()
		status(t, "sign up", b.Post("/signup", url.Values{"email": {bob}, "name": {"Bob\r\n"}, "password": {clitest.Password}}), 303)
		app := s.AddApp(ada, "https://x.example/")
		token := s.Token(bob, app, "forms:read").Access
		if got := s.isVerified(token); got != false {
			t.Errorf("email_verified is %v before the confirmation", got)
		}
		has(t, b.Get("/account"), "Confirm your email address", "Send again")
		list := s.sent(bob, "")
		if len(list) != 1 || list[0].Subject != confirmSubject {
			t.Fatalf("%d mails before the confirmation", len(list))
		}
		list[0].must(t, "Confirm that "+bob+" is your email address.", "expires in 48 hours")
		first := list[0].link(t)

		// A newer link ends the first.
		status(t, "send again", b.Post("/account/email/resend", nil), 303)
		if list = s.sent(bob, confirmSubject); len(list) != 2 {
			t.Fatalf("%d links", len(list))
		}
		link := list[1].link(t)
		status(t, "a link that was replaced", s.Browser().Get(first), 400)
		// Opening a link changes nothing: programs that check mails do that.
		stranger := s.Browser()
		has(t, stranger.Get(link), bob, `action="/confirm"`)
		if got := s.isVerified(token); got != false {
			t.Errorf("email_verified is %v after the link was opened", got)
		}
		p := s.follow(stranger, link)
		status(t, "confirm", p, 303)
		has(t, stranger.Get(p.Header.Get("Location")), "Email address confirmed.")
		clitest.WaitFor(func() bool { return s.isVerified(token) == true })
		if got := s.isVerified(token); got != true {
			t.Errorf("email_verified is %v", got)
		}
		status(t, "once more", s.follow(stranger, link), 400)
		has(t, b.Get("/account"), "!Send again")
		status(t, "nothing to send", b.Post("/account/email/resend", nil), 303)
		if n := len(s.sent(bob, confirmSubject)); n != 2 {
			t.Errorf("%d links after the confirmation", n)
		}
		// Addresses from the command line count as confirmed.
		if got := s.isVerified(s.Token(ada, app, "forms:read").Access); got != true {
			t.Errorf("email_verified is %v for an address that the administrator has entered", got)
		}
	}, "--signup=open")
}

// The current address stays until the new one is confirmed by the user who has entered it.
func TestChangeAddress(t *testing.T) {
	const added, mistyped = "ada@new.example", "oda@new.example"
	eachWithPeople(t, func(t *testing.T, s *people) {
		s.AddUser(bob)
		b := s.Browser()
		b.SignIn(ada)
		change := func(email string) clitest.Page {
			return b.Post("/account/email", url.Values{"email": {email}, "current": {clitest.Password}})
		}
		problem(t, "a taken address", change(strings.ToUpper(bob)))
		status(t, "other letters", change("Ada@example.com"), 303)
		has(t, b.Get("/account"), "Ada@example.com", "!Send again")

		// A mistyped address gets a link that its reader cannot use.
		p := change(mistyped)
		if status(t, "mistyped", p, 303); p.Header.Get("Location") != "/account?saved=pending" {
			t.Errorf("leads to %s", p.Header.Get("Location"))
		}
		has(t, b.Get("/account"), mistyped, "Keep current address")
		wrong := s.one(mistyped, confirmSubject).link(t)
		for _, p := range []clitest.Page{s.Browser().Get(wrong), s.follow(s.Browser(), wrong)} {
			if status(t, "a stranger", p, 303); !strings.HasPrefix(p.Header.Get("Location"), "/signin?next=%2Fconfirm") {
				t.Errorf("a stranger is sent to %s", p.Header.Get("Location"))
			}
		}
		bobs := s.Browser()
		bobs.SignIn(bob)
		status(t, "another user", bobs.Get(wrong), 403)
		status(t, "another user", s.follow(bobs, wrong), 403)
		status(t, "keep", b.Post("/account/email/cancel", nil), 303)
		status(t, "the link after that", b.Get(wrong), 400)

		status(t, "correct", change(added), 303)
		stale := s.mailedReset(ada)
		link := s.one(added, confirmSubject).link(t)
		has(t, b.Get(link), added)
		status(t, "the old address until then", s.Browser().Post("/signin", url.Values{"email": {ada}, "password": {clitest.Password}}), 303)
		p = s.follow(b, link)
		status(t, "confirm", p, 303)
		has(t, b.Get(p.Header.Get("Location")), "Email address confirmed.", added, "!Send again")
		status(t, "the new address", s.Browser().Post("/signin", url.Values{"email": {added}, "password": {clitest.Password}}), 303)
		status(t, "the old address", s.Browser().Post("/signin", url.Values{"email": {ada}, "password": {clitest.Password}}), 401)
		status(t, "a reset link to the old address", s.Browser().Get(stale), 400)
		m := s.one("Ada@example.com", "Your email address was changed")
		m.must(t, added, "administrator of 127.0.0.1")
		if n := len(s.sent(added, "Your email address was changed")); n != 0 {
			t.Errorf("the new address got %d notices", n)
		}

		// Somebody else gets the address first.
		status(t, "once more", change("ada@third.example"), 303)
		late := s.one("ada@third.example", confirmSubject).link(t)
		s.AddUser("ada@third.example")
		status(t, "too late", s.follow(b, late), 422)
		has(t, b.Get("/account"), added)

		var last clitest.Page
		for range 6 {
			last = b.Post("/account/email/resend", nil)
		}
		status(t, "six links", last, 429)
	})
}

// mailedReset asks for a reset link and returns it.
func (s *people) mailedReset(email string) string {
	s.t.Helper()
	status(s.t, "forgot", s.forgot(email), 200)
	return s.one("Ada@example.com", resetSubject).link(s.t)
}

// Without an SMTP server, a new address is used at once. It is not confirmed.
func TestChangeAddressWithoutMail(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser("operator@example.com")
		s.AddUser(ada)
		b := s.Browser()
		b.SignIn(ada)
		status(t, "change", b.Post("/account/email", url.Values{"email": {"ada@new.example"}, "current": {clitest.Password}}), 303)
		has(t, b.Get("/account"), "ada@new.example", "is not confirmed", "Request link")
		user, err := storetest.Open(t, s.Storage).UserByEmail(t.Context(), "ada@new.example")
		if err != nil || user.IsEmailVerified() {
			t.Errorf("%+v, %v", user, err)
		}
		status(t, "ask for the link", b.Post("/account/email/resend", nil), 303)
	})
}
