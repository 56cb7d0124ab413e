package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"formulary/internal/store/storetest"
)

// webhookEnv lets the program deliver to receivers of tests.
var webhookEnv = []string{"env", "FORMULARY_WEBHOOK_ALLOW=127.0.0.0/8", "FORMULARY_SECRET_KEY=a-secret-key-of-more-than-32-characters"}

// hookReceiver counts verified deliveries by webhook-id.
type hookReceiver struct {
	t      *testing.T
	url    string
	mu     sync.Mutex
	secret string
	counts map[string]int
}

func newHookReceiver(t *testing.T) *hookReceiver {
	t.Helper()
	r := &hookReceiver{t: t, counts: map[string]int{}}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

func (r *hookReceiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	text, err := io.ReadAll(req.Body)
	if err != nil {
		return // the program was killed while it sent this
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	verifier, err := standardwebhooks.NewWebhook(r.secret)
	if err == nil {
		err = verifier.Verify(text, req.Header)
	}
	if err != nil {
		r.t.Errorf("signature of %s: %v", text, err)
	}
	r.counts[req.Header.Get("webhook-id")]++
	w.WriteHeader(http.StatusNoContent)
}

// total returns how many events have arrived, and how many requests beyond one each.
func (r *hookReceiver) total() (events, repeated int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.counts {
		repeated += n - 1
	}
	return len(r.counts), repeated
}

// addWebhook creates a webhook of the survey for the receiver.
func (p *program) addWebhook(f survey, r *hookReceiver) {
	p.t.Helper()
	a := p.post("/api/v1/forms/"+f.id+"/webhooks", `{"url": "`+r.url+`"}`, "Authorization: Bearer "+f.token)
	var made struct{ Secret string }
	if err := json.Unmarshal([]byte(a.text), &made); err != nil || a.status != http.StatusCreated {
		p.t.Fatalf("create webhook: %s %v", a, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secret = made.Secret
}

// maxInFlight is how many requests of a webhook are in flight at a time: what a kill can
// repeat.
const maxInFlight = 32

// TestWebhookKilled: whenever the service is killed while it delivers, each response arrives
// at least once, and only what was in flight arrives again.
func TestWebhookKilled(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, storage storetest.Storage) {
		f, to := openSurvey(t, storage, 0), newHookReceiver(t)
		p := launch(t, storage, webhookEnv...)
		p.addWebhook(f, to)
		kills, each := shortOrFull(5, 100), shortOrFull(200, 100)
		want := 0
		for round := range kills {
			var sending sync.WaitGroup
			var mu sync.Mutex
			accepted := 0
			for client := range 8 {
				sending.Go(func() {
					for n := range each / 8 {
						if a := p.post(f.page, submission(fmt.Sprintf("%d-%d-%d", round, client, n))); a.err == nil && a.status == http.StatusCreated {
							mu.Lock()
							accepted++
							mu.Unlock()
						}
					}
				})
			}
			sending.Wait()
			want += accepted
			before, _ := to.total()
			p.waitUntil("some are delivered", func() bool { n, _ := to.total(); return n > before+rand.IntN(1+accepted/2) || n >= want })
			p.kill()
			p = launch(t, storage, webhookEnv...)
		}
		// Some may be stored although the program was killed before it said so.
		stored := len(p.readStored(f))
		p.waitUntil("all are delivered", func() bool { n, _ := to.total(); return n >= stored })
		events, repeated := to.total()
		if events != stored || stored < want || repeated > kills*maxInFlight {
			t.Errorf("%d events of %d responses arrived, %d again after %d kills", events, stored, repeated, kills)
		}
		p.stop()
		reportFigure(t, fmt.Sprintf("%d × kill -9 while webhooks are delivered", kills), "%d responses, all delivered; %d again, of %d that can have been in flight",
			events, repeated, kills*maxInFlight)
	})
}

// takeoverLimit is how soon another node continues the deliveries of one that was killed.
const takeoverLimit = 5 * time.Second

// TestWebhookNodesTakeOver: if the node that delivers is killed, another one continues.
func TestWebhookNodesTakeOver(t *testing.T) {
	t.Parallel()
	storage := storetest.Postgres(t)
	f, to := openSurvey(t, storage, 0), newHookReceiver(t)
	first := launch(t, storage, webhookEnv...)
	first.addWebhook(f, to)
	arrives := func(p *program, note string) time.Duration {
		t.Helper()
		before, _ := to.total()
		start := time.Now()
		if a := p.post(f.page, submission(note)); a.status != http.StatusCreated {
			t.Fatalf("submit: %s", a)
		}
		p.waitUntil(note+" is delivered", func() bool { n, _ := to.total(); return n > before })
		return time.Since(start)
	}
	arrives(first, "first")
	second := launch(t, storage, webhookEnv...)
	first.kill() // before it has given the second node its share
	if took := arrives(second, "after the kill"); took > takeoverLimit {
		t.Errorf("the other node continued after %v", took)
	} else {
		reportFigure(t, "node that delivers webhooks killed", "the other continues after %v", took.Round(time.Millisecond))
	}
	third := launch(t, storage, webhookEnv...)
	second.stop()
	if took := arrives(third, "after the stop"); took > takeoverLimit {
		t.Errorf("after a stop, the other node continued after %v", took)
	}
	third.stop()
}
