package cli_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"formulary/internal/store/storetest"
)

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
		p.deliverTo(to, "killed", f)
		kills, each := shortOrFull(5, 100), shortOrFull(200, 100)
		var keys []string // not acknowledged yet
		for round := range kills {
			for n := range each {
				keys = append(keys, fmt.Sprintf("%d-%d", round, n))
			}
			var sending sync.WaitGroup
			sending.Go(func() { keys = p.submitAll(f, keys) })
			// Kill it while it accepts and delivers, or accepts no more but still delivers.
			enough := to.total("killed").Events + 1 + rand.IntN(each*3/4)
			p.waitUntil("delivering", func() bool { return to.total("killed").Events >= enough })
			p.kill()
			sending.Wait()
			p = launch(t, storage, webhookEnv...)
		}
		if keys = p.submitAll(f, keys); len(keys) > 0 {
			t.Errorf("%d submissions were refused", len(keys))
		}
		stored := p.readStored(f)
		p.waitUntil("all are delivered", func() bool { return to.total("killed").Events >= len(stored) })
		missing, others := to.missing("killed", stored)
		got := to.total("killed")
		if len(stored) != kills*each || len(missing) > 0 || others > 0 || got.Repeated > kills*maxInFlight {
			t.Errorf("%d responses, of which %d did not arrive, and %d unknown ones; %d arrived again after %d kills", len(stored), len(missing), others, got.Repeated, kills)
		}
		p.stop()
		reportFigure(t, fmt.Sprintf("%d × kill -9 while webhooks are delivered", kills), "%d responses, all delivered with valid signatures; %d again, of %d that can have been in flight",
			got.Events, got.Repeated, kills*maxInFlight)
	})
}

// submitAll submits each key once and returns those that were not acknowledged.
func (p *program) submitAll(f survey, keys []string) (left []string) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	for client := range submitters {
		wg.Go(func() {
			for n := client; n < len(keys); n += submitters {
				if a := p.post(f.page, submission(keys[n]), "Idempotency-Key: "+keys[n]); a.err != nil || a.status != http.StatusCreated {
					mu.Lock()
					left = append(left, keys[n])
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return left
}

// takeoverLimit is how soon another node continues the deliveries of one that was killed.
const takeoverLimit = 5 * time.Second

// TestWebhookNodesTakeOver: if the node that delivers is killed, another one continues.
func TestWebhookNodesTakeOver(t *testing.T) {
	t.Parallel()
	storage := storetest.Postgres(t)
	f, to := openSurvey(t, storage, 0), newHookReceiver(t)
	first := launch(t, storage, webhookEnv...)
	first.deliverTo(to, "nodes", f)
	arrives := func(p *program, note string) time.Duration {
		t.Helper()
		before := to.total("nodes").Events
		start := time.Now()
		if a := p.post(f.page, submission(note)); a.status != http.StatusCreated {
			t.Fatalf("submit: %s", a)
		}
		p.waitUntil(note+" is delivered", func() bool { return to.total("nodes").Events > before })
		return time.Since(start)
	}
	arrives(first, "first")
	second := launch(t, storage, webhookEnv...)
	first.kill() // before it has given the second node its share
	limit := takeoverLimit
	if !fullRun {
		limit *= headroom // for a busy machine
	}
	if took := arrives(second, "after the kill"); took > limit {
		t.Errorf("the other node continued after %v", took)
	} else {
		reportFigure(t, "node that delivers webhooks killed", "the other continues after %v", took.Round(time.Millisecond))
	}
	third := launch(t, storage, webhookEnv...)
	second.stop()
	if took := arrives(third, "after the stop"); took > limit {
		t.Errorf("after a stop, the other node continued after %v", took)
	}
	third.stop()
}
