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

// balancer hands requests to nodes in turn, as any load balancer does: it asks
// each every now and then whether it is ready, and goes to the next one when one
// takes no connection. What was sent once is not sent again.
type balancer struct {
	*httptest.Server
	nodes  []string // their addresses
	away   []atomic.Bool
	turn   atomic.Uint64
	client http.Transport
}

// checkEvery is what docs/scaling.md asks of a balancer: well below the second that a node
// goes on answering after it was told to stop.
const checkEvery = 200 * time.Millisecond

func newBalancer(t *testing.T, nodes ...string) *balancer {
	t.Helper()
	b := &balancer{nodes: nodes, away: make([]atomic.Bool, len(nodes))}
	b.client.MaxIdleConnsPerHost = 64
	b.Server = httptest.NewServer(b)
	done := make(chan struct{})
	var checks sync.WaitGroup
	for i := range nodes {
		checks.Go(func() {
			client := &http.Client{Timeout: patience}
			for {
				res, err := client.Get("http://" + nodes[i] + "/readyz")
				if err == nil {
					res.Body.Close()
				}
				b.away[i].Store(err != nil || res.StatusCode != http.StatusOK)
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
		return // the client has gone
	}
	turn := b.turn.Add(1)
	// Those that are ready first; when none is, one of them can say why.
	for _, ready := range []bool{true, false} {
		for i := range b.nodes {
			node := int((turn + uint64(i)) % uint64(len(b.nodes)))
			if b.away[node].Load() == ready {
				continue
			}
			to := r.Clone(r.Context())
			to.URL.Scheme, to.URL.Host = "http", b.nodes[node]
			to.Body, to.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			res, err := b.client.RoundTrip(to)
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
			// That is between the node and us.
			w.Header().Del("Connection")
			w.WriteHeader(res.StatusCode)
			io.Copy(w, res.Body) // the client may have gone
			return
		}
	}
	http.Error(w, "no node takes connections", http.StatusBadGateway)
}

// visitors gives each request an address of its own, so that many people may ask
// from one machine.
type visitors struct {
	http.RoundTripper
	n *atomic.Uint32
}

func (v visitors) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("X-Forwarded-For") == "" {
		r = r.Clone(r.Context())
		n := v.n.Add(1)
		r.Header.Set("X-Forwarded-For", fmt.Sprintf("10.%d.%d.%d", byte(n>>16), byte(n>>8), byte(n)))
	}
	return v.RoundTripper.RoundTrip(r)
}

// load is people who answer a form, each again and again, with a key that they
// send until they are answered.
type load struct {
	t       *testing.T
	through *program
	survey  survey
	taken   atomic.Int64
	refused atomic.Int64
	stop    context.CancelFunc
	all     sync.WaitGroup

	mu           sync.Mutex
	acknowledged map[string]string // ids by key
}

func startLoad(t *testing.T, through *program, f survey, name string, people int) *load {
	ctx, stop := context.WithCancel(context.Background())
	l := &load{t: t, through: through, survey: f, stop: stop, acknowledged: map[string]string{}}
	for client := range people {
		l.all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				key := fmt.Sprintf("%s-%d-%d", name, client, n)
				id := through.submitUntilTaken(f, 1, key, &l.refused)
				if id == "" {
					return
				}
				l.mu.Lock()
				l.acknowledged[key] = id
				l.mu.Unlock()
				l.taken.Add(1)
			}
		})
	}
	t.Cleanup(func() { stop(); l.all.Wait() })
	return l
}

// more waits until so many more were taken.
func (l *load) more(n int64) {
	l.t.Helper()
	enough := l.taken.Load() + n
	l.through.eventually("taking submissions", func() bool { return l.taken.Load() >= enough || l.t.Failed() })
}

// finish ends the load and compares what was acknowledged with what is there.
func (l *load) finish() {
	l.t.Helper()
	l.stop()
	l.all.Wait()
	times := map[string]int{}
	for id, key := range l.through.stored(l.survey) {
		times[key]++
		if want, ours := l.acknowledged[key]; ours && want != id {
			l.t.Errorf("%s was acknowledged as %s, what is there is %s", key, want, id)
		}
	}
	for key := range l.acknowledged {
		if times[key] != 1 {
			l.t.Errorf("%s was acknowledged and is there %d times", key, times[key])
		}
	}
	for key, n := range times {
		if n > 1 {
			l.t.Errorf("%s was stored %d times", key, n)
		}
	}
}
