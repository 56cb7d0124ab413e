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

// feed gives a connection its next request, or nil when there are no more. The
// bytes are the feed's again at the next call.
type feed func() []byte

// turns feeds a few requests again and again.
func turns(requests [][]byte) feed {
	i := -1
	return func() []byte {
		i = (i + 1) % len(requests)
		return requests[i]
	}
}

// tally is what a run has seen.
type tally struct {
	requests int64
	errors   int64
	said     string // the first answer that was no success
	took     time.Duration
	times    histogram
}

func (t *tally) rate() float64 { return float64(t.requests-t.errors) / t.took.Seconds() }

func (t *tally) add(other *tally) {
	t.requests += other.requests
	t.errors += other.errors
	t.took = max(t.took, other.took)
	t.times.add(&other.times)
	if t.said == "" {
		t.said = other.said
	}
}

const (
	dialLimit = 5 * time.Second
	// answerLimit is how long after the end of a run the last answers may come.
	answerLimit = 10 * time.Second
	maxAnswer   = 1 << 20
)

// run loads a server for a while, one connection per feed, each sending its next
// request when the last one is answered. The load generator shares the machine
// with the server, so it does as little as it can.
func run(ctx context.Context, addr string, feeds []feed, length time.Duration) (*tally, error) {
	conns := make([]net.Conn, 0, len(feeds))
	hangUp := func() {
		for _, c := range conns {
			c.Close()
		}
	}
	defer hangUp()
	for range feeds {
		c, err := net.DialTimeout("tcp", addr, dialLimit)
		if err != nil {
			return nil, fmt.Errorf("connect: %w", err)
		}
		conns = append(conns, c)
	}
	// Closing the connections is what ends the run early.
	unhook := context.AfterFunc(ctx, hangUp)
	defer unhook()

	tallies := make([]tally, len(feeds))
	errs := make([]error, len(feeds))
	start := time.Now()
	var running sync.WaitGroup
	for i := range feeds {
		running.Go(func() {
			errs[i] = drive(conns[i], feeds[i], start, length, &tallies[i])
		})
	}
	running.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	sum := &tally{}
	for i := range tallies {
		sum.add(&tallies[i])
	}
	if sum.requests == 0 {
		return nil, errors.New("load: nothing was sent")
	}
	return sum, nil
}

// drive sends requests on one connection until the time is over.
func drive(c net.Conn, next feed, start time.Time, length time.Duration, t *tally) error {
	if err := c.SetDeadline(start.Add(length + answerLimit)); err != nil {
		return err
	}
	buffer := make([]byte, 16<<10)
	sent := time.Since(start)
	for sent < length {
		request := next()
		if request == nil {
			break
		}
		if _, err := c.Write(request); err != nil {
			return err
		}
		ok, answer, err := readAnswer(c, &buffer)
		if err != nil {
			return err
		}
		// The end of one request is the start of the next: one look at the
		// clock for both.
		now := time.Since(start)
		t.requests++
		t.times.count(now - sent)
		if !ok {
			if t.errors == 0 {
				t.said = string(answer)
			}
			t.errors++
		}
		sent = now
	}
	t.took = sent
	return nil
}

var (
	blankLine = []byte("\r\n\r\n")
	lengthIs  = []byte("\r\nContent-Length: ")
	chunked   = []byte("\r\nTransfer-Encoding: chunked\r\n")
	success   = []byte("HTTP/1.1 2")
)

// readAnswer reads one answer, which must say where it ends, and whether it is a
// success.
func readAnswer(c net.Conn, buffer *[]byte) (ok bool, answer []byte, err error) {
	b := *buffer
	have, whole := 0, -1
	for whole < 0 || have < whole {
		if have == len(b) {
			b = append(b, make([]byte, len(b))...)
			*buffer = b
		}
		n, err := c.Read(b[have:])
		if err != nil {
			return false, nil, err
		}
		have += n
		if whole < 0 {
			if whole, err = wholeLength(b[:have]); err != nil {
				return false, nil, err
			}
		}
	}
	if have > whole {
		return false, nil, errors.New("more was answered than was asked for")
	}
	return bytes.HasPrefix(b, success), b[:have], nil
}

// wholeLength is how long an answer is with its head, or -1 while that cannot be
// known yet.
func wholeLength(b []byte) (int, error) {
	head := bytes.Index(b, blankLine)
	if head < 0 {
		if len(b) > maxAnswer {
			return 0, errors.New("an answer without an end")
		}
		return -1, nil
	}
	_, after, found := bytes.Cut(b[:head+2], lengthIs)
	if !found {
		if bytes.Contains(b[:head+2], chunked) {
			return chunkedLength(b, head+len(blankLine))
		}
		return 0, fmt.Errorf("an answer without Content-Length: %.80q", b)
	}
	digits, _, _ := bytes.Cut(after, blankLine[:2])
	n, err := strconv.Atoi(string(digits))
	if err != nil || n < 0 || n > maxAnswer {
		return 0, fmt.Errorf("Content-Length: %.20q", digits)
	}
	return head + len(blankLine) + n, nil
}

// chunkedLength is wholeLength for a body in chunks, which begins at an offset:
// each says its length in a line of its own, and the last one is empty.
func chunkedLength(b []byte, at int) (int, error) {
	for {
		line := bytes.Index(b[at:], blankLine[:2])
		if line < 0 {
			if len(b) > 2*maxAnswer {
				return 0, errors.New("an answer without an end")
			}
			return -1, nil
		}
		n, err := strconv.ParseUint(string(b[at:at+line]), 16, 31)
		if err != nil || n > maxAnswer {
			return 0, fmt.Errorf("a chunk of %.20q", b[at:at+line])
		}
		if at += line + int(n) + len(blankLine); n == 0 {
			return at, nil
		}
		if at > len(b) {
			return -1, nil
		}
	}
}
