package server

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// countedListener counts the writes of its connections. After failAfter writes, they fail.
type countedListener struct {
	net.Listener
	writes    atomic.Int64
	failAfter int64 // 0: never
}

type countedConn struct {
	net.Conn
	listener *countedListener
}

func (l *countedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &countedConn{c, l}, nil
}

func (c *countedConn) Write(p []byte) (int, error) {
	if n := c.listener.writes.Add(1); c.listener.failAfter > 0 && n > c.listener.failAfter {
		return 0, errors.New("no more writes")
	}
	return c.Conn.Write(p)
}

// startCounted runs a server that counts its writes.
func startCounted(t *testing.T, handler http.HandlerFunc) (string, *countedListener, func()) {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &countedListener{Listener: inner}
	url, _, stop := startOn(t, l, handler, nil)
	return url, l, stop
}

// TestOneWrite shows that a short response of known length is sent in one write, with the
// same bytes as any other, and that the connection can be used again.
func TestOneWrite(t *testing.T) {
	body := strings.Repeat("0123456789abcdef", 5000)
	url, l, _ := startCounted(t, func(w http.ResponseWriter, r *http.Request) {
		size, _ := strconv.Atoi(r.FormValue("size"))
		parts, _ := strconv.Atoi(r.FormValue("parts"))
		w.Header().Set("Content-Length", strconv.Itoa(size))
		for i := range parts {
			io.WriteString(w, body[size*i/parts:size*(i+1)/parts])
			if r.FormValue("flush") != "" {
				if err := http.NewResponseController(w).Flush(); err != nil {
					t.Error(err)
				}
			}
		}
		if r.FormValue("copy") != "" {
			io.Copy(w, io.LimitReader(strings.NewReader(body), int64(size)))
		}
	})
	for _, test := range []struct {
		method, query string
		writes, size  int64
	}{
		{"GET", "size=100&parts=1", 1, 100},
		{"GET", "size=5000&parts=1", 1, 5000},
		{"GET", "size=16384&parts=1", 1, 16384},
		{"GET", "size=16384&parts=3", 1, 16384},
		{"HEAD", "size=16384&parts=3", 1, 0},
		{"GET", "size=16384&parts=3&flush=1", 3, 16384},
		{"GET", "size=70000&parts=1", 2, 70000},
		{"GET", "size=5000&copy=1", 2, 5000},
	} {
		l.writes.Store(0)
		r, err := http.NewRequest(test.method, url+"?"+test.query, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || string(text) != body[:test.size] {
			t.Errorf("%s: %d bytes (%v)", test.query, len(text), err)
		}
		if n := l.writes.Load(); n != test.writes {
			t.Errorf("%s %s took %d writes, want %d", test.method, test.query, n, test.writes)
		}
	}
}

// TestHeldResponseEnds shows that what was written is sent although the handler ends
// before the length that it announced, and that the connection then ends as well.
func TestHeldResponseEnds(t *testing.T) {
	url, _, _ := startCounted(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "8000")
		io.WriteString(w, strings.Repeat("a", 5000))
		if r.URL.Path == "/panic" {
			panic(http.ErrAbortHandler)
		}
	})
	for _, path := range []string{"/", "/panic"} {
		res, err := http.Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if !errors.Is(err, io.ErrUnexpectedEOF) || len(text) != 5000 {
			t.Errorf("%s: %d bytes, %v", path, len(text), err)
		}
	}
}

// TestHeldWriteFails shows that a response that could not be sent ends the connection, so
// that no later request is answered after a part of it.
func TestHeldWriteFails(t *testing.T) {
	var failed atomic.Int64
	url, l, stop := startCounted(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "5000")
		if _, err := w.Write(bytes.Repeat([]byte("a"), 5000)); err != nil {
			failed.Add(1)
		}
	})
	l.failAfter = 1
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range 3 {
		fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	}
	text, _ := io.ReadAll(c)
	stop() // the handlers have ended
	if bytes.Count(text, []byte("HTTP/1.1")) != 1 || !bytes.HasSuffix(text, []byte("aaaa")) || failed.Load() != 1 {
		t.Errorf("%d bytes, %d failures: %.300s", len(text), failed.Load(), text)
	}
}

// TestHTTP2IsNotHeld shows that the requests of an HTTP/2 connection, which has several at a
// time, all get their whole response.
func TestHTTP2IsNotHeld(t *testing.T) {
	body := strings.Repeat("a", 8000)
	files := &tlsServer{t: t, dir: t.TempDir()}
	files.writeKeyPair("cert.pem", "key.pem", 1)
	url, _, _ := startServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		io.WriteString(w, body[:4000])
		io.WriteString(w, body[4000:])
	}, func(c *Config) { c.CertFile, c.KeyFile = files.path("cert.pem"), files.path("key.pem") })
	for _, http2 := range []bool{false, true} {
		client := &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: http2, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
		done := make(chan error)
		for range 20 {
			go func() {
				res, err := client.Get(strings.Replace(url, "http://", "https://", 1))
				if err == nil {
					var text []byte
					text, err = io.ReadAll(res.Body)
					res.Body.Close()
					if string(text) != body || (res.ProtoMajor == 2) != http2 {
						err = fmt.Errorf("%d bytes by %s (%v)", len(text), res.Proto, err)
					}
				}
				done <- err
			}()
		}
		for range 20 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		client.CloseIdleConnections()
	}
}
