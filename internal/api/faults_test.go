package api_test

import (
	"context"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"formulary/internal/cli/clitest"
	"formulary/internal/store/storetest"
)

// An internal error is 500001 with a request ID and without internals; the log has the
// cause.
func TestInternalError(t *testing.T) {
	t.Parallel()
	storage := storetest.Postgres(t)
	w := &fixture{Service: clitest.Start(t, storage), t: t}
	w.AddUser(ada)
	token := w.Token(ada, w.AddApp(ada, callback), "forms:read,forms:write")
	w.create(token.Access, "Before")
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, withoutPool(t, storage.URL))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "ALTER TABLE form RENAME TO elsewhere"); err != nil {
		t.Fatal(err)
	}
	for _, a := range []clitest.Response{
		w.Call("GET", "/api/v1/forms", token.Access, ""),
		w.Call("POST", "/api/v1/forms", token.Access, `{"title": "x"}`),
	} {
		w.expectCode("internal error", a, 500001)
		id := a.Header.Get("X-Request-Id")
		if len(id) < 16 || !strings.Contains(a.String("message"), id) {
			t.Errorf("no request ID in %s", a.Text)
		}
		for _, internal := range []string{"relation", "SQL", "form\"", "42P01"} {
			if strings.Contains(a.Text, internal) {
				t.Errorf("internals in %s", a.Text)
			}
		}
		if !strings.Contains(w.Log(), id) || !strings.Contains(w.Log(), "42P01") {
			t.Errorf("the log has no cause of %s", id)
		}
	}
	// The error page shows the same request ID.
	b := w.Browser()
	b.SignIn(ada)
	p := b.Get("/")
	if p.StatusCode != 500 || !strings.Contains(p.Text, p.Header.Get("X-Request-Id")) || strings.Contains(p.Text, "42P01") {
		t.Errorf("error page: %d %s", p.StatusCode, p.Text)
	}
}

func withoutPool(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Del("pool_max_conns")
	u.RawQuery = query.Encode()
	return u.String()
}

// Without a database, requests fail with 503001 and Retry-After, and /readyz reports
// it. When the database is back, the service recovers.
func TestDatabaseUnavailable(t *testing.T) {
	t.Parallel()
	w, proxy, token := startWithProxy(t)

	proxy.interrupt()
	a := w.Call("GET", "/api/v1/forms", token.Access, "")
	w.expectCode("without a database", a, 503001)
	if a.Header.Get("Retry-After") == "" || strings.Contains(a.Text, "connect") {
		t.Errorf("response with 503001: %v %s", a.Header, a.Text)
	}
	w.expectCode("writing without a database", w.Call("POST", "/api/v1/forms", token.Access, `{"title": "x"}`), 503001)
	oauth := w.Form("/api/oauth2/refresh", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token.Refresh}, "client_id": {"app_01k9z8m7q3e4r5t6y7v8w9x0a1"}, "client_secret": {"x"}})
	if oauth.Code() != 503001 || oauth.String("error") != "temporarily_unavailable" {
		t.Errorf("OAuth without a database: %s", oauth.Text)
	}
	if p := w.Browser().Get("/readyz"); p.StatusCode != 503 {
		t.Errorf("/readyz without a database: %d", p.StatusCode)
	}
	if p := w.Browser().Get("/healthz"); p.StatusCode != 200 {
		t.Errorf("/healthz without a database: %d", p.StatusCode)
	}
	proxy.start()
	deadline := time.Now().Add(20 * time.Second)
	for w.Browser().Get("/readyz").StatusCode != 200 {
		if time.Now().After(deadline) {
			t.Fatal("the service did not recover")
		}
	}
	w.expectCode("after recovery", w.Call("POST", "/api/v1/forms", token.Access, `{"title": "x"}`), 0)
}

// If the database accepts requests but does not respond, every request ends with
// 503001, and the service recovers afterwards.
func TestDatabaseHangs(t *testing.T) {
	t.Parallel()
	w, proxy, token := startWithProxy(t)

	proxy.gate.Lock()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			w.expectCode("reading while the database hangs", w.Call("GET", "/api/v1/forms", token.Access, ""), 503001)
			w.expectCode("writing while the database hangs", w.Call("POST", "/api/v1/forms", token.Access, `{"title": "x"}`), 503001)
		})
	}
	all.Wait()
	proxy.gate.Unlock()
	deadline := time.Now().Add(20 * time.Second)
	for w.Call("GET", "/api/v1/me", token.Access, "").StatusCode != 200 {
		if time.Now().After(deadline) {
			t.Fatal("the service did not recover")
		}
	}
}

// startWithProxy starts a service that reaches its database through a proxy, and returns a
// token for it.
func startWithProxy(t *testing.T) (*fixture, *proxy, clitest.Token) {
	t.Helper()
	storage := storetest.Postgres(t)
	proxy := newProxy(t, storage.URL)
	storage.URL = proxy.url
	w := &fixture{Service: clitest.Start(t, storage), t: t}
	w.AddUser(ada)
	return w, proxy, w.Token(ada, w.AddApp(ada, callback), "forms:read,forms:write")
}

// proxy forwards connections to the database and can interrupt them.
type proxy struct {
	t      *testing.T
	url    string
	server string
	addr   string
	mu     sync.Mutex
	listen net.Listener
	open   map[net.Conn]bool
	gate   sync.RWMutex // locked while data must not pass
}

func newProxy(t *testing.T, address string) *proxy {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	l := &proxy{t: t, server: u.Host, addr: "127.0.0.1:0", open: map[net.Conn]bool{}}
	l.start()
	l.addr = l.listen.Addr().String()
	u.Host = l.addr
	l.url = u.String()
	t.Cleanup(l.interrupt)
	return l
}

func (l *proxy) start() {
	l.t.Helper()
	listen, err := net.Listen("tcp", l.addr)
	if err != nil {
		l.t.Fatal(err)
	}
	l.mu.Lock()
	l.listen = listen
	l.mu.Unlock()
	go func() {
		for {
			c, err := listen.Accept()
			if err != nil {
				return
			}
			go l.connect(c)
		}
	}()
}

func (l *proxy) connect(c net.Conn) {
	s, err := net.Dial("tcp", l.server)
	if err != nil {
		c.Close()
		return
	}
	l.mu.Lock()
	l.open[c], l.open[s] = true, true
	l.mu.Unlock()
	go l.forward(s, c)
	l.forward(c, s)
}

func (l *proxy) forward(to, from net.Conn) {
	defer to.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		l.gate.RLock()
		_, err = to.Write(buffer[:n])
		l.gate.RUnlock()
		if err != nil {
			return
		}
	}
}

func (l *proxy) interrupt() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listen.Close()
	for c := range l.open {
		c.Close()
	}
	clear(l.open)
}
