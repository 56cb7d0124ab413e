package cli_test

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"formulary/internal/cli/clitest"
)

// checkRestarts restarts both nodes, one after the other, under load. No request fails.
func (n *nodes) checkRestarts(t *testing.T) {
	balanced := n.viaBalancer(t)
	load := startLoad(t, balanced, n.f, "restarts", submitters)
	var pages atomic.Int64
	ctx, stop := context.WithCancel(context.Background())
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for ctx.Err() == nil {
				if a := balanced.get(n.f.page, ""); a.err != nil || a.status != http.StatusOK {
					t.Errorf("a reader got %s", a)
					return
				}
				pages.Add(1)
			}
		})
	}
	// Applications read with several tokens, so that none exceeds its limit. Others
	// refresh continuously.
	tokens := make([]clitest.Token, 20)
	for i := range tokens {
		tokens[i] = n.token(t, ada, n.app)
	}
	var read, refreshed atomic.Int64
	readers.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			if a := getMe(tokens[i%len(tokens)].Access)(balanced); a.err != nil || a.status != http.StatusOK && a.status != http.StatusTooManyRequests {
				t.Errorf("an application got %s", a)
				return
			}
			read.Add(1)
		}
	})
	// A grant has at most 100 live access tokens and 120 refreshes per minute.
	refreshing := make([]clitest.Token, 10)
	for i := range refreshing {
		refreshing[i] = n.token(t, ada, n.app)
	}
	readers.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			a := balanced.form("/api/oauth2/refresh", n.app.Refresh(refreshing[i%len(refreshing)].Refresh))
			switch {
			case a.err == nil && a.status == http.StatusOK:
				refreshed.Add(1)
			case a.err == nil && a.status == http.StatusTooManyRequests:
			default:
				t.Errorf("an application that refreshes got %s", a)
				return
			}
		}
	})
	load.waitForMore(someAnswers)
	for i, node := range []**program{&n.a, &n.b} {
		(*node).stop()
		*node = n.launch(i)
		balanced.waitUntil("back behind the balancer", func() bool { return !n.balancer.down[i].Load() })
		load.waitForMore(someAnswers)
	}
	stop()
	readers.Wait()
	load.finish()
	if refused := load.refused.Load(); refused > 0 {
		t.Errorf("%d submissions were refused", refused)
	}
	reportFigure(t, "two nodes restarted in turn, under load", "none of %d submissions, %d pages, %d API requests and %d refreshes failed",
		load.accepted.Load(), pages.Load(), read.Load(), refreshed.Load())
}
