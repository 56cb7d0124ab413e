package server

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
)

// counting counts what its connections write.
type counting struct {
	net.Listener
	writes, bytes atomic.Int64
}

type countingConn struct {
	net.Conn
	*counting
}

func (l *counting) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return countingConn{conn, l}, err
}

func (c countingConn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	c.bytes.Add(int64(len(p)))
	return c.Conn.Write(p)
}

// Answers of every length arrive as they are, whole, and without being waited for;
// those of up to some pages leave in one piece.
func TestWhole(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	below := &counting{Listener: listener}
	text := make([]byte, 100_000)
	for i := range text {
		text[i] = byte('a' + i%23)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		n, err := strconv.Atoi(r.URL.Path[1:])
		if err != nil {
			t.Error(err)
		}
		if r.URL.RawQuery == "parts" {
			for part := range slices.Chunk(text[:n], 1000) {
				w.Write(part)
			}
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(n))
		w.Write(text[:n])
	})}
	connections := newDeadlines(below)
	go connections.watch(t.Context())
	go server.Serve(whole{connections})
	t.Cleanup(func() { server.Close() })
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	in := bufio.NewReaderSize(conn, 1<<20)
	receive := func(n int, query string) {
		t.Helper()
		r, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatalf("%d bytes%s: %v", n, query, err)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || !bytes.Equal(body, text[:n]) {
			t.Fatalf("%d bytes%s: %d came, %v", n, query, len(body), err)
		}
	}
	ask := func(n int, query string) {
		t.Helper()
		if _, err := fmt.Fprintf(conn, "GET /%d%s HTTP/1.1\r\nHost: localhost\r\n\r\n", n, query); err != nil {
			t.Fatal(err)
		}
		receive(n, query)
	}
	ask(bufferSize, "")
	head := int(below.bytes.Load()) - bufferSize
	for pages := 1; pages <= 5; pages++ {
		for n := pages*bufferSize - head - 20; n < pages*bufferSize+20; n++ {
			before := below.writes.Load()
			ask(n, "")
			if pieces := below.writes.Load() - before; n+head+20 < wholeSize && pieces != 1 {
				t.Errorf("%d bytes left in %d pieces", n, pieces)
			}
			ask(n, "?parts")
		}
	}
	for _, n := range []int{40_000, 65_536, 100_000} {
		ask(n, "")
		ask(n, "?parts")
	}
	// Several that were asked for at once, one of a sender who asks first whether to
	// send, and the last.
	exact := bufferSize - head
	fmt.Fprintf(conn, "GET /%d HTTP/1.1\r\nHost: localhost\r\n\r\nGET /6000 HTTP/1.1\r\nHost: localhost\r\n\r\n", exact)
	receive(exact, " first")
	receive(6000, " second")
	fmt.Fprint(conn, "POST /5000 HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
	if line, err := in.ReadString('\n'); err != nil || line != "HTTP/1.1 100 Continue\r\n" {
		t.Fatalf("may it be sent? %q %v", line, err)
	}
	in.ReadString('\n')
	fmt.Fprint(conn, "ok")
	receive(5000, " to who asked first")
	fmt.Fprintf(conn, "GET /%d HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", exact-len("Connection: close\r\n"))
	receive(exact-len("Connection: close\r\n"), " at last")
	if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 {
		t.Errorf("after the last one: %q %v", rest, err)
	}
}

// Whoever is still sending when the answer is complete sees its end, and is heard on.
func TestCloseWrite(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := whole{newDeadlines(listener)}.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if _, err := server.Write([]byte("too large")); err != nil {
		t.Fatal(err)
	}
	// As net/http looks for it.
	half, ok := server.(interface{ CloseWrite() error })
	if !ok {
		t.Fatal("net/http finds no way to close one direction")
	}
	if err := half.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if answer, err := io.ReadAll(client); err != nil || string(answer) != "too large" {
		t.Errorf("the client read %q, %v", answer, err)
	}
	if _, err := client.Write([]byte("more")); err != nil {
		t.Fatal(err)
	}
	rest := make([]byte, 4)
	if _, err := io.ReadFull(server, rest); err != nil || string(rest) != "more" {
		t.Errorf("the server read %q, %v", rest, err)
	}
}
