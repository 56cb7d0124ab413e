package web_test

import (
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/cli/clitest"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

const resetSubject = "Reset your password"

// forgot asks for a link, from an address of its own.
func (s *people) forgot(email string) clitest.Page {
	s.t.Helper()
	s.asked++
	return s.Browser().PostAs(s.t, "198.51.100."+strconv.Itoa(s.asked), "/forgot", url.Values{"email": {email}})
}

// Known and unknown addresses get the same answer. A link works once, and a newer one ends it.
func TestForgot(t *testing.T) {
	eachWithPeople(t, func(t *testing.T, s *people) {
		if p := s.Browser().Get("/signin"); !strings.Contains(p.Text, `href="/forgot"`) {
			t.Error("the sign-in page does not link to /forgot")
		}
		s.Command("", "user", "disable", "operator@example.com")
		known := s.forgot(" ADA@example.com ")
		status(t, "a known address", known, 200)
		for _, email := range []string{"eve@example.com", "operator@example.com"} {
			p := s.forgot(email)
			status(t, email, p, 200)
			if strings.ReplaceAll(known.Text, "ADA@example.com", "") != strings.ReplaceAll(p.Text, email, "") {
				t.Errorf("%s gets another answer:\n%s", email, p.Text)
			}
			if list := s.sent(email, ""); len(list) > 0 {
				t.Errorf("%s got %q", email, list[0].Subject)
			}
		}
		problem(t, "no address", s.forgot("nobody"))
		first := s.one(ada, resetSubject)
		first.must(t, "new password for "+ada, "works once and expires in 4 hours", "127.0.0.1")
		status(t, "again", s.forgot(ada), 200)
		list := s.sent(ada, resetSubject)
		if len(list) != 2 {
			t.Fatalf("%d mails", len(list))
		}
		link := list[1].link(t)
		if p := s.Browser().Get(first.link(t)); p.StatusCode != 400 || !strings.Contains(p.Text, `href="/forgot"`) {
			t.Errorf("a link that was replaced: %d\n%s", p.StatusCode, p.Text)
		}

		b, phone := s.Browser(), s.Browser()
		phone.SignIn(ada)
		token := s.Token(ada, s.AddApp(ada, "https://x.example/"), "forms:read").Access
		status(t, "the link", b.Get(link), 200)
		problem(t, "a weak password", s.follow(b, link, "password", "password1"))
		status(t, "a new password", s.follow(b, link, "password", "violet anchor hums 8"), 303)
		status(t, "signed in", b.Get("/account"), 200)
		status(t, "the session before", phone.Get("/account"), 303)
		if a := s.Call("GET", "/api/v1/me", token, ""); a.StatusCode != 401 {
			t.Errorf("a token after the reset: %d", a.StatusCode)
		}
		status(t, "the link once more", s.Browser().Get(link), 400)
		status(t, "the link once more", s.follow(s.Browser(), link, "password", "violet anchor hums 9"), 400)
		s.one(ada, "Your password was changed").must(t, "If this wasn’t you", "/forgot")

		// A link of an earlier time.
		user, err := s.db.UserByEmail(t.Context(), ada)
		if err != nil {
			t.Fatal(err)
		}
		secret := account.NewSecret(account.OneTimeLinkKey, user.ID, time.Now())
		old := store.Mail{ID: "mal_x", Kind: "test", Recipient: ada, Data: "{}", CreatedAt: time.Now()}
		if err := s.db.MailResetLink(t.Context(), store.MailedLink{Secret: secret, Email: ada, Expires: time.Now().Add(-time.Second), Mail: old}); err != nil {
			t.Fatal(err)
		}
		status(t, "an expired link", s.Browser().Get("/reset?token="+secret.Text), 400)
		status(t, "an expired link", s.follow(s.Browser(), "/reset?token="+secret.Text, "password", "violet anchor hums 9"), 400)
	})
}

// Nobody is flooded: neither an address from many networks, nor many addresses from one. The
// limits tell nothing about who has an account.
func TestForgotFlood(t *testing.T) {
	eachWithPeople(t, func(t *testing.T, s *people) {
		for i := range 12 {
			for _, email := range []string{ada, "eve@example.com"} {
				p := s.Browser().PostAs(t, "198.51.100."+strconv.Itoa(i), "/forgot", url.Values{"email": {email}})
				status(t, email, p, 200)
				has(t, p, "Check your inbox")
			}
		}
		list := s.sent(ada, resetSubject)
		if len(list) != 5 {
			t.Errorf("%d mails", len(list))
		}
		working := 0
		for _, m := range list {
			if s.Browser().Get(m.link(t)).StatusCode == 200 {
				working++
			}
		}
		if working != 1 {
			t.Errorf("%d links work", working)
		}
		for _, email := range []string{"operator@example.com", "nobody@example.com"} {
			var last clitest.Page
			for i := range 21 {
				last = s.Browser().PostAs(t, "203.0.113."+strconv.Itoa(len(email)), "/forgot", url.Values{"email": {strconv.Itoa(i) + email}})
			}
			status(t, "21 addresses", last, 429)
			status(t, "one that may exist", s.Browser().PostAs(t, "203.0.113."+strconv.Itoa(len(email)), "/forgot", url.Values{"email": {email}}), 429)
		}
	})
}

// Without an SMTP server, the page says so, and the administrator gets the link.
func TestForgotWithoutMail(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser("operator@example.com")
		s.AddUser(ada)
		b := s.Browser()
		has(t, b.Get("/forgot"), "Email is off", "administrator")
		p := b.Post("/forgot", url.Values{"email": {ada}})
		status(t, "ask", p, 200)
		has(t, p, "Ask your administrator", "Email is off")
		db := storetest.Open(t, s.Storage)
		var kept []store.Mail
		if !clitest.WaitFor(func() bool {
			var err error
			kept, err = db.KeptMails(t.Context(), store.Page{Limit: 10})
			return err == nil && len(kept) > 0
		}) {
			t.Fatal("no mail is kept")
		}
		if len(kept) != 1 || kept[0].Kind != "password_reset" || kept[0].Recipient != ada || strings.Contains(kept[0].Data, "fml_") {
			t.Errorf("kept %+v", kept)
		}
	})
}
