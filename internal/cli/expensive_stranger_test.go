package cli_test

import (
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"formulary/internal/cli/clitest"
)

// waits are how long a stranger waited for each of their requests.
type waits struct {
	page, signIn, submission []time.Duration
	failed                   []string
}

// minRounds is how often a stranger tries at least; after as many failures it is
// enough.
const minRounds = 5

// strangerPause keeps a stranger within the rate limit of respondents.
const strangerPause = 20 * time.Millisecond

// strangers counts them: each has an address of their own, as one after the other
// would exceed that limit.
var strangers atomic.Int64

// probe is a stranger with an account and an address of their own, who opens a
// page, signs in and submits for some time, each time on a new connection.
func (w *costWorld) probe(long time.Duration) waits {
	stranger := *w
	n := strangers.Add(1)
	stranger.client = clientFrom(fmt.Sprintf("127.0.%d.%d", 1+n/250%250, 1+n%250))
	stranger.client.Transport.(*http.Transport).DisableKeepAlives = true
	var all waits
	deadline := time.Now().Add(long)
	for round := 0; (round < minRounds || time.Now().Before(deadline)) && len(all.failed) < minRounds; round++ {
		stranger.visit(&all)
		time.Sleep(strangerPause)
	}
	return all
}

func (w *costWorld) visit(all *waits) {
	signIn := url.Values{"email": {"bea@example.com"}, "password": {clitest.Password}}
	for _, step := range []struct {
		request costly
		want    int
		waits   *[]time.Duration
	}{
		{gets("page", "/f/"+w.public, asNobody), http.StatusOK, &all.page},
		{costly{name: "sign-in", method: "POST", path: "/signin", kind: formType, body: signIn.Encode()}, http.StatusSeeOther, &all.signIn},
		{costly{name: "submission", method: "POST", path: "/f/" + w.public, kind: jsonType, body: submission("hello")}, http.StatusCreated, &all.submission},
	} {
		out := w.send(step.request)
		*step.waits = append(*step.waits, out.took)
		if out.err != nil || out.status != step.want {
			all.failed = append(all.failed, fmt.Sprintf("%s: %d %v after %v", step.request.name, out.status, out.err, out.took.Round(time.Millisecond)))
		}
	}
}

func (w waits) String() string {
	return fmt.Sprintf("%d/%d/%d ms", median(w.page).Milliseconds(), median(w.signIn).Milliseconds(), median(w.submission).Milliseconds())
}
