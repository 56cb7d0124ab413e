package server

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

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
