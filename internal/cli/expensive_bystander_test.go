package cli_test

import (
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"formulary/internal/cli/clitest"
)

// waitTimes are the response times of a bystander's requests.
type waitTimes struct {
	page, signIn, submission, delivery []time.Duration
	failed                             []string
}

// minRounds is the minimum number of rounds, and the number of failures after which the
// bystander gives up.
const minRounds = 5

// maxRounds keeps one bystander below the 120 submissions per minute of one address.
const maxRounds = 100

// bystanderPause keeps a bystander within the rate limit of respondents.
const bystanderPause = 20 * time.Millisecond

// bystanders counts bystanders. Each gets its own address, because one address would
// exceed the rate limit.
var bystanders atomic.Int64

// measureBystander lets a user with another account and address open a page, sign in and
// submit for some time, each time on a new connection.
func (w *costFixture) measureBystander(duration time.Duration) waitTimes {
	bystander := *w
	n := bystanders.Add(1)
	bystander.client = clientFrom(fmt.Sprintf("127.0.%d.%d", 1+n/250%250, 1+n%250))
	bystander.client.Transport.(*http.Transport).DisableKeepAlives = true
	var all waitTimes
	deadline := time.Now().Add(duration)
	for round := 0; (round < minRounds || round < maxRounds && time.Now().Before(deadline)) && len(all.failed) < minRounds; round++ {
		bystander.visitOnce(&all)
		time.Sleep(bystanderPause)
	}
	return all
}

func (w *costFixture) visitOnce(all *waitTimes) {
	delivered := w.receiver.bystander.Load()
	signIn := url.Values{"email": {"bea@example.com"}, "password": {clitest.Password}}
	for _, step := range []struct {
		request costlyRequest
		want    int
		waits   *[]time.Duration
	}{
		{getRequest("page", "/f/"+w.public, anonymous), http.StatusOK, &all.page},
		{costlyRequest{name: "sign-in", method: "POST", path: "/signin", contentType: formType, body: signIn.Encode()}, http.StatusSeeOther, &all.signIn},
		{costlyRequest{name: "submission", method: "POST", path: "/f/" + w.public, contentType: jsonType, body: submission("hello")}, http.StatusCreated, &all.submission},
	} {
		out := w.send(step.request)
		*step.waits = append(*step.waits, out.took)
		if out.err != nil || out.status != step.want {
			all.failed = append(all.failed, fmt.Sprintf("%s: %d %v after %v", step.request.name, out.status, out.err, out.took.Round(time.Millisecond)))
			return
		}
	}
	if w.bystanderHook != "" {
		w.waitDelivered(delivered, all)
	}
}

func (w waitTimes) String() string {
	text := fmt.Sprintf("%d/%d/%d", median(w.page).Milliseconds(), median(w.signIn).Milliseconds(), median(w.submission).Milliseconds())
	if len(w.delivery) > 0 {
		text += fmt.Sprintf("/%d", median(w.delivery).Milliseconds())
	}
	return text + " ms"
}
