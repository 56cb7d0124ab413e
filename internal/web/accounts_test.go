package web_test

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
)

func TestSetup(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		if p := s.Browser().Get("/signin"); !strings.Contains(p.Text, "setup link") {
			t.Error("the sign-in page does not say how to begin")
		}
		store := storetest.Open(t, s.Storage)
		link, err := store.NewSetupLink(t.Context(), time.Now(), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		b := s.Browser()
		status(t, "the link", b.Get("/setup?token="+link), 200)
		for _, wrong := range []string{"", "x", link + "x", "fml_" + strings.Repeat("A", 80)} {
			status(t, "a wrong link", b.Get("/setup?token="+wrong), 400)
			status(t, "a wrong link", b.Post("/setup", url.Values{"token": {wrong}, "email": {ada}, "password": {clitest.Password}}), 400)
		}
		problem(t, "no address", b.Post("/setup", url.Values{"token": {link}, "password": {clitest.Password}}))
		problem(t, "a common password", b.Post("/setup", url.Values{"token": {link}, "email": {ada}, "password": {"password1"}}))
		p := b.Post("/setup", url.Values{"token": {link}, "email": {ada}, "name": {"Ada"}, "password": {clitest.Password}, "time_zone": {"Europe/Berlin"}})
		status(t, "set up", p, 303)
		if p := b.Get("/account"); p.StatusCode != 200 || !strings.Contains(p.Text, ada) || !strings.Contains(p.Text, `value="Europe/Berlin"`) {
			t.Errorf("not signed in after setup, or elsewhere: %d", p.StatusCode)
		}
		status(t, "the link again", s.Browser().Get("/setup?token="+link), 400)
		status(t, "the link again", s.Browser().Post("/setup", url.Values{"token": {link}, "email": {bob}, "password": {clitest.Password}}), 400)
		if _, err := store.NewSetupLink(t.Context(), time.Now(), time.Hour); err == nil {
			t.Error("a second setup link was made")
		}
		if people := s.Command("", "user", "list"); !strings.Contains(people, "operator") {
			t.Errorf("the first user is not the administrator:\n%s", people)
		}
	})
}

func TestSignup(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		// The first account is the administrator's and needs the setup link.
		status(t, "before the setup", s.Browser().Get("/signup"), 404)
		status(t, "before the setup", s.Browser().Post("/signup", url.Values{"email": {ada}, "password": {clitest.Password}}), 404)
		s.AddUser("operator@example.com")
		fields := url.Values{"email": {ada}, "name": {"<b>Ada</b>"}, "password": {clitest.Password}, "next": {"/applications"}}
		p := s.Browser().Post("/signup", fields)
		status(t, "sign up", p, 303)
		if p.Header.Get("Location") != "/applications" {
			t.Errorf("leads to %s", p.Header.Get("Location"))
		}
		problem(t, "the same address in capitals", s.Browser().Post("/signup", url.Values{"email": {strings.ToUpper(ada)}, "password": {clitest.Password}}))
		for name, bad := range map[string]url.Values{
			"no address":    {"email": {"x"}, "password": {clitest.Password}},
			"a long name":   {"email": {bob}, "name": {strings.Repeat("x", 201)}, "password": {clitest.Password}},
			"a NUL":         {"email": {bob}, "name": {"a\x00b"}, "password": {clitest.Password}},
			"seven letters": {"email": {bob}, "password": {"x7$kQz!"}},
			"a common one":  {"email": {bob}, "password": {"iloveyou"}},
			"two words":     {"email": {bob}, "password": {"correcthorse"}},
			"one decorated": {"email": {bob}, "password": {"Tr0ub4dor&3"}},
			"one's name":    {"email": {"gwendolyn@example.com"}, "password": {"gwendolyn"}},
		} {
			problem(t, name, s.Browser().Post("/signup", bad))
		}
		long := strings.Repeat("violet anchor ", 5) // 70 characters
		status(t, "a long password", s.Browser().Post("/signup", url.Values{"email": {bob}, "password": {long}}), 303)
		b := s.Browser()
		status(t, "its sign-in", b.Post("/signin", url.Values{"email": {bob}, "password": {long}}), 303)
		status(t, "all but its last letter", s.Browser().Post("/signin", url.Values{"email": {bob}, "password": {long[:len(long)-1]}}), 401)
	}, "--signup=open")
}

func TestSignupClosed(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		status(t, "the page", s.Browser().Get("/signup"), 404)
		status(t, "the form", s.Browser().Post("/signup", url.Values{"email": {bob}, "password": {clitest.Password}}), 404)
		if p := s.Browser().Get("/signin"); strings.Contains(p.Text, "Sign up") {
			t.Error("the sign-in page links to sign-up although it is closed")
		}
	})
}

func TestSignin(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		b := s.Browser()
		for _, path := range []string{"/", "/account", "/applications", "/connections"} {
			if p := b.Get(path); p.StatusCode != 303 || p.Header.Get("Location") != "/signin?next="+url.QueryEscape(path) {
				t.Errorf("%s without a session: %d %s", path, p.StatusCode, p.Header.Get("Location"))
			}
		}
		// A wrong address and a wrong password look the same.
		wrong := b.Post("/signin", url.Values{"email": {ada}, "password": {"wrong password"}})
		nobody := b.Post("/signin", url.Values{"email": {"eve@example.com"}, "password": {"wrong password"}})
		status(t, "wrong password", wrong, 401)
		if strings.ReplaceAll(wrong.Text, ada, "") != strings.ReplaceAll(nobody.Text, "eve@example.com", "") {
			t.Error("a wrong address looks different from a wrong password")
		}
		for _, odd := range []string{"", "\x00", "\xff\xfe", strings.Repeat("x", 10_000), "a@b\r\nc"} {
			status(t, "odd address", b.Post("/signin", url.Values{"email": {odd}, "password": {"x"}}), 401)
		}
		status(t, "in capitals", b.Post("/signin", url.Values{"email": {"  ADA@example.COM "}, "password": {clitest.Password}}), 303)
		status(t, "signed in", b.Get("/"), 200)
		cookie := b.Jar
		status(t, "sign out", b.Post("/signout", nil), 303)
		b.Jar = cookie
		status(t, "the session after signing out", b.Get("/"), 303)

		b.SignIn(ada)
		s.Command("", "user", "disable", ada)
		clitest.WaitFor(func() bool { return b.Get("/").StatusCode == 303 })
		status(t, "session of a disabled user", b.Get("/"), 303)
		status(t, "signing in while disabled", b.Post("/signin", url.Values{"email": {ada}, "password": {clitest.Password}}), 401)
		s.Command("", "user", "enable", ada)
		b.SignIn(ada)
		// A request from another site.
		post := func(site string) clitest.Page {
			t.Helper()
			client := *b.Client
			b := &clitest.Browser{Client: &client, URL: b.URL}
			return b.PostFrom(t, site, "/account/profile", url.Values{"name": {"Eve"}, "language": {"en"}})
		}
		status(t, "from another site", post("https://evil.example"), 403)
		status(t, "from our own", post(s.URL), 303)
		status(t, "too large", b.Post("/account/profile", url.Values{"name": {strings.Repeat("x", 70_000)}}), 413)
	})
}

func TestPasswordAttempts(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		s.AddUser(bob)
		guess := func(address, email, password string) clitest.Page {
			return s.Browser().PostAs(t, address, "/signin", url.Values{"email": {email}, "password": {password}})
		}
		// Concurrent attempts all count.
		pages := make([]clitest.Page, 40)
		var all sync.WaitGroup
		for i := range pages {
			all.Go(func() { pages[i] = guess("192.0.2."+strconv.Itoa(100+i), "many@example.com", "wrong") })
		}
		all.Wait()
		checked := 0
		for _, p := range pages {
			if p.StatusCode == 401 {
				checked++
			}
		}
		if checked > 11 {
			t.Errorf("%d of 40 guesses at once were checked", checked)
		}
		// By account, from many addresses.
		var last clitest.Page
		for i := range 12 {
			last = guess("192.0.2."+string(rune('1'+i%9)), ada, "wrong")
		}
		if last.StatusCode != 429 || last.Header.Get("Retry-After") == "" {
			t.Errorf("twelve guesses at an account: %d, Retry-After %q", last.StatusCode, last.Header.Get("Retry-After"))
		}
		status(t, "the correct password while limited", guess("192.0.2.200", ada, clitest.Password), 429)
		status(t, "another account is not limited", guess("192.0.2.1", bob, clitest.Password), 303)
		// By address, at many accounts.
		for i := range 40 {
			last = guess("192.0.2.99", "nobody"+string(rune('a'+i%26))+string(rune('a'+i/26))+"@example.com", "wrong")
		}
		status(t, "forty guesses from an address", last, 429)
		status(t, "another address is not held up", guess("192.0.2.100", bob, clitest.Password), 303)
	}, "--trusted-proxies=127.0.0.1")
}

var sessionEnd = regexp.MustCompile(`action="(/account/sessions/[0-9a-f]+/end)"`)

func TestAccount(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		s.AddUser(bob)
		b, phone, bobs := s.Browser(), s.Browser(), s.Browser()
		b.SignIn(ada)
		phone.SignIn(ada)
		bobs.SignIn(bob)

		status(t, "profile", b.Post("/account/profile", url.Values{"name": {"Ada L."}, "language": {"pt-br"}}), 303)
		if p := b.Get("/account?saved=profile"); !strings.Contains(p.Text, `value="Ada L."`) || !strings.Contains(p.Text, `value="pt-BR"`) || !strings.Contains(p.Text, "saved") {
			t.Error("the profile was not kept")
		}
		for typed, want := range map[string]string{"Deutsch (de)": "Deutsch (de)", "french": "Français (fr)", "pt-br": "pt-BR", " TÜRKÇE ": "Türkçe (tr)"} {
			status(t, typed, b.Post("/account/profile", url.Values{"name": {"Ada L."}, "language": {typed}, "time_zone": {"new york"}}), 303)
			has(t, b.Get("/account"), `name="language" value="`+want+`"`, `name="time_zone" value="America/New_York"`)
		}
		status(t, "back to English", b.Post("/account/profile", url.Values{"name": {"Ada L."}, "language": {"English"}}), 303)
		problem(t, "no such zone", b.Post("/account/profile", url.Values{"name": {"x"}, "language": {"en"}, "time_zone": {"Atlantis"}}))
		problem(t, "no such language", b.Post("/account/profile", url.Values{"name": {"x"}, "language": {"klingonese"}}))

		// Changing the email address or the password requires the password.
		problem(t, "address without password", b.Post("/account/email", url.Values{"email": {"ada@new.example"}, "current": {"wrong"}}))
		problem(t, "a taken address", b.Post("/account/email", url.Values{"email": {"BOB@example.com"}, "current": {clitest.Password}}))
		status(t, "address", b.Post("/account/email", url.Values{"email": {"ada@new.example"}, "current": {clitest.Password}}), 303)
		problem(t, "password without password", b.Post("/account/password", url.Values{"password": {"another good one 77"}, "current": {"wrong"}}))
		problem(t, "a weak password", b.Post("/account/password", url.Values{"password": {"12345678"}, "current": {clitest.Password}}))
		status(t, "password", b.Post("/account/password", url.Values{"password": {"another good one 77"}, "current": {clitest.Password}}), 303)
		status(t, "this session is still valid", b.Get("/account"), 200)
		status(t, "the other has ended", phone.Get("/account"), 303)
		status(t, "the old password", s.Browser().Post("/signin", url.Values{"email": {"ada@new.example"}, "password": {clitest.Password}}), 401)
		status(t, "the new one", phone.Post("/signin", url.Values{"email": {"ADA@new.example"}, "password": {"another good one 77"}}), 303)

		// Users can end each of their sessions, and none of other users.
		p := b.Get("/account")
		end := sessionEnd.FindStringSubmatch(p.Text)
		if end == nil || strings.Count(p.Text, "this device") != 1 {
			t.Fatalf("the sessions are not listed:\n%s", p.Text)
		}
		status(t, "session of another user", bobs.Post(end[1], nil), 404)
		status(t, "no such session", b.Post("/account/sessions/%00/end", nil), 404)
		status(t, "the phone before", phone.Get("/account"), 200)
		status(t, "end the phone's", b.Post(end[1], nil), 303)
		status(t, "the phone after", phone.Get("/account"), 303)
		phone.Post("/signin", url.Values{"email": {"ada@new.example"}, "password": {"another good one 77"}})
		status(t, "end all others", b.Post("/account/sessions/end-others", nil), 303)
		status(t, "the phone after ending all other sessions", phone.Get("/account"), 303)

		// A reset link works once.
		link := regexp.MustCompile(`/reset\?token=\S+`).FindString(s.Command("", "user", "reset", "ada@new.example"))
		fresh := s.Browser()
		status(t, "the link", fresh.Get(link), 200)
		token := strings.TrimPrefix(link, "/reset?token=")
		problem(t, "a weak password by link", fresh.Post("/reset", url.Values{"token": {token}, "password": {"short"}}))
		status(t, "by link", fresh.Post("/reset", url.Values{"token": {token}, "password": {"third time lucky 3"}}), 303)
		status(t, "signed in by it", fresh.Get("/account"), 200)
		status(t, "all sessions ended", b.Get("/account"), 303)
		status(t, "the link once more", s.Browser().Get(link), 400)
		status(t, "the link once more", s.Browser().Post("/reset", url.Values{"token": {token}, "password": {"fourth time 4 four"}}), 400)

		// A change of the password invalidates earlier reset links.
		stale := regexp.MustCompile(`/reset\?token=\S+`).FindString(s.Command("", "user", "reset", "ada@new.example"))
		status(t, "change it meanwhile", fresh.Post("/account/password", url.Values{"password": {"third time lucky 4"}, "current": {"third time lucky 3"}}), 303)
		status(t, "the link after deletion", s.Browser().Get(stale), 400)
		status(t, "change it back", fresh.Post("/account/password", url.Values{"password": {"third time lucky 3"}, "current": {"third time lucky 4"}}), 303)

		// Deleting the account requires the password.
		problem(t, "deletion without password", fresh.Post("/account/delete", url.Values{"current": {"wrong"}}))
		status(t, "deletion", fresh.Post("/account/delete", url.Values{"current": {"third time lucky 3"}}), 303)
		status(t, "the account page after deletion", fresh.Get("/account"), 303)
		status(t, "signing in after deletion", s.Browser().Post("/signin", url.Values{"email": {"ada@new.example"}, "password": {"third time lucky 3"}}), 401)
		status(t, "others are still there", bobs.Get("/account"), 200)
	})
}

// Password managers find the page that changes the password.
func TestChangePasswordAddress(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		b := s.Browser()
		for _, who := range []string{"a stranger", ada} {
			p := b.Get("/.well-known/change-password")
			status(t, who, p, 303)
			if p.Header.Get("Location") != "/account#password" {
				t.Errorf("%s is sent to %s", who, p.Header.Get("Location"))
			}
			b.SignIn(ada)
		}
		if p := b.Get("/account"); !strings.Contains(p.Text, `action="/account/password" id="password"`) {
			t.Error("the account page has no element for the password")
		}
	})
}
