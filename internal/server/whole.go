package server

import (
	"net"
	"sync"
	"time"
)

// whole lets answers leave in one piece. net/http writes through a buffer, which a
// list or a page outgrows: its first part would leave alone, and the system, the
// network and the reader would handle two. A full buffer is written because more is to
// follow, so it is held until that comes, or until the answer has ended just there.
//
// It is for plain connections: with TLS others decide what is written when.
type whole struct{ net.Listener }

const (
	// bufferSize is that of net/http's buffer.
	bufferSize = 4 << 10
	// wholeSize is up to where the parts are copied together; what is longer is worth
	// a write of its own.
	wholeSize = 16 << 10
)

func (l whole) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &wholeConn{Conn: conn}, nil
}

// wholeConn is one of these connections. Only the goroutine that answers writes.
type wholeConn struct {
	net.Conn
	held *[wholeSize]byte // begins with a full buffer; nil: nothing is held
}

var wholeRoom = sync.Pool{New: func() any { return new([wholeSize]byte) }}

func (c *wholeConn) Write(p []byte) (int, error) {
	switch {
	case c.held == nil && len(p) == bufferSize:
		c.held = wholeRoom.Get().(*[wholeSize]byte)
		return copy(c.held[:], p), nil
	case c.held == nil:
		return c.Conn.Write(p)
	case len(p) > wholeSize-bufferSize:
		if err := c.release(nil); err != nil {
			return 0, err
		}
		return c.Conn.Write(p)
	}
	if err := c.release(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// release writes what is held, and what follows it.
func (c *wholeConn) release(rest []byte) error {
	held := c.held
	if held == nil {
		return nil
	}
	c.held = nil
	defer wholeRoom.Put(held)
	n := bufferSize + copy(held[bufferSize:], rest)
	_, err := c.Conn.Write(held[:n])
	return err
}

// SetWriteDeadline also learns that an answer has ended: net/http lifts the deadline
// then, before it does anything else.
func (c *wholeConn) SetWriteDeadline(to time.Time) error {
	if to.IsZero() {
		if err := c.release(nil); err != nil {
			return err
		}
	}
	return c.Conn.SetWriteDeadline(to)
}

// CloseWrite lets a reader who is still sending see the answer.
func (c *wholeConn) CloseWrite() error { return closeWrite(c.Conn) }

// closeWrite closes one direction of a connection, where it can be.
func closeWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
