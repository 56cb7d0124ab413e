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

// refusals: what ends on A has ended on B.
func (n *nodes) refusals(t *testing.T) {
	for range times(1, 10) {
		n.refuse(t, "is refused on B", 100*time.Millisecond, func() {})
	}
}

// cutOff: also when B's listening connection has just been broken.
func (n *nodes) cutOff(t *testing.T) {
	for range times(1, 10) {
		n.refuse(t, "is refused on B, which was just cut off", time.Second, func() {
			n.db.primary.exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'node_b listening'`)
		})
	}
}

// deaf: also while B hears nothing and does not know it: its listening connection
// is there, and nothing comes.
func (n *nodes) deaf(t *testing.T) {
	var stopped []int
	defer func() {
		for _, pid := range stopped {
			_ = sendSignal(pid, resumeSignal) // it may have been given up
		}
	}()
	// Those that are stopped already are there until they can go.
	const listening = `SELECT COALESCE((SELECT pid FROM pg_stat_activity WHERE application_name = 'node_b listening'
		AND state = 'idle' AND query <> '' ORDER BY backend_start DESC LIMIT 1), 0)`
	hang := func() {
		t.Helper()
		var pid int
		n.b.eventually("listening", func() bool { pid = n.db.primary.number(listening); return pid != 0 })
		if slices.Contains(stopped, pid) {
			return // it has not found out yet
		}
		if err := sendSignal(pid, pauseSignal); err != nil {
			t.Fatal(err)
		}
		stopped = append(stopped, pid)
	}
	for range times(1, 5) {
		n.refuse(t, "is refused on B, whose listening connection hangs", time.Second, hang)
	}
}

// refuse ends things on A, each after before, and waits until B refuses them.
func (n *nodes) refuse(t *testing.T, where string, promised time.Duration, before func()) {
	bob := fmt.Sprintf("bob-%d@example.com", time.Now().UnixNano())
	clitest.Command(t, n.place, clitest.Password+"\n", "user", "add", bob, "--password-stdin")
	signed := n.a.form("/signin", url.Values{"email": {bob}, "password": {clitest.Password}})
	bobs := (&http.Response{Header: signed.header}).Cookies()
	if signed.status != http.StatusSeeOther || len(bobs) == 0 {
		t.Fatalf("sign in: %s", signed)
	}
	off := n.addApp(t)
	revoked, disabled, deleted := n.token(t, ada, n.app).Access, n.token(t, ada, off).Access, n.token(t, bob, n.app).Access
	form := "/api/v1/forms/" + n.f.id
	for _, end := range []struct {
		name   string
		ask    func(*program) answer
		change func() answer
		status int // of the change
		code   int // on B, from then on
	}{
		{"a form closed", func(p *program) answer { return p.get(n.f.page, "") }, func() answer {
			return n.a.post(form+"/close", "", "Authorization: Bearer "+n.f.token)
		}, 200, 409000},
		{"a token revoked", with(revoked), func() answer {
			return n.a.form("/api/oauth2/revoke", n.app.Authenticate(url.Values{"token": {revoked}}))
		}, 200, 401001},
		{"an application disabled", with(disabled), func() answer {
			return n.a.form("/applications/"+off.ID+"/disable", nil, n.f.ada...)
		}, 303, 401001},
		{"a person deleted", with(deleted), func() answer {
			return n.a.form("/account/delete", url.Values{"current": {clitest.Password}}, bobs...)
		}, 303, 401006},
	} {
		// Some times, so that whatever B keeps it has.
		for range 3 {
			if a := end.ask(n.b); a.err != nil || a.status != http.StatusOK {
				t.Fatalf("before %s: %s", end.name, a)
			}
		}
		before()
		if a := end.change(); a.err != nil || a.status != end.status {
			t.Fatalf("%s: %s", end.name, a)
		}
		begun := time.Now()
		var a answer
		n.b.eventually("refusing on B after "+end.name, func() bool {
			a = end.ask(n.b)
			return a.status != http.StatusOK
		})
		n.within(t, end.name+" on A "+where, begun, promised)
		if a.status != end.code/1000 || a.Code != 0 && a.Code != end.code {
			t.Errorf("%s: B says %s", end.name, a)
		}
	}
	if a := n.a.post(form+"/open", "", "Authorization: Bearer "+n.f.token); a.status != http.StatusOK {
		t.Fatalf("open again: %s", a)
	}
	n.b.eventually("open on B", func() bool { return n.b.get(n.f.page, "").status == http.StatusOK })
}

// with asks who is behind a token.
func with(token string) func(*program) answer {
	return func(p *program) answer { return p.get("/api/v1/me", token) }
}
