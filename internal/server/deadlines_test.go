package server

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"
)

// A deadline is kept from the first look on that finds it soon, and holds no longer
// than until it is moved.
func TestDeadlines(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	all := newDeadlines(listener)
	t.Cleanup(func() { all.Close() })
	there, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close()
	here, err := all.Accept()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	passes := func(when string, want bool) {
		t.Helper()
		if _, err := there.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := here.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) != want {
			t.Errorf("%s, reading: %v", when, err)
		}
		if _, err := here.Write([]byte("x")); errors.Is(err, os.ErrDeadlineExceeded) != want {
			t.Errorf("%s, writing: %v", when, err)
		}
	}
	steps := []struct {
		when string
		do   func() error
		want bool
	}{
		{"noted", func() error { return here.SetDeadline(now.Add(-time.Second)) }, false},
		{"seen", func() error { all.look(now.Add(-2 * lookAhead)); return nil }, false},
		{"seen to be soon", func() error { all.look(now); return nil }, true},
		{"moved away", func() error { return here.SetDeadline(now.Add(time.Hour)) }, false},
		{"moved back", func() error { return here.SetDeadline(now.Add(-time.Second)) }, true},
		{"seen again", func() error { all.look(now); return nil }, true},
		{"lifted", func() error { return here.SetDeadline(time.Time{}) }, false},
		{"seen without one", func() error { all.look(now.Add(time.Hour)); return nil }, false},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		passes(step.when, step.want)
	}
	if err := here.Close(); err != nil || len(all.conns) != 0 {
		t.Errorf("closed, %d connections are left (%v)", len(all.conns), err)
	}
}
