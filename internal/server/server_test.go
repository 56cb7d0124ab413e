package server

import (
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

// start runs a server around a handler and returns its address, its log, and a
// function that stops it and waits.
func start(t *testing.T, handler http.HandlerFunc, change func(*Config)) (string, *bytes.Buffer, func()) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var addresses ClientIPs
	out := &bytes.Buffer{}
	log, logEnd := NewLog(out, false, slog.LevelInfo)
	config := Config{
		Handler: handler, Log: log, Address: addresses.ClientIP, Metrics: NewMetrics(),
		Ready: func(context.Context) error { return nil },
		Fail: func(w http.ResponseWriter, r *http.Request, err error) {
			w.WriteHeader(fault.Wrap(err).Code.Status())
			fmt.Fprint(w, fault.Wrap(err).Message)
		},
	}
	if change != nil {
		change(&config)
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
			logEnd.Close()
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

// A stop under load fails no request: what was accepted is answered, and
// clients that come back are refused at the door, not in the middle.
func TestGracefulStop(t *testing.T) {
	var started atomic.Int64
	url, _, stop := start(t, func(w http.ResponseWriter, r *http.Request) {
		started.Add(1)
		time.Sleep(2 * time.Millisecond)
		io.WriteString(w, "whole answer")
	}, nil)
	var failed, answered atomic.Int64
	var all sync.WaitGroup
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}
	for range 32 {
		all.Go(func() {
			for {
				res, err := client.Get(url)
				var refused *net.OpError
				if errors.As(err, &refused) && refused.Op == "dial" {
					return // the door is closed
				}
				if err != nil {
					failed.Add(1)
					t.Errorf("failed: %v", err)
					return
				}
				text, err := io.ReadAll(res.Body)
				res.Body.Close()
				if err != nil || string(text) != "whole answer" {
					failed.Add(1)
					t.Errorf("half an answer: %q (%v)", text, err)
					return
				}
				answered.Add(1)
			}
		})
	}
	for started.Load() < 500 {
		time.Sleep(time.Millisecond)
	}
	stop()
	all.Wait()
	if failed.Load() > 0 || answered.Load() != started.Load() {
		t.Errorf("%d failed, %d answered of %d", failed.Load(), answered.Load(), started.Load())
	}
}

func TestAround(t *testing.T) {
	url, log, stop := start(t, func(w http.ResponseWriter, r *http.Request) {
		r.Pattern = "/pattern"
		switch r.URL.Path {
		case "/panic":
			panic("at the disco")
		case "/late":
			io.WriteString(w, "begun")
			panic("too late")
		}
	}, nil)
	res, text := get(t, url+"/panic?secret=1")
	if res.StatusCode != 500 || strings.Contains(text, "disco") {
		t.Errorf("panic: %d %q", res.StatusCode, text)
	}
	get(t, url+"/late")
	res, _ = get(t, url+"/")
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
	} {
		if got := res.Header.Get(name); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	id := res.Header.Get("X-Request-Id")
	other, _ := get(t, url+"/")
	if len(id) != 24 || other.Header.Get("X-Request-Id") == id {
		t.Errorf("request ids %q and %q", id, other.Header.Get("X-Request-Id"))
	}
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200} {
		if res, _ := get(t, url+path); res.StatusCode != want {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
	stop()
	for _, want := range []string{"status=500", "path=/panic", "at the disco", "id=" + id, "address=127.0.0.1", "too late"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %s", want)
		}
	}
	if strings.Contains(log.String(), "secret=1") {
		t.Error("the log holds a query")
	}
}

func TestReadiness(t *testing.T) {
	var away atomic.Bool
	url, _, _ := start(t, func(http.ResponseWriter, *http.Request) {}, func(c *Config) {
		c.Ready = func(context.Context) error {
			if away.Load() {
				return errors.New("the wire is cut")
			}
			return nil
		}
	})
	away.Store(true)
	res, text := get(t, url+"/readyz")
	if res.StatusCode != 503 || strings.Contains(text, "wire") {
		t.Errorf("not ready: %d %q", res.StatusCode, text)
	}
	away.Store(false)
	if res, _ := get(t, url+"/readyz"); res.StatusCode != 200 {
		t.Errorf("ready again: %d", res.StatusCode)
	}
}

func TestAddressLimit(t *testing.T) {
	url, _, _ := start(t, func(http.ResponseWriter, *http.Request) {}, func(c *Config) {
		c.Addresses = limit.New[netip.Addr](3, time.Minute, time.Now)
	})
	for i := range 3 {
		res, _ := get(t, url)
		if res.StatusCode != 200 || res.Header.Get("RateLimit-Policy") != `"address";q=3;w=60` || res.Header.Get("RateLimit") != fmt.Sprintf(`"address";r=%d;t=0`, 2-i) {
			t.Errorf("request %d: %d %v", i, res.StatusCode, res.Header)
		}
	}
	res, _ := get(t, url)
	if res.StatusCode != 429 || !strings.HasPrefix(res.Header.Get("RateLimit"), `"address";r=0;t=`) {
		t.Errorf("the fourth: %d %v", res.StatusCode, res.Header)
	}
	if res, _ := get(t, url+"/healthz"); res.StatusCode != 200 {
		t.Errorf("a probe was limited: %d", res.StatusCode)
	}
}

// What does not fit, or does not come, ends in a 4xx or a closed connection.
func TestBadRequests(t *testing.T) {
	url, _, _ := start(t, func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) }, nil)
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
		conn.SetDeadline(time.Now().Add(20 * time.Second))
		go io.WriteString(conn, request)
		answer := make([]byte, 12)
		if _, err := io.ReadFull(conn, answer); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 4") {
			t.Errorf("%s: %q (%v)", name, answer, err)
		}
		conn.Close()
	}
}

func TestAddresses(t *testing.T) {
	proxies, err := ParseTrustedProxies([]string{"10.0.0.0/8", " 192.0.2.1", "::1", ""})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ remote, forwarded, want string }{
		{"203.0.113.5:1", "1.2.3.4", "203.0.113.5"}, // a stranger is not believed
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
			r.Header.Set("X-Forwarded-For", c.forwarded)
		}
		if got := proxies.ClientIP(r).String(); got != c.want {
			t.Errorf("%s for %q: %s, want %s", c.remote, c.forwarded, got, c.want)
		}
	}
	if _, err := ParseTrustedProxies([]string{"everybody"}); err == nil {
		t.Error("nonsense is trusted")
	}
}

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

// What Prometheus reads: each family is described once, buckets add up, and every
// line is a name, labels and a number.
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
			t.Errorf("%q is not a metric", part)
		}
	}
	const of = `method="GET",route="/forms/{id}",status="200"`
	for _, want := range []string{
		`formulary_http_request_seconds_bucket{` + of + `,le="0.0005"} 1`, `formulary_http_request_seconds_bucket{` + of + `,le="0.005"} 3`,
		`formulary_http_request_seconds_bucket{` + of + `,le="10"} 3`, `formulary_http_request_seconds_bucket{` + of + `,le="+Inf"} 4`,
		`formulary_http_request_seconds_sum{` + of + `} 60.008001`, `formulary_http_request_seconds_count{` + of + `} 4`,
		"formulary_panics_total 0", "process_resident_memory_bytes ", "go_goroutines ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s in\n%s", want, text)
		}
	}
}
