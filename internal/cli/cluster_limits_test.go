package cli_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"
)

// checkLimits: requests on one node count against the limits of the other.
func (n *nodes) checkLimits(t *testing.T) {
	n.waitForSync(t) // earlier steps interrupted B's notifications
	token := n.token(t, ada, n.app).Access
	attempt := url.Values{"email": {"nobody@example.com"}, "password": {"not-the-one"}}
	client := n.viaBalancer(t) // another client address each time, so that only the limit of the account applies
	submitted := 0
	for _, limit := range []struct {
		name   string
		quota  int
		window time.Duration
		ask    func(*program) httpResponse
	}{
		{"requests of a token", tokenQuota, time.Minute, getMe(token)},
		{"submissions of an address", respondentQuota, time.Minute, func(p *program) httpResponse {
			submitted++
			return p.post(n.f.page, submission(fmt.Sprint("limits-", submitted)), "X-Forwarded-For: 192.0.2.1")
		}},
		{"attempts at an account", 10, 15 * time.Minute, func(p *program) httpResponse {
			client.url = p.url
			return client.form("/signin", attempt)
		}},
	} {
		passes := func(p *program) bool {
			t.Helper()
			a := limit.ask(p)
			isLimited := a.status == http.StatusTooManyRequests
			if a.err != nil || a.status >= 500 || isLimited && a.header.Get("Retry-After") == "" {
				t.Fatalf("%s: %s", limit.name, a)
			}
			return !isLimited
		}
		startedAt, passed := time.Now(), 0
		for passes(n.a) {
			passed++
		}
		n.waitForSync(t)
		// B saw none of the requests, and allows only what has refilled since.
		for range limit.quota {
			if passes(n.b) {
				passed++
			}
		}
		maxPassed := limit.quota + 1 + int(time.Since(startedAt)*time.Duration(limit.quota)/limit.window)
		t.Logf("%s: on A, then on B, %d passed; the limit is %d", limit.name, passed, limit.quota)
		if passed < limit.quota || passed > maxPassed {
			t.Errorf("%s: %d passed, the limit is %d", limit.name, passed, limit.quota)
		}
	}
	// Without waiting for synchronization, the number depends on the speed of the
	// machine. It is only logged.
	busy := n.token(t, ada, n.app).Access
	startedAt, passed := time.Now(), 0
	for i := range 2 * tokenQuota {
		if getMe(busy)([]*program{n.a, n.b}[i%2]).status == http.StatusOK {
			passed++
		}
	}
	t.Logf("%d requests in turn in %v: %d passed; the limit is %d", 2*tokenQuota, time.Since(startedAt).Round(time.Millisecond), passed, tokenQuota)
}

// waitForSync waits until B has processed all messages that A sent so far. Messages
// arrive in order.
func (n *nodes) waitForSync(t *testing.T) {
	t.Helper()
	const requestsPerPoll, minSeen, pollsPerToken = 4, 20, 30
	var token string
	polls := 0
	n.b.waitUntil("hearing", func() bool {
		if polls%pollsPerToken == 0 {
			token, polls = n.token(t, ada, n.app).Access, 0
		}
		for range requestsPerPoll {
			getMe(token)(n.a)
		}
		polls++
		a := getMe(token)(n.b)
		var left, reset int
		if _, err := fmt.Sscanf(a.header.Get("RateLimit"), `"token";r=%d;t=%d`, &left, &reset); err != nil {
			t.Fatalf("%v: %s", err, a)
		}
		return left < tokenQuota-polls-minSeen
	})
}
