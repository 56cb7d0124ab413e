package server

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
)

// startBusyRequests starts n requests that block in a blockingHandler, and returns when
// all of them are running. Their statuses are sent to the channel.
func startBusyRequests(t *testing.T, url, from string, n int, running func() int) (statuses chan int) {
	t.Helper()
	statuses = make(chan int, n)
	before := running()
	for range n {
		c := dialFrom(t, from, url)
		go func() { statuses <- getStatus(c, "/busy") }()
	}
	waitFor(t, "all requests run", func() bool { return running() == before+n })
	return statuses
}

// blockingHandler blocks requests of /busy until release is closed.
type blockingHandler struct {
	mu      sync.Mutex
	running int
	release chan struct{}
}

func (h *blockingHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/busy" {
		h.mu.Lock()
		h.running++
		h.mu.Unlock()
		<-h.release
	}
	io.WriteString(w, "ok")
}

func (h *blockingHandler) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.running
}

// TestConnectionLimitPerAddress shows that an address at its limit is refused only while
// all its connections are busy, and that trusted proxies have no such limit.
func TestConnectionLimitPerAddress(t *testing.T) {
	h := &blockingHandler{release: make(chan struct{})}
	var counts *connectionCounts
	url, log, stop := startServer(t, h.ServeHTTP, func(c *Config) {
		c.MaxConnections, c.MaxPerAddress = 100, 8
		proxies, err := ParseTrustedProxies([]string{"127.0.0.4"})
		if err != nil {
			t.Fatal(err)
		}
		c.Trusted = proxies.IsTrusted
		counts = &c.Metrics.connections
	})
	statuses := startBusyRequests(t, url, "127.0.0.2", 8, h.count)
	// All 8 connections are busy, so others are refused.
	for range 20 {
		if got := getStatus(dialFrom(t, "127.0.0.2", url), "/"); got != 0 {
			t.Errorf("over the limit: status %d, want a closed connection", got)
		}
	}
	if got := getStatus(dialFrom(t, "127.0.0.1", url), "/"); got != 200 {
		t.Errorf("from another address: status %d", got)
	}
	proxied := startBusyRequests(t, url, "127.0.0.4", 20, h.count)
	close(h.release)
	for range 8 {
		if got := <-statuses; got != 200 {
			t.Errorf("within the limit: status %d", got)
		}
	}
	for range 20 {
		if got := <-proxied; got != 200 {
			t.Errorf("through the proxy: status %d", got)
		}
	}
	// The connections are idle now, so a new one replaces the oldest.
	waitFor(t, "a new connection is accepted", func() bool { return getStatus(dialFrom(t, "127.0.0.2", url), "/") == 200 })
	if byAddress, byTotal := counts.refusedAddress.Load(), counts.refusedTotal.Load(); byAddress < 20 || byTotal != 0 {
		t.Errorf("refused at the address limit: %d, want 20 or more; at the total limit: %d, want 0", byAddress, byTotal)
	}
	stop()
	if n := strings.Count(log.String(), `level=WARN msg="connection refused" address=127.0.0.2 reason="address limit" limit=8`); n < 1 || n > 3 {
		t.Errorf("%d warnings, want 1 to 3:\n%s", n, log)
	}
}

// TestConnectionLimitTotal shows that a connection over the total limit is refused while
// all connections are busy, and that the metrics count it.
func TestConnectionLimitTotal(t *testing.T) {
	h := &blockingHandler{release: make(chan struct{})}
	var metrics *Metrics
	url, _, _ := startServer(t, h.ServeHTTP, func(c *Config) {
		c.MaxConnections, c.MaxPerAddress = 10, 10
		metrics = c.Metrics
	})
	first := startBusyRequests(t, url, "127.0.0.2", 5, h.count)
	second := startBusyRequests(t, url, "127.0.0.3", 5, h.count)
	if got := getStatus(dialFrom(t, "127.0.0.1", url), "/"); got != 0 {
		t.Errorf("over the limit: status %d, want a closed connection", got)
	}
	page := httptest.NewRecorder()
	metrics.Handler().ServeHTTP(page, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{"formulary_connections_open 10\n", "formulary_connections_refused_total{limit=\"total\"} 1\n", "formulary_connections_refused_total{limit=\"address\"} 0\n", "formulary_accept_errors_total 0\n", "formulary_connections_idle_closed_total 0\n"} {
		if !strings.Contains(page.Body.String(), want) {
			t.Errorf("metrics do not contain %s", want)
		}
	}
	close(h.release)
	for range 5 {
		if a, b := <-first, <-second; a != 200 || b != 200 {
			t.Errorf("within the limit: statuses %d and %d", a, b)
		}
	}
	waitFor(t, "a new connection is accepted", func() bool { return getStatus(dialFrom(t, "127.0.0.1", url), "/") == 200 })
}

// TestGroupKeyOf shows which addresses share a limit.
func TestGroupKeyOf(t *testing.T) {
	l := &connections{isTrusted: func(a netip.Addr) bool { return a == netip.MustParseAddr("2001:db8::9") }}
	for text, want := range map[string]groupKey{
		"192.0.2.7":            {netip.MustParseAddr("192.0.2.7"), false},
		"::ffff:192.0.2.7":     {netip.MustParseAddr("192.0.2.7"), false},
		"2001:db8:1:2:3:4:5:6": {netip.MustParseAddr("2001:db8:1:2::"), false},
		"2001:db8:1:2:ffff::1": {netip.MustParseAddr("2001:db8:1:2::"), false},
		"2001:db8::9":          {netip.MustParseAddr("2001:db8::9"), true},
		"2001:db8::8":          {netip.MustParseAddr("2001:db8::"), false},
	} {
		if got := l.groupKeyOf(&net.TCPAddr{IP: net.ParseIP(text), Port: 1}); got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}

// TestDefaultMaxConnections shows the default for several limits of open files.
func TestDefaultMaxConnections(t *testing.T) {
	for files, want := range map[uint64]int{0: minConnections, 100: 36, 300: 225, 1024: 768, 1 << 20: maxDefaultConnections, 1<<64 - 1: maxDefaultConnections} {
		if got := defaultMaxConnections(files, true); got != want {
			t.Errorf("%d files: %d connections, want %d", files, got, want)
		}
	}
	if got := defaultMaxConnections(0, false); got != maxDefaultConnections {
		t.Errorf("limit of files unknown: %d connections", got)
	}
}
