package cli_test

import (
	"net/url"
	"testing"

	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
)

// kill -9 gives no guess back: neither at passwords nor at client secrets. A device
// that is known stays known.
func TestGuessesSurviveKill(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		clitest.Command(t, place, clitest.Password+"\n", "user", "add", "ada@example.com", "--password-stdin")
		flags := []string{"--addr=127.0.0.1:0", "--trusted-proxies=127.0.0.1"}
		p := launchWith(t, place, nil, flags...)
		s := clitest.Connect(t, place, p.url)
		app := s.AddApp("ada@example.com", "https://app.example.com/cb")
		known := s.Browser()
		known.SignIn("ada@example.com")
		right := url.Values{"email": {"ada@example.com"}, "password": {clitest.Password}}
		wrong := url.Values{"email": {"ada@example.com"}, "password": {"wrong"}}
		secret := app.Refresh("x")
		secret.Set("client_secret", "fms_wrong")
		guess := func(p *program) (password, client int) {
			s := clitest.Connect(t, place, p.url)
			return s.Browser().PostAs(t, "192.0.2.1", "/signin", wrong).StatusCode, s.Form("/api/oauth2/refresh", secret, "X-Forwarded-For: 192.0.2.9").StatusCode
		}
		passwords, clients := 0, 0
		count := func(p *program) (limited bool) {
			password, client := guess(p)
			if password == 401 {
				passwords++
			}
			if client == 401 {
				clients++
			}
			return password == 429 && client == 429
		}
		// A few guesses, a kill, and on until there is no allowance left.
		for range 7 {
			count(p)
		}
		for range 3 {
			p.kill()
			p = launchWith(t, place, nil, flags...)
			for range 4 {
				count(p)
			}
		}
		for range 40 {
			if count(p) {
				break
			}
		}
		p.kill()
		p = launchWith(t, place, nil, flags...)
		for range 40 {
			if count(p) {
				break
			}
		}
		// The allowance grows back at 10 and 30 in 15 minutes, so a slow machine sees a
		// few more. If a kill gave guesses back, there would be 35 and 60 or more.
		if passwords < 10 || passwords > 17 || clients < 30 || clients > 42 {
			t.Errorf("%d passwords and %d client secrets were tried over 5 lives of the service; the limits are 10 and 30", passwords, clients)
		}
		s = clitest.Connect(t, place, p.url)
		if got := s.Browser().PostAs(t, "192.0.2.2", "/signin", right).StatusCode; got != 429 {
			t.Errorf("a stranger with the right password: %d", got)
		}
		known.URL = p.url
		if got := known.PostAs(t, "192.0.2.1", "/signin", right).StatusCode; got != 303 {
			t.Errorf("the known device after kills: %d", got)
		}
	})
}
