package cli_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"formulary/internal/cli/clitest"
)

// checkRefusals: access that ends on A ends on B too.
func (n *nodes) checkRefusals(t *testing.T) {
	for range shortOrFull(1, 10) {
		n.checkRevocations(t, "is refused on B", 100*time.Millisecond, func() {})
	}
}

// checkCutListener: the same after B's listening connection was terminated.
func (n *nodes) checkCutListener(t *testing.T) {
	for range shortOrFull(1, 10) {
		n.checkRevocations(t, "is refused on B, which has just lost its connection", time.Second, func() {
			n.db.primary.exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'node_b listening'`)
		})
	}
}

// checkHungListener: the same while B's listening connection hangs: it is open, but
// nothing arrives.
func (n *nodes) checkHungListener(t *testing.T) {
	var paused []int
	defer func() {
		for _, pid := range paused {
			_ = sendSignal(pid, resumeSignal) // B may have closed it
		}
	}()
	// Backends that are stopped already remain listed.
	const listening = `SELECT COALESCE((SELECT pid FROM pg_stat_activity WHERE application_name = 'node_b listening'
		AND state = 'idle' AND query <> '' ORDER BY backend_start DESC LIMIT 1), 0)`
	hang := func() {
		t.Helper()
		var pid int
		n.b.waitUntil("listening", func() bool { pid = n.db.primary.queryInt(listening); return pid != 0 })
		if slices.Contains(paused, pid) {
			return // B has not noticed yet
		}
		if err := sendSignal(pid, pauseSignal); err != nil {
			t.Fatal(err)
		}
		paused = append(paused, pid)
	}
	for range shortOrFull(1, 5) {
		n.checkRevocations(t, "is refused on B, whose listening connection hangs", time.Second, hang)
	}
}

// checkRevocations ends access on A, each time after calling before, and measures how
// soon B refuses.
func (n *nodes) checkRevocations(t *testing.T, where string, limit time.Duration, before func()) {
	bob := fmt.Sprintf("bob-%d@example.com", time.Now().UnixNano())
	clitest.Command(t, n.storage, clitest.Password+"\n", "user", "add", bob, "--password-stdin")
	signIn := n.a.form("/signin", url.Values{"email": {bob}, "password": {clitest.Password}})
	bobCookies := (&http.Response{Header: signIn.header}).Cookies()
	if signIn.status != http.StatusSeeOther || len(bobCookies) == 0 {
		t.Fatalf("sign in: %s", signIn)
	}
	disabledApp := n.addApp(t)
	revoked, disabled, deleted := n.token(t, ada, n.app).Access, n.token(t, ada, disabledApp).Access, n.token(t, bob, n.app).Access
	form := "/api/v1/forms/" + n.f.id
	for _, change := range []struct {
		name    string
		request func(*program) httpResponse
		apply   func() httpResponse
		status  int // status of the change
		code    int // error code on B afterwards
	}{
		{"a form closed", func(p *program) httpResponse { return p.get(n.f.page, "") }, func() httpResponse {
			return n.a.post(form+"/close", "", "Authorization: Bearer "+n.f.token)
		}, 200, 409000},
		{"a token revoked", getMe(revoked), func() httpResponse {
			return n.a.form("/api/oauth2/revoke", n.app.Authenticate(url.Values{"token": {revoked}}))
		}, 200, 401001},
		{"an application disabled", getMe(disabled), func() httpResponse {
			return n.a.form("/applications/"+disabledApp.ID+"/disable", nil, n.f.ownerCookies...)
		}, 303, 401001},
		{"a user deleted", getMe(deleted), func() httpResponse {
			return n.a.form("/account/delete", url.Values{"current": {clitest.Password}}, bobCookies...)
		}, 303, 401006},
	} {
		// Several times, so that B has cached whatever it caches.
		for range 3 {
			if a := change.request(n.b); a.err != nil || a.status != http.StatusOK {
				t.Fatalf("before %s: %s", change.name, a)
			}
		}
		before()
		if a := change.apply(); a.err != nil || a.status != change.status {
			t.Fatalf("%s: %s", change.name, a)
		}
		startedAt := time.Now()
		var a httpResponse
		n.b.waitUntil("refusing on B after "+change.name, func() bool {
			a = change.request(n.b)
			return a.status != http.StatusOK
		})
		n.recordDelay(t, change.name+" on A "+where, startedAt, limit)
		if a.status != change.code/1000 || a.Code != 0 && a.Code != change.code {
			t.Errorf("%s: B says %s", change.name, a)
		}
	}
	if a := n.a.post(form+"/open", "", "Authorization: Bearer "+n.f.token); a.status != http.StatusOK {
		t.Fatalf("open again: %s", a)
	}
	n.b.waitUntil("open on B", func() bool { return n.b.get(n.f.page, "").status == http.StatusOK })
}

// getMe returns a request for the user of a token.
func getMe(token string) func(*program) httpResponse {
	return func(p *program) httpResponse { return p.get("/api/v1/me", token) }
}
