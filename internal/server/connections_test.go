package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
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
