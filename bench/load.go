package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"
)

// source returns the next request of a connection, or nil at the end. The bytes are
// valid until the next call.
type source func() []byte

// cycle returns the requests in turn, without end.
func cycle(requests [][]byte) source {
	i := -1
	return func() []byte {
		i = (i + 1) % len(requests)
		return requests[i]
	}
}

// loadResult is the result of a run.
type loadResult struct {
	requests   int64
	errors     int64
	firstError string // first unsuccessful response
	took       time.Duration
	times      histogram
}

func (t *loadResult) rate() float64 { return float64(t.requests-t.errors) / t.took.Seconds() }

func (t *loadResult) add(other *loadResult) {
	t.requests += other.requests
	t.errors += other.errors
	t.took = max(t.took, other.took)
	t.times.add(&other.times)
	if t.firstError == "" {
		t.firstError = other.firstError
	}
}

const (
	dialLimit = 5 * time.Second
	// responseTimeout is how long the last responses may take after the end of a run.
	responseTimeout = 10 * time.Second
	maxResponse     = 1 << 20
)

// run loads a server with one connection per source. Each connection sends its next
// request when the last one is answered. The load generator shares the machine with the
// server, so it does as little work as possible.
func run(ctx context.Context, addr string, sources []source, length time.Duration) (*loadResult, error) {
	conns := make([]net.Conn, 0, len(sources))
	closeAll := func() {
		for _, c := range conns {
			c.Close()
		}
	}
	defer closeAll()
	for range sources {
		c, err := net.DialTimeout("tcp", addr, dialLimit)
		if err != nil {
			return nil, fmt.Errorf("connect: %w", err)
		}
		conns = append(conns, c)
	}
	// Closing the connections ends the run early.
	stopClosing := context.AfterFunc(ctx, closeAll)
	defer stopClosing()

	results := make([]loadResult, len(sources))
	errs := make([]error, len(sources))
	start := time.Now()
	var workers sync.WaitGroup
	for i := range sources {
		workers.Go(func() {
			errs[i] = drive(conns[i], sources[i], start, length, &results[i])
		})
	}
	workers.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	total := &loadResult{}
	for i := range results {
		total.add(&results[i])
	}
	if total.requests == 0 {
		return nil, errors.New("load: nothing was sent")
	}
	return total, nil
}

// drive sends requests on one connection until the time is up.
func drive(c net.Conn, next source, start time.Time, length time.Duration, t *loadResult) error {
	if err := c.SetDeadline(start.Add(length + responseTimeout)); err != nil {
		return err
	}
	buffer := make([]byte, 16<<10)
	sentAt := time.Since(start)
	for sentAt < length {
		request := next()
		if request == nil {
			break
		}
		if _, err := c.Write(request); err != nil {
			return err
		}
		ok, response, err := readResponse(c, &buffer)
		if err != nil {
			return err
		}
		// The end of a request is the start of the next, so the clock is read once per
		// request.
		now := time.Since(start)
		t.requests++
		t.times.count(now - sentAt)
		if !ok {
			if t.errors == 0 {
				t.firstError = string(response)
			}
			t.errors++
		}
		sentAt = now
	}
	t.took = sentAt
	return nil
}

var (
	blankLine     = []byte("\r\n\r\n")
	contentLength = []byte("\r\nContent-Length: ")
	chunked       = []byte("\r\nTransfer-Encoding: chunked\r\n")
	success       = []byte("HTTP/1.1 2")
)

// readResponse reads one response, which must have a known length, and reports whether
// its status is 2xx.
func readResponse(c net.Conn, buffer *[]byte) (ok bool, response []byte, err error) {
	b := *buffer
	read, total := 0, -1
	for total < 0 || read < total {
		if read == len(b) {
			b = append(b, make([]byte, len(b))...)
			*buffer = b
		}
		n, err := c.Read(b[read:])
		if err != nil {
			return false, nil, err
		}
		read += n
		if total < 0 {
			if total, err = responseLength(b[:read]); err != nil {
				return false, nil, err
			}
		}
	}
	if read > total {
		return false, nil, errors.New("more was answered than was asked for")
	}
	return bytes.HasPrefix(b, success), b[:read], nil
}

// responseLength returns the length of a response with its head, or -1 if more bytes
// are needed to know it.
func responseLength(b []byte) (int, error) {
	head := bytes.Index(b, blankLine)
	if head < 0 {
		if len(b) > maxResponse {
			return 0, errors.New("a response without an end")
		}
		return -1, nil
	}
	_, after, ok := bytes.Cut(b[:head+2], contentLength)
	if !ok {
		if bytes.Contains(b[:head+2], chunked) {
			return chunkedLength(b, head+len(blankLine))
		}
		return 0, fmt.Errorf("a response without Content-Length: %.80q", b)
	}
	digits, _, _ := bytes.Cut(after, blankLine[:2])
	n, err := strconv.Atoi(string(digits))
	if err != nil || n < 0 || n > maxResponse {
		return 0, fmt.Errorf("Content-Length: %.20q", digits)
	}
	return head + len(blankLine) + n, nil
}

// chunkedLength is responseLength for a chunked body that starts at an offset.
func chunkedLength(b []byte, offset int) (int, error) {
	for {
		line := bytes.Index(b[offset:], blankLine[:2])
		if line < 0 {
			if len(b) > 2*maxResponse {
				return 0, errors.New("a response without an end")
			}
			return -1, nil
		}
		n, err := strconv.ParseUint(string(b[offset:offset+line]), 16, 31)
		if err != nil || n > maxResponse {
			return 0, fmt.Errorf("a chunk of %.20q", b[offset:offset+line])
		}
		if offset += line + int(n) + len(blankLine); n == 0 {
			return offset, nil
		}
		if offset > len(b) {
			return -1, nil
		}
	}
}
