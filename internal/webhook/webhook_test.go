package webhook_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"formulary/internal/webhook"
)

func client(t *testing.T) *webhook.Client {
	t.Helper()
	c := webhook.NewClient("1.2.3", allowed(t, "127.0.0.0/8"))
	t.Cleanup(c.Close)
	return c
}

func receiver(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s.URL
}

// The reference implementation accepts what is sent, with each of the secrets.
func TestSignature(t *testing.T) {
	t.Parallel()
	secrets := []webhook.Secret{webhook.NewSecret(), webhook.NewSecret()}
	body := []byte(`{"type":"response.created","data":{"text":"ünï"}}`)
	url := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil || !bytes.Equal(text, body) {
			t.Errorf("body: %s %v", text, err)
		}
		for _, secret := range secrets {
			reference, err := standardwebhooks.NewWebhook(secret.String())
			if err != nil {
				t.Fatal(err)
			}
			if err := reference.Verify(text, r.Header); err != nil {
				t.Errorf("verify: %v", err)
			}
		}
		other, err := standardwebhooks.NewWebhook(webhook.NewSecret().String())
		if err != nil {
			t.Fatal(err)
		}
		if other.Verify(text, r.Header) == nil {
			t.Error("another secret verifies too")
		}
		if r.Method != "POST" || r.UserAgent() != "Formulary/1.2.3" || r.Header.Get("Content-Type") != "application/json" || r.Header.Get("webhook-id") != "evt_1" || r.Header["Idempotency-Key"] != nil {
			t.Errorf("request: %s %v", r.Method, r.Header)
		}
		w.WriteHeader(204)
	})
	result := client(t).Send(context.Background(), webhook.Request{URL: url, ID: "evt_1", Body: body, Secrets: secrets})
	if !result.Delivered() || result.Status != 204 || result.Problem() != "" {
		t.Errorf("%+v", result)
	}
	for _, secret := range secrets {
		again, err := webhook.ParseSecret(secret.String())
		if err != nil || again.String() != secret.String() {
			t.Errorf("parse: %v", err)
		}
	}
}

// Whatever a receiver answers, the result says it, and no more than MaxAnswer is kept.
func TestAnswers(t *testing.T) {
	t.Parallel()
	target := receiver(t, func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") })
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		status int
		wait   time.Duration
		text   string
	}{
		{"500", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "broken", 500) }, 500, 0, "broken\n"},
		{"301", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target, http.StatusMovedPermanently) }, 301, 0, ""},
		{"307", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, target, http.StatusTemporaryRedirect)
		}, 307, 0, ""},
		{"410", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(410) }, 410, 0, ""},
		{"429", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "120")
			w.WriteHeader(429)
		}, 429, 2 * time.Minute, ""},
		{"503 for a year", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "31536000")
			w.WriteHeader(503)
		}, 503, 24 * time.Hour, ""},
		{"a negative time", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "-5")
			w.WriteHeader(503)
		}, 503, 0, ""},
		{"not text", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(400)
			w.Write([]byte("a\x00b\xffc"))
		}, 400, 0, "ab\uFFFDc"},
		{"without an end", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(500)
			for range 1 << 20 {
				if _, err := w.Write(bytes.Repeat([]byte("x"), 1024)); err != nil {
					return
				}
			}
		}, 500, 0, strings.Repeat("x", webhook.MaxAnswer)},
	} {
		result := client(t).Send(context.Background(), webhook.Request{URL: receiver(t, c.answer), ID: "evt_1", Body: []byte("{}")})
		if result.Status != c.status || result.RetryAfter != c.wait || c.name != "301" && c.name != "307" && result.Answer != c.text || result.Delivered() || result.Problem() == "" {
			t.Errorf("%s: %d %s %q", c.name, result.Status, result.RetryAfter, result.Answer)
		}
	}
}

// raw is a receiver that is no HTTP server.
func raw(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
					io.Copy(io.Discard, r.Body)
					serve(c)
				}
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

func TestBrokenReceivers(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for name, url := range map[string]string{
		"down":          "http://" + closed.Addr().String(),
		"no answer":     raw(t, func(net.Conn) {}),
		"no HTTP":       raw(t, func(c net.Conn) { io.WriteString(c, "hello\r\n\r\n") }),
		"reset":         raw(t, func(c net.Conn) { c.(*net.TCPConn).SetLinger(0) }),
		"endless lines": raw(t, func(c net.Conn) { endless(c, "HTTP/1.1 200 OK\r\n", "X-Header: 1\r\n") }),
		"endless line":  raw(t, func(c net.Conn) { endless(c, "HTTP/1.1 200 OK\r\nX: ", "x") }),
		"no such name":  "https://no-such-name.invalid/",
	} {
		result := client(t).Send(context.Background(), webhook.Request{URL: url, ID: "evt_1", Body: []byte("{}")})
		if result.Status != 0 || result.Err == nil || result.Delivered() || result.Problem() == "" {
			t.Errorf("%s: %+v", name, result)
		}
	}
}

// endless writes until the client closes the connection, which must be soon.
func endless(c net.Conn, begin, repeat string) {
	io.WriteString(c, begin)
	text := []byte(strings.Repeat(repeat, 1000))
	for range 100_000 {
		if _, err := c.Write(text); err != nil {
			return
		}
	}
}

// A success whose body never ends is a success.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	url := raw(t, func(c net.Conn) {
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nx")
		io.Copy(io.Discard, c)
	})
	if result := client(t).Send(context.Background(), webhook.Request{URL: url, ID: "evt_1"}); !result.Delivered() || result.Took > 10*time.Second {
		t.Errorf("%+v", result)
	}
}

// A connection that the receiver has closed meanwhile is no failure.
func TestClosedIdleConnection(t *testing.T) {
	t.Parallel()
	url := raw(t, func(c net.Conn) { io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") })
	c := client(t)
	for n := range 20 {
		if result := c.Send(context.Background(), webhook.Request{URL: url, ID: fmt.Sprint("evt_", n), Body: []byte("{}")}); !result.Delivered() {
			t.Fatalf("request %d: %+v", n, result)
		}
	}
}

func TestCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	url := receiver(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	if result := client(t).Send(ctx, webhook.Request{URL: url, ID: "evt_1"}); !errors.Is(result.Err, context.Canceled) {
		t.Errorf("%+v", result)
	}
}
