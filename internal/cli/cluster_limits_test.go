package cli_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"
)

// limits: what one node lets through counts on the other.
func (n *nodes) limits(t *testing.T) {
	n.heard(t) // B was deaf before
	token := n.token(t, ada, n.app).Access
	guess := url.Values{"email": {"nobody@example.com"}, "password": {"not-the-one"}}
	somebody := n.over(t) // somebody else each time, so that the account is what counts
	notes := 0
	for _, limit := range []struct {
		name   string
		quota  int
		window time.Duration
		ask    func(*program) answer
	}{
		{"requests of a token", tokenQuota, time.Minute, with(token)},
		{"submissions of an address", respondentQuota, time.Minute, func(p *program) answer {
			notes++
			return p.post(n.f.page, submission(fmt.Sprint("limits-", notes)), "X-Forwarded-For: 192.0.2.1")
		}},
		{"guesses at an account", 10, 15 * time.Minute, func(p *program) answer {
			somebody.url = p.url
			return somebody.form("/signin", guess)
		}},
	} {
		passes := func(p *program) bool {
			t.Helper()
			a := limit.ask(p)
			if a.err != nil || a.status >= 500 || a.status == http.StatusTooManyRequests && a.header.Get("Retry-After") == "" {
				t.Fatalf("%s: %s", limit.name, a)
			}
			return a.status != http.StatusTooManyRequests
		}
		begun, passed := time.Now(), 0
		for passes(n.a) {
			passed++
		}
		n.heard(t)
		// B has seen none of them, and lets through what time has brought back.
		for range limit.quota {
			if passes(n.b) {
				passed++
			}
		}
		most := limit.quota + 1 + int(time.Since(begun)*time.Duration(limit.quota)/limit.window)
		t.Logf("%s: on A, then on B, %d passed; the limit is %d", limit.name, passed, limit.quota)
		if passed < limit.quota || passed > most {
			t.Errorf("%s: %d passed, the limit is %d", limit.name, passed, limit.quota)
		}
	}
	// How exact it is when nobody waits for anybody is worth knowing; how fast the
	// machine is decides.
	busy := n.token(t, ada, n.app).Access
	begun, passed := time.Now(), 0
	for i := range 2 * tokenQuota {
		if with(busy)([]*program{n.a, n.b}[i%2]).status == http.StatusOK {
			passed++
		}
	}
	t.Logf("%d requests in turn in %v: %d passed; the limit is %d", 2*tokenQuota, time.Since(begun).Round(time.Millisecond), passed, tokenQuota)
}

// heard waits until B has heard what happened on A until now: messages keep their
// order.
func (n *nodes) heard(t *testing.T) {
	t.Helper()
	const more, enough, rounds = 4, 20, 30
	var token string
	asked := 0
	n.b.eventually("hearing", func() bool {
		if asked%rounds == 0 {
			token, asked = n.token(t, ada, n.app).Access, 0
		}
		for range more {
			with(token)(n.a)
		}
		asked++
		a := with(token)(n.b)
		var left, reset int
		if _, err := fmt.Sscanf(a.header.Get("RateLimit"), `"token";r=%d;t=%d`, &left, &reset); err != nil {
			t.Fatalf("%v: %s", err, a)
		}
		return left < tokenQuota-asked-enough
	})
}
