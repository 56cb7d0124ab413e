package cli_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// balancer forwards requests to nodes in turn, like any load balancer: it polls their
// readiness, and tries the next node if one refuses connections. It never sends a
// request twice.
type balancer struct {
	*httptest.Server
	nodes  []string // addresses
	down   []atomic.Bool
	next   atomic.Uint64
	client http.Transport
}

// checkEvery is the interval that docs/scaling.md recommends: well below the second for
// which a stopping node still answers.
const checkEvery = 200 * time.Millisecond

func newBalancer(t *testing.T, nodes ...string) *balancer {
	t.Helper()
	b := &balancer{nodes: nodes, down: make([]atomic.Bool, len(nodes))}
	b.client.MaxIdleConnsPerHost = 64
	b.Server = httptest.NewServer(b)
	done := make(chan struct{})
	var checks sync.WaitGroup
	for i := range nodes {
		checks.Go(func() {
			client := &http.Client{Timeout: waitTimeout}
			for {
				res, err := client.Get("http://" + nodes[i] + "/readyz")
				if err == nil {
					res.Body.Close()
				}
				b.down[i].Store(err != nil || res.StatusCode != http.StatusOK)
				select {
				case <-done:
					client.CloseIdleConnections()
					return
				case <-time.After(checkEvery):
				}
			}
		})
	}
	t.Cleanup(func() {
		close(done)
		b.Server.Close()
		b.client.CloseIdleConnections()
		checks.Wait()
	})
	return b
}

func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client disconnected
	}
	first := b.next.Add(1)
	// Nodes that are ready come first. If none is ready, one of the others can say why.
	for _, ready := range []bool{true, false} {
		for i := range b.nodes {
			node := int((first + uint64(i)) % uint64(len(b.nodes)))
			if b.down[node].Load() == ready {
				continue
			}
			forwarded := r.Clone(r.Context())
			forwarded.URL.Scheme, forwarded.URL.Host = "http", b.nodes[node]
			forwarded.Body, forwarded.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			res, err := b.client.RoundTrip(forwarded)
			if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
				continue
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadGateway)
				return
			}
			defer res.Body.Close()
			for name, values := range res.Header {
				w.Header()[name] = values
			}
			// The header applies to the connection to the node only.
			w.Header().Del("Connection")
			w.WriteHeader(res.StatusCode)
			io.Copy(w, res.Body) // the client may have disconnected
			return
		}
	}
	http.Error(w, "no node takes connections", http.StatusBadGateway)
}

// distinctClients gives each request its own client address, so that rate limits per
// address do not apply.
type distinctClients struct {
	http.RoundTripper
	n *atomic.Uint32
}

func (v distinctClients) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("X-Forwarded-For") == "" {
		r = r.Clone(r.Context())
		n := v.n.Add(1)
		r.Header.Set("X-Forwarded-For", fmt.Sprintf("10.%d.%d.%d", byte(n>>16), byte(n>>8), byte(n)))
	}
	return v.RoundTripper.RoundTrip(r)
}

// load simulates respondents who submit continuously, each with an idempotency key that
// is repeated until it is acknowledged.
type load struct {
	t        *testing.T
	balanced *program
	survey   survey
	accepted atomic.Int64
	refused  atomic.Int64
	stop     context.CancelFunc
	wg       sync.WaitGroup

	mu           sync.Mutex
	acknowledged map[string]string // ids by key
}

func startLoad(t *testing.T, balanced *program, f survey, name string, clients int) *load {
	ctx, stop := context.WithCancel(context.Background())
	l := &load{t: t, balanced: balanced, survey: f, stop: stop, acknowledged: map[string]string{}}
	for client := range clients {
		l.wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				key := fmt.Sprintf("%s-%d-%d", name, client, n)
				id := balanced.submitUntilAccepted(f, 1, key, &l.refused)
				if id == "" {
					return
				}
				l.mu.Lock()
				l.acknowledged[key] = id
				l.mu.Unlock()
				l.accepted.Add(1)
			}
		})
	}
	t.Cleanup(func() { stop(); l.wg.Wait() })
	return l
}

// waitForMore waits until n more responses were acknowledged.
func (l *load) waitForMore(n int64) {
	l.t.Helper()
	target := l.accepted.Load() + n
	l.balanced.waitUntil("taking submissions", func() bool { return l.accepted.Load() >= target || l.t.Failed() })
}

// finish stops the load and compares the acknowledged responses with the stored ones.
func (l *load) finish() {
	l.t.Helper()
	l.stop()
	l.wg.Wait()
	storedCount := map[string]int{}
	for id, key := range l.balanced.readStored(l.survey) {
		storedCount[key]++
		if want, ok := l.acknowledged[key]; ok && want != id {
			l.t.Errorf("%s was acknowledged as %s but is stored as %s", key, want, id)
		}
	}
	for key := range l.acknowledged {
		if storedCount[key] != 1 {
			l.t.Errorf("%s was acknowledged and is stored %d times", key, storedCount[key])
		}
	}
	for key, n := range storedCount {
		if n > 1 {
			l.t.Errorf("%s was stored %d times", key, n)
		}
	}
}
