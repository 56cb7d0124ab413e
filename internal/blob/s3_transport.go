package blob

import (
	"context"
	"net"
	"net/http"
	"time"
)

// timeouts bound how long an S3 server that is away or hangs delays a request. There is
// none for whole downloads: their clients may be slow.
type timeouts struct {
	connect time.Duration
	stall   time.Duration // without a byte in either direction
}

func (t timeouts) withDefaults() timeouts {
	if t.connect == 0 {
		t.connect = 5 * time.Second
	}
	if t.stall == 0 {
		t.stall = 15 * time.Second
	}
	return t
}

func newTransport(t timeouts) *http.Transport {
	dialer := &net.Dialer{Timeout: t.connect}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &stallConn{Conn: c, timeout: t.stall}, nil
		},
		TLSHandshakeTimeout:   t.connect,
		ResponseHeaderTimeout: t.stall,
		MaxIdleConnsPerHost:   64,
		IdleConnTimeout:       t.stall, // a read waits on an idle connection
		DisableCompression:    true,
		WriteBufferSize:       32 << 10,
		ReadBufferSize:        32 << 10,
	}
}

// stallConn is a connection that fails if nothing is received or sent for some time. A
// write also extends the time for reading, because the response to an upload is awaited
// from its start.
type stallConn struct {
	net.Conn
	timeout time.Duration
}

func (c *stallConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.timeout)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

func (c *stallConn) Write(p []byte) (int, error) {
	if err := c.SetDeadline(time.Now().Add(c.timeout)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}
