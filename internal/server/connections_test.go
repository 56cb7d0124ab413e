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

// patience bounds what a test waits for; it is never reached when all is well.
const patience = 20 * time.Second

// dialFrom opens a connection from an address of this machine.
func dialFrom(t *testing.T, from, url string) net.Conn {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: patience}
	c, err := dialer.Dial("tcp", strings.TrimPrefix(strings.TrimPrefix(url, "http://"), "https://"))
	if err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(patience))
	t.Cleanup(func() { c.Close() })
	return c
}

// askOn sends a request on a connection and returns the status; zero: it was closed.
func askOn(c net.Conn, path string) int {
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path)
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

// waitFor waits until a condition holds.
func waitFor(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still not: %s", what)
		}
	}
}

func TestIdleConnectionsLockNobodyOut(t *testing.T) {
	var counts *connectionCounts
	url, log, stop := start(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "ok") }, func(c *Config) {
		c.MaxConnections, c.MaxPerAddress = 64, 64
		counts = &c.Metrics.connections
	})
	// Somebody else has a connection that is idle between two requests.
	other := dialFrom(t, "127.0.0.3", url)
	if got := askOn(other, "/"); got != 200 {
		t.Fatalf("before: %d", got)
	}
	var idle []net.Conn
	for range 300 {
		idle = append(idle, dialFrom(t, "127.0.0.2", url))
	}
	if got := askOn(dialFrom(t, "127.0.0.1", url), "/"); got != 200 {
		t.Errorf("a new connection from another address: %d", got)
	}
	if got := askOn(other, "/"); got != 200 {
		t.Errorf("an idle connection of an address that has one: %d", got)
	}
	if open := counts.open.Load(); open > 64 {
		t.Errorf("%d connections are open", open)
	}
	if counts.evicted.Load() < 300-64 || counts.refusedTotal.Load()+counts.refusedAddress.Load() > 0 {
		t.Errorf("%d were closed, %d and %d refused", counts.evicted.Load(), counts.refusedAddress.Load(), counts.refusedTotal.Load())
	}
	for _, c := range idle {
		c.Close()
	}
	stop()
	if n := strings.Count(log.String(), "level=WARN msg=\"connection limit reached"); n < 1 || n > 3 || !strings.Contains(log.String(), "address=127.0.0.2") {
		t.Errorf("%d warnings:\n%s", n, log)
	}
}

// busy starts requests that run until release is closed, and waits until all do.
func busy(t *testing.T, url, from string, n int, running func() int) (statuses chan int) {
	t.Helper()
	statuses = make(chan int, n)
	before := running()
	for range n {
		c := dialFrom(t, from, url)
		go func() { statuses <- askOn(c, "/busy") }()
	}
	waitFor(t, "all requests are running", func() bool { return running() == before+n })
	return statuses
}

type gate struct {
	mu      sync.Mutex
	running int
	release chan struct{}
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/busy" {
		g.mu.Lock()
		g.running++
		g.mu.Unlock()
		<-g.release
	}
	io.WriteString(w, "ok")
}

func (g *gate) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.running
}

func TestConnectionsOfOneAddress(t *testing.T) {
	g := &gate{release: make(chan struct{})}
	var counts *connectionCounts
	url, log, stop := start(t, g.ServeHTTP, func(c *Config) {
		c.MaxConnections, c.MaxPerAddress = 100, 8
		proxies, err := ParseTrustedProxies([]string{"127.0.0.4"})
		if err != nil {
			t.Fatal(err)
		}
		c.Trusted = proxies.Trusts
		counts = &c.Metrics.connections
	})
	statuses := busy(t, url, "127.0.0.2", 8, g.count)
	// The ninth is refused, as requests are running on the others.
	for range 20 {
		if got := askOn(dialFrom(t, "127.0.0.2", url), "/"); got != 0 {
			t.Errorf("beyond the limit: %d", got)
		}
	}
	if got := askOn(dialFrom(t, "127.0.0.1", url), "/"); got != 200 {
		t.Errorf("from another address: %d", got)
	}
	proxied := busy(t, url, "127.0.0.4", 20, g.count) // a trusted proxy has no limit
	close(g.release)
	for range 8 {
		if got := <-statuses; got != 200 {
			t.Errorf("within the limit: %d", got)
		}
	}
	for range 20 {
		if got := <-proxied; got != 200 {
			t.Errorf("through the proxy: %d", got)
		}
	}
	// They are idle now, so a new one takes the place of the oldest.
	waitFor(t, "there is room again", func() bool { return askOn(dialFrom(t, "127.0.0.2", url), "/") == 200 })
	if counts.refusedAddress.Load() < 20 || counts.refusedTotal.Load() != 0 {
		t.Errorf("%d and %d were refused", counts.refusedAddress.Load(), counts.refusedTotal.Load())
	}
	stop()
	if n := strings.Count(log.String(), `level=WARN msg="connection refused" address=127.0.0.2 reason="address limit" limit=8`); n < 1 || n > 3 {
		t.Errorf("%d warnings:\n%s", n, log)
	}
}

func TestTotalConnections(t *testing.T) {
	g := &gate{release: make(chan struct{})}
	var metrics *Metrics
	url, _, _ := start(t, g.ServeHTTP, func(c *Config) {
		c.MaxConnections, c.MaxPerAddress = 10, 10
		metrics = c.Metrics
	})
	first := busy(t, url, "127.0.0.2", 5, g.count)
	second := busy(t, url, "127.0.0.3", 5, g.count)
	if got := askOn(dialFrom(t, "127.0.0.1", url), "/"); got != 0 {
		t.Errorf("with requests on every connection: %d", got)
	}
	page := httptest.NewRecorder()
	metrics.Handler().ServeHTTP(page, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{"formulary_connections_open 10\n", "formulary_connections_refused_total{limit=\"total\"} 1\n", "formulary_connections_refused_total{limit=\"address\"} 0\n", "formulary_accept_errors_total 0\n", "formulary_connections_idle_closed_total 0\n"} {
		if !strings.Contains(page.Body.String(), want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
	close(g.release)
	for range 5 {
		if a, b := <-first, <-second; a != 200 || b != 200 {
			t.Errorf("answered %d and %d", a, b)
		}
	}
	waitFor(t, "there is room again", func() bool { return askOn(dialFrom(t, "127.0.0.1", url), "/") == 200 })
}

// With TLS, net/http knows the connection by another name.
func TestIdleConnectionsWithTLS(t *testing.T) {
	model := httptest.NewTLSServer(nil)
	defer model.Close()
	key, err := x509.MarshalPKCS8PrivateKey(model.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	certFile, keyFile := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	for file, block := range map[string]*pem.Block{
		certFile: {Type: "CERTIFICATE", Bytes: model.Certificate().Raw}, keyFile: {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g := &gate{release: make(chan struct{})}
	var counts *connectionCounts
	url, _, _ := start(t, g.ServeHTTP, func(c *Config) {
		c.MaxConnections, c.MaxPerAddress, c.CertFile, c.KeyFile = 10, 10, certFile, keyFile
		counts = &c.Metrics.connections
	})
	secure := func(from string) net.Conn {
		return tls.Client(dialFrom(t, from, url), &tls.Config{InsecureSkipVerify: true})
	}
	running := make(chan int, 1)
	c := secure("127.0.0.2")
	go func() { running <- askOn(c, "/busy") }()
	waitFor(t, "the request is running", func() bool { return g.count() == 1 })
	for range 30 {
		dialFrom(t, "127.0.0.2", url) // never begins its handshake
	}
	if got := askOn(secure("127.0.0.1"), "/"); got != 200 {
		t.Errorf("from another address: %d", got)
	}
	close(g.release)
	if got := <-running; got != 200 || counts.evicted.Load() < 20 {
		t.Errorf("the running request: %d; %d idle ones were closed", got, counts.evicted.Load())
	}
}

// tired is a listener that cannot accept for a while.
type tired struct {
	net.Listener
	errs int
}

func (l *tired) Accept() (net.Conn, error) {
	if l.errs > 0 {
		l.errs--
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return l.Listener.Accept()
}

func TestAcceptErrors(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Close()
	var out strings.Builder
	now := time.Unix(1_790_000_000, 0)
	l := newConnections(&tired{Listener: inner}, Config{MaxConnections: 4, Log: slog.New(slog.NewTextHandler(&out, nil))}, &connectionCounts{})
	l.now = func() time.Time { return now }
	client, err := net.Dial("tcp", inner.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := l.Accept(); err != nil {
		t.Fatal(err)
	}
	l.Listener.(*tired).errs = 5
	for range 5 {
		if _, err := l.Accept(); !errors.Is(err, syscall.EMFILE) {
			t.Fatalf("accept: %v", err)
		}
	}
	// The one idle connection was closed for it, and one line tells of the errors.
	if l.open != 0 || l.counts.acceptErrors.Load() != 5 || strings.Count(out.String(), "level=WARN msg=\"accept failed\"") != 1 {
		t.Errorf("%d open, %d errors:\n%s", l.open, l.counts.acceptErrors.Load(), out.String())
	}
	now = now.Add(throttleInterval)
	l.Listener.(*tired).errs = 1
	l.Accept()
	if !strings.Contains(out.String(), "unreported=4") {
		t.Errorf("later:\n%s", out.String())
	}
	l.Close()
	l.Accept() // a listener that was closed is no news
	if l.counts.acceptErrors.Load() != 6 {
		t.Error("closing counts as an error")
	}
}

// The address with the most connections loses its oldest idle ones, and proxies are
// the last to.
func TestWhoIsEvicted(t *testing.T) {
	at := int64(1)
	l := &connections{groups: map[groupKey]map[*conn]bool{}, counts: &connectionCounts{}}
	add := func(address string, proxy bool, idle bool) *conn {
		c := &conn{of: l, from: groupKey{netip.MustParseAddr(address), proxy}}
		if at++; idle {
			c.idle.Store(at)
		}
		if l.groups[c.from] == nil {
			l.groups[c.from] = map[*conn]bool{}
		}
		l.groups[c.from][c] = true
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
			t.Errorf("step %d took another", i)
		}
	}
	if got := l.evictFromLargest(4); len(got) != 4 || l.groups[few[0].from] != nil || got[3] != proxied[0] {
		t.Errorf("then %d", len(got))
	}
	if l.open != 9 || len(l.groups[many[0].from]) != 1 || l.evict(many[0]) {
		t.Error("a connection with a request on it was taken")
	}
}

func TestConnectionKeys(t *testing.T) {
	l := &connections{trusted: func(a netip.Addr) bool { return a == netip.MustParseAddr("2001:db8::9") }}
	for text, want := range map[string]groupKey{
		"192.0.2.7":            {netip.MustParseAddr("192.0.2.7"), false},
		"::ffff:192.0.2.7":     {netip.MustParseAddr("192.0.2.7"), false},
		"2001:db8:1:2:3:4:5:6": {netip.MustParseAddr("2001:db8:1:2::"), false},
		"2001:db8:1:2:ffff::1": {netip.MustParseAddr("2001:db8:1:2::"), false},
		"2001:db8::9":          {netip.MustParseAddr("2001:db8::9"), true},
		"2001:db8::8":          {netip.MustParseAddr("2001:db8::"), false},
	} {
		if got := l.keyOf(&net.TCPAddr{IP: net.ParseIP(text), Port: 1}); got != want {
			t.Errorf("%s counts as %v", text, got)
		}
	}
}

func TestDefaultConnections(t *testing.T) {
	for files, want := range map[uint64]int{0: minConnections, 100: 36, 300: 225, 1024: 768, 1 << 20: maxDefaultConnections, 1<<64 - 1: maxDefaultConnections} {
		if got := connectionsFor(files, true); got != want {
			t.Errorf("with %d files: %d connections", files, got)
		}
	}
	if got := connectionsFor(0, false); got != maxDefaultConnections {
		t.Errorf("with no known limit: %d", got)
	}
}

// A client that is still sending when it is answered can read the answer.
func TestAnswerBeforeTheBodyIsSent(t *testing.T) {
	url, _, _ := start(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	}, nil)
	c := dialFrom(t, "127.0.0.1", url)
	go func() {
		fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", 64<<20)
		io.CopyN(c, zeroes{}, 64<<20)
	}()
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("%v %v", res, err)
	}
}

type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) { return len(p), nil }
