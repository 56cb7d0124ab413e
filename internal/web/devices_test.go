package web_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"formulary/internal/cli/clitest"
)

// cookies are those of a browser, by name.
func cookies(t *testing.T, b *clitest.Browser) map[string]*http.Cookie {
	t.Helper()
	base, err := url.Parse(b.URL)
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]*http.Cookie{}
	for _, c := range b.Jar.Cookies(base) {
		list[c.Name] = c
	}
	return list
}

// A stranger's guesses do not lock the owner out of a device that is known, and a
// device has an allowance of its own.
func TestKnownDevices(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		s.AddUser(bob)
		right, wrong := url.Values{"email": {ada}, "password": {clitest.Password}}, url.Values{"email": {ada}, "password": {"wrong"}}
		signIn := func(b *clitest.Browser, address string, fields url.Values) int {
			return b.PostAs(t, address, "/signin", fields).StatusCode
		}
		laptop, phone := s.Browser(), s.Browser()
		p := laptop.PostAs(t, "192.0.2.1", "/signin", right)
		var device *http.Cookie
		for _, c := range p.Cookies() {
			if c.Name == "formulary-device" {
				device = c
			}
		}
		if device == nil || !device.HttpOnly || device.SameSite != http.SameSiteLaxMode || device.Secure || device.MaxAge < 300*24*3600 || !strings.HasPrefix(device.Value, "fmd_") {
			t.Fatalf("the device cookie is %+v", device)
		}
		phone.PostAs(t, "192.0.2.1", "/signin", right)
		signed := s.Browser()
		signed.PostAs(t, "192.0.2.1", "/signin", right)
		laptop.Post("/signout", nil)
		phone.Post("/signout", nil)

		stranger := s.Browser()
		for i := range 40 {
			signIn(stranger, "192.0.2."+string(rune('2'+i%8)), wrong)
		}
		// From the owner's own address, too.
		for range 40 {
			signIn(stranger, "192.0.2.1", url.Values{"email": {"nobody@example.com"}, "password": {"wrong"}})
		}
		if got := signIn(s.Browser(), "192.0.2.200", right); got != 429 {
			t.Errorf("a stranger with the right password: %d", got)
		}
		// A device of somebody else is a stranger, with or without an account's name in it.
		bobs := s.Browser()
		bobs.PostAs(t, "192.0.2.201", "/signin", url.Values{"email": {bob}, "password": {clitest.Password}})
		if got := signIn(bobs, "192.0.2.201", right); got != 429 {
			t.Errorf("another account's device: %d", got)
		}
		forged := s.Browser()
		base, _ := url.Parse(s.URL)
		forged.Jar.SetCookies(base, []*http.Cookie{{Name: "formulary-device", Value: device.Value[:len(device.Value)-4] + "AAAA"}})
		if got := signIn(forged, "192.0.2.202", right); got != 429 {
			t.Errorf("a made-up device: %d", got)
		}
		if got := signIn(laptop, "192.0.2.1", right); got != 303 {
			t.Errorf("the owner's laptop: %d", got)
		}
		// Whoever is signed in can still confirm with the password.
		if got := signed.PostAs(t, "192.0.2.1", "/account/email", url.Values{"email": {ada}, "current": {clitest.Password}}).StatusCode; got != 303 {
			t.Errorf("confirming in a session: %d", got)
		}

		// The device's own allowance ends, and nobody else's with it.
		laptop.Post("/signout", nil)
		checked := 0
		for range 14 {
			if signIn(laptop, "192.0.2.1", wrong) == 401 {
				checked++
			}
		}
		if got := signIn(laptop, "192.0.2.1", right); got != 429 || checked < 10 || checked == 14 {
			t.Errorf("the laptop after %d wrong passwords: %d", checked, got)
		}
		if got := signIn(phone, "192.0.2.1", right); got != 303 {
			t.Errorf("the phone: %d", got)
		}
		if got := signIn(bobs, "192.0.2.203", url.Values{"email": {bob}, "password": {clitest.Password}}); got != 303 {
			t.Errorf("another account: %d", got)
		}

		// A browser that two people use is known to both.
		before := cookies(t, phone)["formulary-device"].Value
		if got := signIn(phone, "192.0.2.204", url.Values{"email": {bob}, "password": {clitest.Password}}); got != 303 {
			t.Fatalf("bob on the phone: %d", got)
		}
		if after := cookies(t, phone)["formulary-device"].Value; !strings.HasSuffix(after, "."+before) || strings.Count(after, "fmd_") != 2 {
			t.Errorf("the phone of two people has %s", after)
		}
		if got := signIn(phone, "192.0.2.1", right); got != 303 {
			t.Errorf("ada on the phone of two people: %d", got)
		}

		// A new password makes other devices strangers.
		status(t, "password", phone.Post("/account/password", url.Values{"password": {"violet anchor hums 8"}, "current": {clitest.Password}}), 303)
		right.Set("password", "violet anchor hums 8")
		phone.Post("/signout", nil)
		if got := signIn(signed, "192.0.2.205", right); got != 429 {
			t.Errorf("another device after a new password: %d", got)
		}
		if got := signIn(phone, "192.0.2.1", right); got != 303 {
			t.Errorf("the device on which it was changed: %d", got)
		}
	}, "--trusted-proxies=127.0.0.1")
}

// Names that pass for the service are refused on the page.
func TestApplicationNames(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		s.AddUser(ada)
		b := s.Browser()
		b.SignIn(ada)
		register := func(name string) clitest.Page {
			return b.Post("/applications", url.Values{"name": {name}, "redirect_uris": {"https://app.example.com/cb"}, "scope": {"forms:read"}})
		}
		for name, said := range map[string]string{
			"Formulary Support": "look like part of Formulary", "F0rmulary": "look like part of Formulary", "Fоrmulary": "one alphabet", "Rep\u200borts": "visible characters",
		} {
			p := register(name)
			problem(t, name, p)
			if !strings.Contains(p.Text, said) {
				t.Errorf("%q is refused without %q", name, said)
			}
		}
		for _, name := range []string{"Café Müller", "Формы", "表单"} {
			p := register(name)
			status(t, name, p, 200)
			if !strings.Contains(p.Text, name) {
				t.Errorf("%q is not shown", name)
			}
		}
	})
}

// Password managers find the page on which a password is changed.
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
			t.Error("the page has no such place")
		}
	})
}

// A page that was open while the key was rotated can still be sent, on a service that
// was not restarted; a signature that nobody made cannot.
func TestKeyRotate(t *testing.T) {
	each(t, func(t *testing.T, s *clitest.Service) {
		_, id := asker(t, s, `{"title": "T", "fields": [{"key": "a", "kind": "short_text"}]}`)
		b, path := s.Browser(), "/f/"+id
		nonce := func() string {
			return regexp.MustCompile(`name="_key" value="([^"]+)"`).FindStringSubmatch(b.Get(path).Text)[1]
		}
		before := nonce()
		if out := s.Command("", "key", "rotate"); !strings.Contains(out, "New signing key") {
			t.Errorf("rotate says %s", out)
		}
		sent := func(nonce string) clitest.Page {
			return b.Post(path, url.Values{"a": {"x"}, "_shown": {"a"}, "_key": {nonce}})
		}
		if p := sent(before); p.StatusCode != 303 {
			t.Errorf("a page from before the rotation: %d\n%s", p.StatusCode, p.Text)
		}
		after := nonce()
		if p := sent(after); p.StatusCode != 303 {
			t.Errorf("a page from after it: %d\n%s", p.StatusCode, p.Text)
		}
		if p := sent(after[:len(after)-4] + "AAAA"); p.StatusCode == 303 {
			t.Error("a made-up signature passed")
		}
		// Once more, and the first key counts no longer.
		s.Command("", "key", "rotate")
		if !clitest.WaitFor(func() bool { return sent(before).StatusCode != 303 }) {
			t.Error("the key before the previous one still verifies")
		}
	})
}
