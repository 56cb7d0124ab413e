package server

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestIdleConnectionsAreEvicted shows that hundreds of idle connections from one address
// lock out neither new clients nor the idle connection of another address.
func TestIdleConnectionsAreEvicted(t *testing.T) {
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
