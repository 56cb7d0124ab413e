package cli_test

import (
	"net/url"
	"testing"

	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
)

// TestGuessesSurviveKill: kill -9 resets neither the limit on passwords nor the one on
// client secrets, and known devices stay known.
func TestAttemptsSurviveKill(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, storage storetest.Storage) {
		clitest.Command(t, storage, clitest.Password+"\n", "user", "add", "ada@example.com", "--password-stdin")
		flags := []string{"--addr=127.0.0.1:0", "--trusted-proxies=127.0.0.1"}
		p := launchWith(t, storage, nil, flags...)
		s := clitest.Connect(t, storage, p.url)
		app := s.AddApp("ada@example.com", "https://app.example.com/cb")
		knownDevice := s.Browser()
		knownDevice.SignIn("ada@example.com")
		valid := url.Values{"email": {"ada@example.com"}, "password": {clitest.Password}}
		invalid := url.Values{"email": {"ada@example.com"}, "password": {"wrong"}}
		refresh := app.Refresh("x")
		refresh.Set("client_secret", "fms_wrong")
		attempt := func(p *program) (password, client int) {
			s := clitest.Connect(t, storage, p.url)
			return s.Browser().PostAs(t, "192.0.2.1", "/signin", invalid).StatusCode, s.Form("/api/oauth2/refresh", refresh, "X-Forwarded-For: 192.0.2.9").StatusCode
		}
		passwords, clients := 0, 0
		count := func(p *program) (limited bool) {
			password, client := attempt(p)
			if password == 401 {
				passwords++
			}
			if client == 401 {
				clients++
			}
			return password == 429 && client == 429
		}
		// Some attempts and a kill, then on until both limits are reached.
		for range 7 {
			count(p)
		}
		for range 3 {
			p.kill()
			p = launchWith(t, storage, nil, flags...)
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
		p = launchWith(t, storage, nil, flags...)
		for range 40 {
			if count(p) {
				break
			}
		}
		// The limits refill at 10 and 30 attempts in 15 minutes, so a slow machine
		// allows a few more. If a kill reset the counts, there would be at least 35 and
		// 60.
		isInRange := passwords >= 10 && passwords <= 17 && clients >= 30 && clients <= 42
		if !isInRange {
			t.Errorf("%d passwords and %d client secrets were checked by 5 runs of the service; the limits are 10 and 30", passwords, clients)
		}
		s = clitest.Connect(t, storage, p.url)
		if got := s.Browser().PostAs(t, "192.0.2.2", "/signin", valid).StatusCode; got != 429 {
			t.Errorf("another device with the right password: %d", got)
		}
		knownDevice.URL = p.url
		if got := knownDevice.PostAs(t, "192.0.2.1", "/signin", valid).StatusCode; got != 303 {
			t.Errorf("the known device after kills: %d", got)
		}
	})
}
