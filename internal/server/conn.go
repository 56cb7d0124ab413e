package server

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// conn is an accepted connection.
type conn struct {
	net.Conn
	listener *connections
	groupKey groupKey
	// idleSince is the time since which no request has been running, in Unix
	// nanoseconds. It is 0 while a request runs, and evicted once the connection has been
	// chosen to be closed. It changes with every request, so it is an atomic: locking
	// connections.mu each time would be slow.
	idleSince atomic.Int64
	removed   bool // no longer counted; guarded by listener.mu

	held *[]byte // what was written since hold; nil: writes are not held
}

// Close closes the connection and stops counting it.
func (c *conn) Close() error {
	c.listener.mu.Lock()
	c.listener.remove(c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

// heldBuffers are reused, because few connections hold something at a time.
var heldBuffers = sync.Pool{New: func() any {
	b := make([]byte, 0, maxHeld+4<<10)
	return &b
}}

// hold makes Write collect what it is given until release. Only the handler of the request
// may call it, and must call release before it returns.
func (c *conn) hold() { c.held = heldBuffers.Get().(*[]byte) }

// release sends what was collected. If that fails, the handler must end the connection,
// because net/http has been told that it was sent.
func (c *conn) release() error {
	held := c.held
	c.held = nil
	_, err := c.Conn.Write(*held)
	*held = (*held)[:0]
	heldBuffers.Put(held)
	return err
}

func (c *conn) Write(p []byte) (int, error) {
	if c.held != nil {
		*c.held = append(*c.held, p...)
		return len(p), nil
	}
	return c.Conn.Write(p)
}

// CloseWrite closes the sending side. net/http calls it, if the method exists, before it
// closes a connection whose client is still sending: the client can then read the
// response.
func (c *conn) CloseWrite() error {
	if closer, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return closer.CloseWrite()
	}
	return nil
}

// ReadFrom keeps sendfile available: io.Copy to the inner connection lets the kernel copy
// files to the network.
func (c *conn) ReadFrom(r io.Reader) (int64, error) { return io.Copy(c.Conn, r) }

// connKey is the key of the *conn in the context of requests.
type connKey struct{}

// withConn adds a connection to the context of its requests.
func withConn(ctx context.Context, raw net.Conn) context.Context {
	if tlsConn, ok := raw.(*tls.Conn); ok {
		raw = tlsConn.NetConn()
	}
	return context.WithValue(ctx, connKey{}, raw)
}
