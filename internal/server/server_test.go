package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"formulary/internal/fault"
	"formulary/internal/limit"
)

// startServer runs a server with the handler and returns its URL, its log, and a function
// that stops the server and waits until it has ended. The log is complete after that.
func startServer(t *testing.T, handler http.HandlerFunc, configure func(*Config)) (string, *bytes.Buffer, func()) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return startOn(t, listener, handler, configure)
}

// startOn is startServer on a listener.
func startOn(t *testing.T, listener net.Listener, handler http.HandlerFunc, configure func(*Config)) (string, *bytes.Buffer, func()) {
	t.Helper()
	var addresses ClientIPs
	out := &bytes.Buffer{}
	log, logCloser := NewLog(out, false, slog.LevelInfo)
	config := Config{
		Handler: handler, Log: log, ClientIP: addresses.ClientIP, Metrics: NewMetrics(),
		Ready: func(context.Context) error { return nil },
		WriteError: func(w http.ResponseWriter, r *http.Request, err error) {
			w.WriteHeader(fault.Wrap(err).Code.Status())
			fmt.Fprint(w, fault.Wrap(err).Message)
		},
	}
	if configure != nil {
		configure(&config)
	}
	s, err := New(listener, config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx) }()
	var once sync.Once
	stop := func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				t.Errorf("serve: %v", err)
			}
			logCloser.Close()
		})
	}
	t.Cleanup(stop)
	return "http://" + listener.Addr().String(), out, stop
}

func get(t *testing.T, url string) (*http.Response, string) {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(text)
}

// testDrain is long, because a request that the server has not read when it ends fails.
const testDrain = 3 * time.Second

// TestGracefulStop shows that stopping under load fails no accepted request. Later
// requests fail when they connect, never in the middle.
func TestGracefulStop(t *testing.T) {
	t.Parallel()
	var started atomic.Int64
	url, _, stop := startServer(t, func(w http.ResponseWriter, r *http.Request) {
		started.Add(1)
		time.Sleep(2 * time.Millisecond)
		io.WriteString(w, "complete response")
	}, func(c *Config) { c.Drain = testDrain })
	var failed, completed atomic.Int64
	var clients sync.WaitGroup
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}
	for range 32 {
		clients.Go(func() {
			for {
				res, err := client.Get(url)
				var refused *net.OpError
				if errors.As(err, &refused) && refused.Op == "dial" {
					return // the listener is closed
				}
				if err != nil {
					failed.Add(1)
					t.Errorf("request failed: %v", err)
					return
				}
				text, err := io.ReadAll(res.Body)
				res.Body.Close()
				if err != nil || string(text) != "complete response" {
					failed.Add(1)
					t.Errorf("incomplete response: %q (%v)", text, err)
					return
				}
				completed.Add(1)
			}
		})
	}
	for started.Load() < 500 {
		time.Sleep(time.Millisecond)
	}
	stop()
	clients.Wait()
	if failed.Load() > 0 || completed.Load() != started.Load() {
		t.Errorf("%d requests failed, %d completed of %d", failed.Load(), completed.Load(), started.Load())
	}
}

// TestStopAnswersOpenConnections shows that connections that clients have opened before
// the stop are answered, even if the server had not accepted them yet.
func TestStopAnswersOpenConnections(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var clients []net.Conn
	for range 50 {
		c, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprint(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		clients = append(clients, c)
	}
	var addresses ClientIPs
	s, err := New(listener, Config{
		Log: slog.New(slog.DiscardHandler), ClientIP: addresses.ClientIP, Drain: testDrain,
		Ready: func(context.Context) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Serve(ctx); err != nil {
		t.Fatal(err)
	}
	for i, c := range clients {
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || res.StatusCode != 200 {
			t.Fatalf("connection %d of %d: %v", i+1, len(clients), err)
		}
	}
	if c, err := net.Dial("tcp", listener.Addr().String()); err == nil {
		c.Close()
		t.Error("a connection was opened after the stop")
	}
}

// TestMiddleware shows what every response has: headers, a request ID, a log line without
// the query, and an error response after a panic.
func TestMiddleware(t *testing.T) {
	url, log, stop := startServer(t, func(w http.ResponseWriter, r *http.Request) {
		r.Pattern = "/pattern"
		switch r.URL.Path {
		case "/panic":
			panic("panic value")
		case "/panic-after-write":
			io.WriteString(w, "started")
			panic("second panic value")
		}
	}, nil)
	res, text := get(t, url+"/panic?secret=1")
	if res.StatusCode != 500 || strings.Contains(text, "panic value") {
		t.Errorf("panic: %d %q", res.StatusCode, text)
	}
	get(t, url+"/panic-after-write")
	res, _ = get(t, url+"/")
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
	} {
		if got := res.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	id := res.Header.Get("X-Request-Id")
	other, _ := get(t, url+"/")
	if len(id) != 24 || other.Header.Get("X-Request-Id") == id {
		t.Errorf("request IDs %q and %q", id, other.Header.Get("X-Request-Id"))
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if res, _ := get(t, url+path); res.StatusCode != 200 {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
	stop()
	for _, want := range []string{"status=500", "path=/panic", "panic value", "id=" + id, "address=127.0.0.1", "second panic value"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not contain %s", want)
		}
	}
	if strings.Contains(log.String(), "secret=1") {
		t.Error("the log contains a query")
	}
}

// TestReadiness shows that /readyz follows Config.Ready and does not reveal the error.
func TestReadiness(t *testing.T) {
	var unavailable atomic.Bool
	url, _, _ := startServer(t, func(http.ResponseWriter, *http.Request) {}, func(c *Config) {
		c.Ready = func(context.Context) error {
			if unavailable.Load() {
				return errors.New("internal reason")
			}
			return nil
		}
	})
	unavailable.Store(true)
	res, text := get(t, url+"/readyz")
	if res.StatusCode != 503 || strings.Contains(text, "internal reason") {
		t.Errorf("not ready: %d %q", res.StatusCode, text)
	}
	unavailable.Store(false)
	if res, _ := get(t, url+"/readyz"); res.StatusCode != 200 {
		t.Errorf("ready again: %d", res.StatusCode)
	}
}

// TestAddressLimit shows the rate limit per address and its headers. Health probes are
// exempt.
func TestAddressLimit(t *testing.T) {
	url, _, _ := startServer(t, func(http.ResponseWriter, *http.Request) {}, func(c *Config) {
		c.AddressLimiter = limit.New[netip.Addr](3, time.Minute, time.Now)
	})
	for i := range 3 {
		res, _ := get(t, url)
		if res.StatusCode != 200 {
			t.Errorf("request %d: status %d", i, res.StatusCode)
		}
		for name, want := range map[string]string{
			"RateLimit-Policy": `"address";q=3;w=60`, "RateLimit": fmt.Sprintf(`"address";r=%d;t=0`, 2-i),
		} {
			if got := res.Header.Get(name); got != want {
				t.Errorf("request %d: %s is %s, want %s", i, name, got, want)
			}
		}
	}
	res, _ := get(t, url)
	if res.StatusCode != 429 || !strings.HasPrefix(res.Header.Get("RateLimit"), `"address";r=0;t=`) {
		t.Errorf("fourth request: status %d, headers %v", res.StatusCode, res.Header)
	}
	if res, _ := get(t, url+"/healthz"); res.StatusCode != 200 {
		t.Errorf("health probe: status %d", res.StatusCode)
	}
}

// TestBadRequests shows that malformed and oversized requests get a 4xx.
func TestBadRequests(t *testing.T) {
	url, _, _ := startServer(t, func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) }, nil)
	for name, request := range map[string]string{
		"huge header":       "GET / HTTP/1.1\r\nHost: x\r\nX-Large: " + strings.Repeat("x", 64<<10) + "\r\n\r\n",
		"huge request line": "GET /" + strings.Repeat("x", 64<<10) + " HTTP/1.1\r\nHost: x\r\n\r\n",
		"no host":           "GET / HTTP/1.1\r\n\r\n",
		"two lengths":       "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
		"nonsense":          "\x16\x03\x01 nonsense\r\n\r\n",
		"bad method":        "G@T / HTTP/1.1\r\nHost: x\r\n\r\n",
		"bad header":        "GET / HTTP/1.1\r\nHost: x\r\nBad Header: x\r\n\r\n",
		"bad encoding":      "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		conn.SetDeadline(time.Now().Add(testTimeout))
		go io.WriteString(conn, request)
		statusLine := make([]byte, 12)
		if _, err := io.ReadFull(conn, statusLine); err != nil || !strings.HasPrefix(string(statusLine), "HTTP/1.1 4") {
			t.Errorf("%s: got %q (%v), want a 4xx", name, statusLine, err)
		}
		conn.Close()
	}
}

// TestClientIP shows which address of X-Forwarded-For counts.
func TestClientIP(t *testing.T) {
	proxies, err := ParseTrustedProxies([]string{"10.0.0.0/8", " 192.0.2.1", "::1", ""})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ remote, forwarded, want string }{
		{"10.1.1.1:1", "10.3.3.3,10.2.2.2", "10.3.3.3"},
		{"10.1.1.1:1", "9.9.9.9,,10.2.2.2", "10.2.2.2"},
		{"10.1.1.1:1", "9.9.9.9\n1.2.3.4, 10.3.3.3\n10.2.2.2", "1.2.3.4"}, // three header fields
		{"203.0.113.5:1", "1.2.3.4", "203.0.113.5"},                       // not a trusted proxy
		{"10.1.1.1:1", "1.2.3.4", "1.2.3.4"},
		{"10.1.1.1:1", "9.9.9.9, 1.2.3.4, 192.0.2.1", "1.2.3.4"},
		{"10.1.1.1:1", "", "10.1.1.1"},
		{"10.1.1.1:1", "nonsense", "10.1.1.1"},
		{"10.1.1.1:1", "1.2.3.4, nonsense", "10.1.1.1"},
		{"[::1]:1", "2001:db8::1", "2001:db8::1"},
		{"[::ffff:10.1.1.1]:1", "1.2.3.4", "1.2.3.4"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = c.remote
		if c.forwarded != "" {
			r.Header["X-Forwarded-For"] = strings.Split(c.forwarded, "\n")
		}
		if got := proxies.ClientIP(r).String(); got != c.want {
			t.Errorf("%s for %q: %s, want %s", c.remote, c.forwarded, got, c.want)
		}
	}
	if _, err := ParseTrustedProxies([]string{"nonsense"}); err == nil {
		t.Error("an invalid address was accepted")
	}
}

// TestMetricLabelsAreBounded shows that clients cannot create labels with unknown methods
// and paths.
func TestMetricLabelsAreBounded(t *testing.T) {
	m := NewMetrics()
	for i := range 100 {
		r := httptest.NewRequest("GET", fmt.Sprintf("/%d", i), nil)
		r.Method = fmt.Sprintf("M%d", i)
		m.observe(r, 404, time.Millisecond)
	}
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	text := w.Body.String()
	if n := strings.Count(text, "formulary_http_request_seconds_count"); n != 1 || !strings.Contains(text, `method="other",route="none",status="404"} 100`) {
		t.Errorf("%d series:\n%s", n, text)
	}
}

// TestMetricsFormat shows that the output is valid for Prometheus: every line is a comment
// or a name, labels and a number, and buckets are cumulative.
func TestMetricsFormat(t *testing.T) {
	m := NewMetrics()
	r := httptest.NewRequest("GET", "/", nil)
	r.Pattern = "/forms/{id}"
	for _, took := range []time.Duration{time.Microsecond, 3 * time.Millisecond, 5 * time.Millisecond, time.Minute} {
		m.observe(r, 200, took)
	}
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	text := w.Body.String()
	line := regexp.MustCompile(`^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{([a-z]+="[^"]*",?)+\})? [0-9.e+-]+)$`)
	for part := range strings.Lines(text) {
		if !line.MatchString(strings.TrimSuffix(part, "\n")) {
			t.Errorf("invalid line: %q", part)
		}
	}
	const labels = `method="GET",route="/forms/{id}",status="200"`
	for _, want := range []string{
		`formulary_http_request_seconds_bucket{` + labels + `,le="0.0005"} 1`, `formulary_http_request_seconds_bucket{` + labels + `,le="0.005"} 3`,
		`formulary_http_request_seconds_bucket{` + labels + `,le="10"} 3`, `formulary_http_request_seconds_bucket{` + labels + `,le="+Inf"} 4`,
		`formulary_http_request_seconds_sum{` + labels + `} 60.008001`, `formulary_http_request_seconds_count{` + labels + `} 4`,
		"formulary_panics_total 0", "process_resident_memory_bytes ", "go_goroutines ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("missing %s in\n%s", want, text)
		}
	}
}
