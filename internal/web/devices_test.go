package web_test

import (
	"net/http"
	"net/url"
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

// Attempts of strangers do not lock a user out of a known device, and each device has a
// limit of its own.
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
		if device == nil {
			t.Fatal("no device cookie")
		}
		equal(t, "the device cookie", map[string]any{
			"HttpOnly": device.HttpOnly, "SameSite": device.SameSite, "Secure": device.Secure, "prefix": device.Value[:4], "long": device.MaxAge >= 300*24*3600,
		}, map[string]any{"HttpOnly": true, "SameSite": http.SameSiteLaxMode, "Secure": false, "prefix": "fmd_", "long": true})
		phone.PostAs(t, "192.0.2.1", "/signin", right)
		signed := s.Browser()
		signed.PostAs(t, "192.0.2.1", "/signin", right)
		laptop.Post("/signout", nil)
		phone.Post("/signout", nil)

		stranger := s.Browser()
		for i := range 40 {
			signIn(stranger, "192.0.2."+string(rune('2'+i%8)), wrong)
		}
		// From the address of the user, too.
		for range 40 {
			signIn(stranger, "192.0.2.1", url.Values{"email": {"nobody@example.com"}, "password": {"wrong"}})
		}
		if got := signIn(s.Browser(), "192.0.2.200", right); got != 429 {
			t.Errorf("a stranger with the right password: %d", got)
		}
		// The device of another user is unknown, and so is a forged one.
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
		// A user who is signed in can still confirm with the password.
		if got := signed.PostAs(t, "192.0.2.1", "/account/email", url.Values{"email": {ada}, "current": {clitest.Password}}).StatusCode; got != 303 {
			t.Errorf("confirming in a session: %d", got)
		}

		// The device has a limit of its own, which affects no other device.
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
			t.Errorf("the shared phone has %s", after)
		}
		if got := signIn(phone, "192.0.2.1", right); got != 303 {
			t.Errorf("ada on the phone of two people: %d", got)
		}

		// A new password makes other devices unknown.
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
