package server

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// testTimeout bounds every wait. Only failing tests reach it.
const testTimeout = 20 * time.Second

// dialFrom opens a connection from a loopback address of this machine.
func dialFrom(t *testing.T, from, url string) net.Conn {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: testTimeout}
	c, err := dialer.Dial("tcp", strings.TrimPrefix(strings.TrimPrefix(url, "http://"), "https://"))
	if err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(testTimeout))
	t.Cleanup(func() { c.Close() })
	return c
}

// getStatus sends a request on a connection and returns the status, or 0 if the server
// closed the connection.
func getStatus(c net.Conn, path string) int {
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path)
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

// waitFor waits until the condition is true. The goal describes it.
func waitFor(t *testing.T, goal string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(testTimeout); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("timed out waiting until %s", goal)
		}
	}
}

// TestIdleConnectionsMakeRoom shows that hundreds of idle connections from one address
// lock out neither new clients nor the idle connection of another address.
func TestIdleConnectionsMakeRoom(t *testing.T) {
	var counts *connectionCounts
	url, log, stop := startServer(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "ok") }, func(c *Config) {
		c.MaxConnections, c.MaxPerAddress = 64, 64
		counts = &c.Metrics.connections
	})
	// Another client keeps a connection open between two requests.
	other := dialFrom(t, "127.0.0.3", url)
	if got := getStatus(other, "/"); got != 200 {
		t.Fatalf("before the flood: status %d", got)
	}
	var idle []net.Conn
	for range 300 {
		idle = append(idle, dialFrom(t, "127.0.0.2", url))
	}
	if got := getStatus(dialFrom(t, "127.0.0.1", url), "/"); got != 200 {
		t.Errorf("new connection from another address: status %d", got)
	}
	if got := getStatus(other, "/"); got != 200 {
		t.Errorf("only connection of another address: status %d", got)
	}
	if open := counts.open.Load(); open > 64 {
		t.Errorf("%d connections are open, want at most 64", open)
	}
	if n := counts.evicted.Load(); n < 300-64 {
		t.Errorf("%d idle connections were closed, want at least %d", n, 300-64)
	}
	if n := counts.refusedTotal.Load() + counts.refusedAddress.Load(); n > 0 {
		t.Errorf("%d connections were refused, want 0", n)
	}
	for _, c := range idle {
		c.Close()
	}
	stop()
	if n := strings.Count(log.String(), "level=WARN msg=\"connection limit reached"); n < 1 || n > 3 {
		t.Errorf("%d warnings, want 1 to 3:\n%s", n, log)
	}
	if !strings.Contains(log.String(), "address=127.0.0.2") {
		t.Errorf("the log does not name the address:\n%s", log)
	}
}

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

// TestIdleConnectionsWithTLS shows that busy and idle are distinguished with TLS too, where
// net/http reports the state of the *tls.Conn around our connection.
func TestIdleConnectionsWithTLS(t *testing.T) {
	certSource := httptest.NewTLSServer(nil)
	defer certSource.Close()
	key, err := x509.MarshalPKCS8PrivateKey(certSource.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{
		certFile: {Type: "CERTIFICATE", Bytes: certSource.Certificate().Raw}, keyFile: {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h := &blockingHandler{release: make(chan struct{})}
	var counts *connectionCounts
	url, _, _ := startServer(t, h.ServeHTTP, func(c *Config) {
		c.MaxConnections, c.MaxPerAddress, c.CertFile, c.KeyFile = 10, 10, certFile, keyFile
		counts = &c.Metrics.connections
	})
	dialTLS := func(from string) net.Conn {
		return tls.Client(dialFrom(t, from, url), &tls.Config{InsecureSkipVerify: true})
	}
	running := make(chan int, 1)
	c := dialTLS("127.0.0.2")
	go func() { running <- getStatus(c, "/busy") }()
	waitFor(t, "the request runs", func() bool { return h.count() == 1 })
	for range 30 {
		dialFrom(t, "127.0.0.2", url) // never starts its handshake
	}
	if got := getStatus(dialTLS("127.0.0.1"), "/"); got != 200 {
		t.Errorf("from another address: status %d", got)
	}
	close(h.release)
	if got := <-running; got != 200 {
		t.Errorf("the running request: status %d", got)
	}
	if n := counts.evicted.Load(); n < 20 {
		t.Errorf("%d idle connections were closed, want at least 20", n)
	}
}

// failingListener is a listener whose next calls of Accept fail with EMFILE.
type failingListener struct {
	net.Listener
	failures int // how many calls
}

func (l *failingListener) Accept() (net.Conn, error) {
	if l.failures > 0 {
		l.failures--
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return l.Listener.Accept()
}

// TestAcceptErrors shows that running out of files closes idle connections, and that the
// errors are counted and logged once per interval.
func TestAcceptErrors(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Close()
	var out strings.Builder
	now := time.Unix(1_790_000_000, 0)
	l := newConnections(&failingListener{Listener: inner}, Config{MaxConnections: 4, Log: slog.New(slog.NewTextHandler(&out, nil))}, &connectionCounts{})
	l.now = func() time.Time { return now }
	client, err := net.Dial("tcp", inner.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := l.Accept(); err != nil {
		t.Fatal(err)
	}
	l.Listener.(*failingListener).failures = 5
	for range 5 {
		if _, err := l.Accept(); !errors.Is(err, syscall.EMFILE) {
			t.Fatalf("accept: %v", err)
		}
	}
	if l.open != 0 {
		t.Errorf("%d connections are open; the idle one was not closed", l.open)
	}
	if n := l.counts.acceptErrors.Load(); n != 5 {
		t.Errorf("%d errors were counted, want 5", n)
	}
	if n := strings.Count(out.String(), "level=WARN msg=\"accept failed\""); n != 1 {
		t.Errorf("%d log lines, want 1:\n%s", n, out.String())
	}
	now = now.Add(throttleInterval)
	l.Listener.(*failingListener).failures = 1
	l.Accept()
	if !strings.Contains(out.String(), "unreported=4") {
		t.Errorf("the second log line does not count the suppressed errors:\n%s", out.String())
	}
	l.Close()
	l.Accept() // fails with net.ErrClosed
	if l.counts.acceptErrors.Load() != 6 {
		t.Error("closing the listener was counted as an error")
	}
}

// TestEvictionOrder shows that the group with the most connections loses its longest idle
// ones first, and that trusted proxies come last.
func TestEvictionOrder(t *testing.T) {
	clock := int64(1)
	l := &connections{groups: map[groupKey]map[*conn]bool{}, counts: &connectionCounts{}}
	add := func(address string, proxy bool, idle bool) *conn {
		c := &conn{listener: l, groupKey: groupKey{netip.MustParseAddr(address), proxy}}
		if clock++; idle {
			c.idleSince.Store(clock)
		}
		if l.groups[c.groupKey] == nil {
			l.groups[c.groupKey] = map[*conn]bool{}
		}
		l.groups[c.groupKey][c] = true
		l.open++
		return c
	}
	var proxied, many, few []*conn
	for range 9 {
		proxied = append(proxied, add("192.0.2.1", true, true))
	}
	for i := range 6 {
		many = append(many, add("192.0.2.2", false, i != 0))
	}
	for range 2 {
		few = append(few, add("192.0.2.3", false, true))
	}
	for i, want := range []*conn{many[1], many[2], many[3], many[4]} {
		if got := l.evictFromLargest(1); len(got) != 1 || got[0] != want {
			t.Errorf("step %d evicted another connection", i)
		}
	}
	// What is left: one idle connection of many, two of few, and the proxy's.
	if got := l.evictFromLargest(4); len(got) != 4 || got[3] != proxied[0] {
		t.Errorf("%d more were evicted, want 4, the last one a proxy's", len(got))
	}
	if l.groups[few[0].groupKey] != nil {
		t.Error("the proxy lost a connection before the smallest group was empty")
	}
	if l.open != 9 || len(l.groups[many[0].groupKey]) != 1 || l.evict(many[0]) {
		t.Error("a connection with a running request was evicted")
	}
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

// TestResponseBeforeBodyIsSent shows that a client that is still sending its body can read
// the response.
func TestResponseBeforeBodyIsSent(t *testing.T) {
	url, _, _ := startServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	}, nil)
	c := dialFrom(t, "127.0.0.1", url)
	go func() {
		fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", 64<<20)
		io.CopyN(c, zeroReader{}, 64<<20)
	}()
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("got %v (%v), want status 413", res, err)
	}
}

// zeroReader is an endless body.
type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) { return len(p), nil }
