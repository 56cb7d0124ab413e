// Package scan asks ClamAV's daemon clamd whether files contain malware.
package scan

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// Verdict is the outcome of a scan. Its zero value is Unknown, so that a file counts as
// clean only if the scanner has said so.
type Verdict int

const (
	Unknown Verdict = iota
	Clean
	Infected
)

// Result is the outcome of a scan.
type Result struct {
	Verdict   Verdict
	Signature string // what was found in an infected file
}

// ErrTooLarge means that the scanner refuses files of this size. Scanning the file again
// does not help until the limits of the scanner are raised.
var ErrTooLarge = errors.New("the file exceeds a limit of the scanner")

// Client connects to a scanner for each file.
type Client struct {
	network, address string
	connectTimeout   time.Duration
	stallTimeout     time.Duration // for sending a part of a file
	answerTimeout    time.Duration // for scanning
}

// New returns a client for an address: unix:/path or host:port. It does not connect.
func New(address string) (*Client, error) {
	c := &Client{network: "tcp", address: address, connectTimeout: 5 * time.Second, stallTimeout: 30 * time.Second, answerTimeout: 2 * time.Minute}
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		if !strings.HasPrefix(path, "/") {
			return nil, fmt.Errorf("the address of clamd %q has no absolute path: use unix:/path or host:port", address)
		}
		c.network, c.address = "unix", path
		return c, nil
	}
	if _, port, err := net.SplitHostPort(address); err != nil || port == "" {
		return nil, fmt.Errorf("the address of clamd %q is not valid: use unix:/path or host:port", address)
	}
	return c, nil
}

// Scan sends the bytes of a file to the scanner. The verdict is Unknown if and only if
// there is an error: the scanner is unavailable or cannot judge the file, or r fails.
func (c *Client) Scan(ctx context.Context, r io.Reader) (Result, error) {
	conn, err := c.connect(ctx)
	if err != nil {
		return Result{}, err
	}
	defer conn.Close()
	// Clamd answers before the end of a file that is too large, and closes the
	// connection, so the answer counts even if sending fails.
	answer := make(chan reply, 1)
	go func() { answer <- conn.readReply() }()
	if err := conn.send(r); err != nil {
		if _, ok := errors.AsType[readError](err); ok {
			return Result{}, fmt.Errorf("scan: read the file: %w", err)
		}
		conn.expire(time.Second) // for an answer that is on its way
		if a := <-answer; a.err == nil {
			return parseReply(a.text)
		}
		return Result{}, c.wrap(ctx, err)
	}
	conn.expire(c.answerTimeout)
	a := <-answer
	if a.err != nil {
		return Result{}, c.wrap(ctx, a.err)
	}
	return parseReply(a.text)
}

// Ping checks that the scanner is available.
func (c *Client) Ping(ctx context.Context) error {
	conn, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.expire(c.stallTimeout)
	if _, err := io.WriteString(conn, "zPING\x00"); err != nil {
		return c.wrap(ctx, err)
	}
	switch a := conn.readReply(); {
	case a.err != nil:
		return c.wrap(ctx, a.err)
	case a.text != "PONG":
		return fmt.Errorf("scan: the answer to a ping is %q", a.text)
	}
	return nil
}

// wrap prefers the error of ctx: it is the reason why the connection failed.
func (c *Client) wrap(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return fmt.Errorf("scan: clamd at %s: %w", c.address, err)
}

// parseReply parses an answer such as "stream: OK" or "stream: Eicar-Signature FOUND".
func parseReply(text string) (Result, error) {
	status, isStream := strings.CutPrefix(text, "stream: ")
	signature, isFound := strings.CutSuffix(status, " FOUND")
	switch {
	case isStream && status == "OK":
		return Result{Verdict: Clean}, nil
	case isStream && isFound && strings.HasPrefix(signature, "Heuristics.Limits.Exceeded"):
		return Result{}, fmt.Errorf("scan: %w: %s", ErrTooLarge, signature)
	case isStream && isFound:
		return Result{Verdict: Infected, Signature: signature}, nil
	case strings.Contains(text, "size limit exceeded"):
		return Result{}, fmt.Errorf("scan: %w: StreamMaxLength", ErrTooLarge)
	}
	return Result{}, fmt.Errorf("scan: the answer of clamd is %q", text)
}

// connection is one to clamd.
type connection struct {
	net.Conn
	stallTimeout time.Duration
	stop         func() bool
}

func (c *Client) connect(ctx context.Context) (*connection, error) {
	dialer := net.Dialer{Timeout: c.connectTimeout}
	conn, err := dialer.DialContext(ctx, c.network, c.address)
	if err != nil {
		return nil, c.wrap(ctx, err)
	}
	return &connection{conn, c.stallTimeout, context.AfterFunc(ctx, func() { conn.Close() })}, nil
}

func (c *connection) Close() error {
	c.stop()
	return c.Conn.Close()
}

// expire makes reading and writing fail after some time.
func (c *connection) expire(after time.Duration) { c.SetDeadline(time.Now().Add(after)) }

// readError is an error of the file, not of the scanner.
type readError struct{ error }

func (e readError) Unwrap() error { return e.error }

// send sends the command and the file in chunks, each after its length. An empty chunk is
// the end.
func (c *connection) send(r io.Reader) error {
	const command, lengthSize = "zINSTREAM\x00", 4
	buffer := make([]byte, 64<<10)
	head := command
	for {
		start := copy(buffer, head) + lengthSize
		n, err := r.Read(buffer[start:])
		if err != nil && err != io.EOF {
			return readError{err}
		}
		if n == 0 && err == nil {
			continue
		}
		binary.BigEndian.PutUint32(buffer[start-lengthSize:], uint32(n))
		c.expire(c.stallTimeout)
		if _, err := c.Write(buffer[:start+n]); err != nil {
			return err
		}
		head = ""
		if n == 0 {
			return nil
		}
	}
}

// maxReply is longer than any answer.
const maxReply = 4 << 10

type reply struct {
	text string
	err  error
}

// readReply reads an answer, which ends with a zero byte.
func (c *connection) readReply() reply {
	text, err := bufio.NewReader(io.LimitReader(c, maxReply)).ReadString(0)
	return reply{strings.TrimSpace(strings.TrimSuffix(text, "\x00")), err}
}
