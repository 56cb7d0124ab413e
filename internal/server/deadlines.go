package server

import (
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// deadlines are those of all connections. With each request net/http moves them
// several times, far ahead of when they pass, and each move would set a timer. Here
// they are noted; a look at all of them, once a second, gives a timer to those that
// pass soon.
type deadlines struct {
	net.Listener
	soon atomic.Int64 // what passes before, in Unix nanoseconds, has a timer

	mu    sync.Mutex
	conns map[*noted]bool
}

const (
	lookEvery = time.Second
	lookAhead = 2 * lookEvery
)

func newDeadlines(l net.Listener) *deadlines {
	return &deadlines{Listener: l, conns: map[*noted]bool{}}
}

// watch looks at the deadlines until ctx ends.
func (d *deadlines) watch(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		d.look(time.Now())
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (d *deadlines) look(now time.Time) {
	soon := now.Add(lookAhead).UnixNano()
	d.soon.Store(soon)
	d.mu.Lock()
	all := slices.Collect(maps.Keys(d.conns))
	d.mu.Unlock()
	for _, c := range all {
		c.look(soon)
	}
}

func (d *deadlines) Accept() (net.Conn, error) {
	conn, err := d.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &noted{Conn: conn, all: d}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.conns[c] = true
	return c, nil
}

// noted is a connection whose deadlines are notes until they pass soon.
type noted struct {
	net.Conn
	all *deadlines

	mu          sync.Mutex
	read, write deadline
}

type deadline struct {
	at    int64 // Unix nanoseconds; 0: there is none
	timed bool  // it has a timer
}

// move notes another time. When it is soon, or the timer is wrong now, the connection
// must be told, and told what.
func (d *deadline) move(to time.Time, soon int64) (told time.Time, must bool) {
	had := d.timed
	d.at = 0
	if !to.IsZero() {
		d.at = to.UnixNano()
	}
	if d.timed = d.at != 0 && d.at < soon; d.timed {
		told = to
	}
	return told, had || d.timed
}

// due says that it needs a timer, which it gets.
func (d *deadline) due(soon int64) bool {
	due := !d.timed && d.at != 0 && d.at < soon
	d.timed = d.timed || due
	return due
}

func (c *noted) SetReadDeadline(to time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if told, must := c.read.move(to, c.all.soon.Load()); must {
		return c.Conn.SetReadDeadline(told)
	}
	return nil
}

func (c *noted) SetWriteDeadline(to time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if told, must := c.write.move(to, c.all.soon.Load()); must {
		return c.Conn.SetWriteDeadline(told)
	}
	return nil
}

func (c *noted) SetDeadline(to time.Time) error {
	return errors.Join(c.SetReadDeadline(to), c.SetWriteDeadline(to))
}

// look gives timers to what passes soon. A connection that is closed meanwhile needs
// none.
func (c *noted) look(soon int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.read.due(soon) {
		c.Conn.SetReadDeadline(time.Unix(0, c.read.at))
	}
	if c.write.due(soon) {
		c.Conn.SetWriteDeadline(time.Unix(0, c.write.at))
	}
}

// CloseWrite is there for net/http to find.
func (c *noted) CloseWrite() error { return closeWrite(c.Conn) }

func (c *noted) Close() error {
	c.all.mu.Lock()
	delete(c.all.conns, c)
	c.all.mu.Unlock()
	return c.Conn.Close()
}
