package scan_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"formulary/internal/scan"
	"formulary/internal/scan/scantest"
)

func newClient(t *testing.T, address string) *scan.Client {
	t.Helper()
	c, err := scan.New(address)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestScan(t *testing.T) {
	t.Parallel()
	server := scantest.Start(t)
	c := newClient(t, server.Address)
	if err := c.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	filler := strings.Repeat("harmless ", 50_000)
	infected := scan.Result{Verdict: scan.Infected, Signature: scantest.Signature}
	clean := scan.Result{Verdict: scan.Clean}
	for name, test := range map[string]struct {
		r    io.Reader
		want scan.Result
	}{
		"empty":                     {strings.NewReader(""), clean},
		"clean":                     {strings.NewReader(filler), clean},
		"byte by byte":              {iotest.OneByteReader(strings.NewReader("harmless")), clean},
		"infected":                  {strings.NewReader(scantest.Malware), infected},
		"infected in the middle":    {strings.NewReader(filler + scantest.Malware + filler), infected},
		"infected, byte by byte":    {iotest.OneByteReader(strings.NewReader(scantest.Malware)), infected},
		"end and bytes at once":     {iotest.DataErrReader(strings.NewReader(filler + scantest.Malware)), infected},
		"reads that return nothing": {&lazyReader{strings.NewReader(scantest.Malware), false}, infected},
	} {
		if got, err := c.Scan(t.Context(), test.r); err != nil || got != test.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			text, want := filler, clean
			if i%2 == 0 {
				text, want = filler+scantest.Malware, infected
			}
			if got, err := c.Scan(t.Context(), strings.NewReader(text)); err != nil || got != want {
				t.Errorf("at the same time: %+v, %v", got, err)
			}
		})
	}
	wg.Wait()
}

// lazyReader returns no bytes at every other read.
type lazyReader struct {
	r       io.Reader
	hasRead bool
}

func (l *lazyReader) Read(p []byte) (int, error) {
	if l.hasRead = !l.hasRead; l.hasRead {
		return 0, nil
	}
	return l.r.Read(p)
}

// mustBeUnknown checks that a file does not count as clean.
func mustBeUnknown(t *testing.T, name string, got scan.Result, err error) {
	t.Helper()
	if err == nil || got != (scan.Result{}) {
		t.Errorf("%s: %+v, %v", name, got, err)
	}
}

// TestTooLarge: a file that the scanner cuts off is not clean, at whatever size the
// scanner notices.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	c := newClient(t, scantest.Start(t).Address)
	for _, size := range []int{scantest.MaxLength + 1, scantest.MaxLength + 100_000, 10 * scantest.MaxLength} {
		got, err := c.Scan(t.Context(), bytes.NewReader(make([]byte, size)))
		mustBeUnknown(t, "too large", got, err)
		if !errors.Is(err, scan.ErrTooLarge) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	if got, err := c.Scan(t.Context(), bytes.NewReader(make([]byte, scantest.MaxLength))); err != nil || got.Verdict != scan.Clean {
		t.Errorf("the largest file: %+v, %v", got, err)
	}
}

// TestAway: without a scanner, files are not clean, and scanning continues once it is
// back.
func TestAway(t *testing.T) {
	t.Parallel()
	server := scantest.Start(t)
	c := newClient(t, server.Address)
	server.Stop()
	got, err := c.Scan(t.Context(), strings.NewReader("harmless"))
	mustBeUnknown(t, "away", got, err)
	if c.Ping(t.Context()) == nil {
		t.Error("a scanner that is away answers a ping")
	}
	server.Restart()
	if got, err := c.Scan(t.Context(), strings.NewReader("harmless")); err != nil || got.Verdict != scan.Clean {
		t.Errorf("back: %+v, %v", got, err)
	}
	// Now it ends during a scan.
	got, err = c.Scan(t.Context(), io.MultiReader(strings.NewReader("harmless"), readerFunc(func([]byte) (int, error) {
		server.Stop()
		return 0, io.EOF
	})))
	mustBeUnknown(t, "ends", got, err)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestFailingFile: what could not be read completely is not clean.
func TestFailingFile(t *testing.T) {
	t.Parallel()
	c := newClient(t, scantest.Start(t).Address)
	failure := errors.New("the disk failed")
	got, err := c.Scan(t.Context(), io.MultiReader(strings.NewReader("harmless"), iotest.ErrReader(failure)))
	mustBeUnknown(t, "failing file", got, err)
	if !errors.Is(err, failure) {
		t.Errorf("the cause is missing: %v", err)
	}
}

// TestStrangeScanners: whatever an address answers, a file is clean only if it says so.
func TestStrangeScanners(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"nothing":       "",
		"cut":           "stream: OK", // without its end
		"an error":      "INSTREAM: Can't allocate memory ERROR\x00",
		"other stream":  "other: OK\x00",
		"not OK":        "stream: NOT OK\x00",
		"a limit":       "stream: Heuristics.Limits.Exceeded.MaxFileSize FOUND\x00",
		"a long answer": strings.Repeat("x", 10_000) + "stream: OK\x00",
		"a web server":  "HTTP/1.1 400 Bad Request\r\n\r\nOK\x00",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, listen(t, func(conn net.Conn) {
				io.CopyN(io.Discard, conn, int64(len("zINSTREAM\x00")+4+len("harmless")+4))
				io.WriteString(conn, answer)
			}))
			got, err := c.Scan(t.Context(), strings.NewReader("harmless"))
			mustBeUnknown(t, name, got, err)
		})
	}
}

// TestHangingScanner: a scanner that accepts connections and does not answer is
// unavailable, and callers can give up before.
func TestHangingScanner(t *testing.T) {
	t.Parallel()
	address := listen(t, func(conn net.Conn) { io.Copy(io.Discard, conn) })
	c := newClient(t, address)
	ctx, cancel := context.WithCancel(t.Context())
	got, err := c.Scan(ctx, io.MultiReader(strings.NewReader("harmless"), readerFunc(func([]byte) (int, error) {
		cancel()
		return 0, io.EOF
	})))
	mustBeUnknown(t, "given up", got, err)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	c.SetTimeouts(50 * time.Millisecond)
	got, err = c.Scan(t.Context(), strings.NewReader("harmless"))
	mustBeUnknown(t, "hanging", got, err)
	if c.Ping(t.Context()) == nil {
		t.Error("a hanging scanner answers a ping")
	}
}

// listen serves connections until the test ends.
func listen(t *testing.T, serve func(net.Conn)) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer conn.Close()
				serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		wg.Wait()
	})
	return listener.Addr().String()
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for address, isValid := range map[string]bool{
		"unix:/run/clamav/clamd.ctl": true, "127.0.0.1:3310": true, "clamd:3310": true, "[::1]:3310": true,
		"": false, "unix:": false, "unix:clamd": false, "clamd": false, "clamd:": false, "/run/clamd": false,
	} {
		if _, err := scan.New(address); (err == nil) != isValid {
			t.Errorf("%q: %v", address, err)
		}
	}
}
