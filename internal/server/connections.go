package server

import (
	"container/heap"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sort"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"formulary/internal/limit"
)

// connections is a listener that limits the number of open connections, in total and
// per address. At a limit it closes connections that have no request running, and it
// refuses the new connection only if there are none. So idle connections can never
// lock other clients out.
type connections struct {
	net.Listener
	maxTotal      int
	maxPerAddress int
	isTrusted     func(netip.Addr) bool // trusted proxies have no maxPerAddress and are closed last
	log           *slog.Logger
	counts        *connectionCounts
	now           func() time.Time

	refusals, evictions, failures throttle

	// acceptUntil is when Accept closes the listener at the latest, in Unix nanoseconds.
	// It is 0 until closeWhenQuiet is called.
	acceptUntil atomic.Int64

	mu     sync.Mutex
	open   int
	groups map[groupKey]map[*conn]bool
}

// connectionCounts holds the connection counters for the metrics.
type connectionCounts struct {
	open, evicted, refusedAddress, refusedTotal, acceptErrors atomic.Int64
}

// groupKey identifies the connections that share a limit: those of an IPv4 address, of
// an IPv6 /64, or of a trusted proxy.
type groupKey struct {
	network netip.Addr
	proxy   bool
}

// evicted is the idleSince of a connection that is being closed to make room.
const evicted = -1

// evictionBatch returns how many of n connections to close when a limit is reached. A
// search for idle connections is expensive, so one search makes room for several new
// connections.
func evictionBatch(n int) int { return max(1, n/32) }

func newConnections(l net.Listener, c Config, counts *connectionCounts) *connections {
	total := c.MaxConnections
	files, limitKnown := openFileLimit()
	if total <= 0 {
		total = defaultMaxConnections(files, limitKnown)
	} else if limitKnown && uint64(total) >= files {
		c.Log.Warn("connection limit exceeds open file limit", "connections", total, "files", files)
	}
	perAddress := c.MaxPerAddress
	if perAddress <= 0 {
		perAddress = max(total/4, 1)
	}
	trusted := c.Trusted
	if trusted == nil {
		trusted = func(netip.Addr) bool { return false }
	}
	return &connections{
		Listener: l, maxTotal: total, maxPerAddress: perAddress, isTrusted: trusted, log: c.Log, counts: counts, now: time.Now,
		groups: map[groupKey]map[*conn]bool{},
	}
}

const (
	// maxDefaultConnections bounds the default where the limit of open files is high: an
	// idle connection takes about 20 KB of memory.
	maxDefaultConnections = 8192
	minReservedFiles      = 64 // files for the database, the log and outgoing connections
	minConnections        = 16
)

// defaultMaxConnections derives the default of MaxConnections from the limit of open
// files. It leaves a quarter of the files, and at least minReservedFiles, for other uses.
func defaultMaxConnections(files uint64, limitKnown bool) int {
	if !limitKnown {
		return maxDefaultConnections
	}
	files = min(files, 1<<20)
	return min(max(int(files)-max(int(files)/4, minReservedFiles), minConnections), maxDefaultConnections)
}

const (
	maxOutgoing = 2048
	minOutgoing = 32
)

// OutgoingConnections returns how many connections to other services may be open at a time:
// half of the files that defaultMaxConnections leaves.
func OutgoingConnections() int {
	files, limitKnown := openFileLimit()
	if !limitKnown {
		return maxOutgoing
	}
	return int(min(max(files/8, minOutgoing), maxOutgoing))
}

// Accept returns the next connection that is within the limits. It closes the others.
func (l *connections) Accept() (net.Conn, error) {
	for {
		raw, err := l.acceptRaw()
		if err != nil {
			l.handleAcceptError(err)
			return nil, err
		}
		if c := l.admit(raw); c != nil {
			return c, nil
		}
		raw.Close()
	}
}

const (
	quietTime     = 10 * time.Millisecond
	maxUntilQuiet = 200 * time.Millisecond
)

// closeWhenQuiet makes Accept close the listener once no connection has arrived for
// quietTime, or after maxUntilQuiet. The system opens connections before Accept returns
// them, and closing the listener resets those, with the requests on them.
func (l *connections) closeWhenQuiet() {
	now := time.Now()
	l.acceptUntil.Store(now.Add(maxUntilQuiet).UnixNano())
	if !l.setDeadline(now) { // acceptRaw may be waiting
		l.Listener.Close()
	}
}

// acceptRaw returns the next connection, or net.ErrClosed after closeWhenQuiet.
func (l *connections) acceptRaw() (net.Conn, error) {
	if l.acceptUntil.Load() == 0 {
		raw, err := l.Listener.Accept()
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return raw, err
		}
	}
	if now := time.Now(); now.UnixNano() < l.acceptUntil.Load() && l.setDeadline(now.Add(quietTime)) {
		raw, err := l.Listener.Accept()
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return raw, err
		}
	}
	l.Listener.Close()
	return nil, net.ErrClosed
}

// setDeadline sets the deadline of the listener's Accept. It returns false if the
// listener has none.
func (l *connections) setDeadline(t time.Time) bool {
	listener, ok := l.Listener.(interface{ SetDeadline(time.Time) error })
	return ok && listener.SetDeadline(t) == nil
}

// handleAcceptError logs an accept error, after which net/http waits and tries again. If
// the process has too many open files, it also closes idle connections.
func (l *connections) handleAcceptError(err error) {
	if errors.Is(err, net.ErrClosed) {
		return
	}
	l.counts.acceptErrors.Add(1)
	closed := 0
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		l.mu.Lock()
		list := l.evictFromLargest(evictionBatch(l.maxTotal))
		l.mu.Unlock()
		closed = len(list)
		closeAll(list)
	}
	if suppressed, ok := l.failures.allow(l.now()); ok {
		l.log.Warn("accept failed", "error", err, "idle_closed", closed, "unreported", suppressed)
	}
}

// admit counts a new connection and closes idle ones if a limit is reached. It returns
// nil if the connection must be refused.
func (l *connections) admit(raw net.Conn) *conn {
	c := &conn{Conn: raw, listener: l, groupKey: l.groupKeyOf(raw.RemoteAddr())}
	c.idleSince.Store(l.now().UnixNano())
	l.mu.Lock()
	group := l.groups[c.groupKey]
	var toClose []*conn
	if !c.groupKey.proxy && len(group) >= l.maxPerAddress {
		toClose = l.evictFrom(group, evictionBatch(l.maxPerAddress))
		if len(toClose) == 0 {
			l.mu.Unlock()
			l.counts.refusedAddress.Add(1)
			l.logRefusal(c, "address limit", l.maxPerAddress)
			return nil
		}
	}
	if l.open >= l.maxTotal {
		more := l.evictFromLargest(evictionBatch(l.maxTotal))
		if len(more) == 0 {
			l.mu.Unlock()
			l.counts.refusedTotal.Add(1)
			l.logRefusal(c, "total limit", l.maxTotal)
			return nil
		}
		toClose = append(toClose, more...)
	}
	if group = l.groups[c.groupKey]; group == nil {
		group = map[*conn]bool{}
		l.groups[c.groupKey] = group
	}
	group[c] = true
	l.open++
	l.counts.open.Store(int64(l.open))
	l.mu.Unlock()
	if len(toClose) > 0 {
		if suppressed, ok := l.evictions.allow(l.now()); ok {
			l.log.Warn("connection limit reached, idle connections closed", "address", toClose[0].groupKey.network.String(), "closed", len(toClose), "unreported", suppressed)
		}
		closeAll(toClose)
	}
	return c
}

func (l *connections) logRefusal(c *conn, reason string, bound int) {
	if suppressed, ok := l.refusals.allow(l.now()); ok {
		l.log.Warn("connection refused", "address", c.groupKey.network.String(), "reason", reason, "limit", bound, "unreported", suppressed)
	}
}

func (l *connections) groupKeyOf(remote net.Addr) groupKey {
	tcp, ok := remote.(*net.TCPAddr)
	if !ok {
		return groupKey{}
	}
	addr := tcp.AddrPort().Addr().Unmap().WithZone("")
	if l.isTrusted(addr) {
		return groupKey{addr, true}
	}
	return groupKey{limit.ClientNetwork(addr), false}
}

// evictFrom removes up to n idle connections from a group, the longest idle first. The
// caller holds mu, and closes the connections after releasing it.
func (l *connections) evictFrom(group map[*conn]bool, n int) []*conn {
	var list []*conn
	for _, c := range listIdle(group) {
		if len(list) == n {
			break
		}
		if l.evict(c) {
			list = append(list, c)
		}
	}
	return list
}

// evictFromLargest removes up to n idle connections, each from the group that has the
// most connections at that point; trusted proxies come last. The caller holds mu, and
// closes the connections after releasing it.
func (l *connections) evictFromLargest(n int) []*conn {
	var all candidates
	for key, group := range l.groups {
		if idle := listIdle(group); len(idle) > 0 {
			all = append(all, candidate{key.proxy, len(group), idle})
		}
	}
	heap.Init(&all)
	var list []*conn
	for len(all) > 0 && len(list) < n {
		first := &all[0]
		c := first.idle[0]
		first.idle = first.idle[1:]
		if l.evict(c) {
			list = append(list, c)
			first.open--
		}
		if len(first.idle) == 0 {
			heap.Pop(&all)
		} else {
			heap.Fix(&all, 0)
		}
	}
	return list
}

// evict removes a connection from the count. It returns false if a request has started
// on the connection.
func (l *connections) evict(c *conn) bool {
	since := c.idleSince.Load()
	if since <= 0 || !c.idleSince.CompareAndSwap(since, evicted) {
		return false
	}
	l.remove(c)
	l.counts.evicted.Add(1)
	return true
}

func (l *connections) remove(c *conn) {
	if c.removed {
		return
	}
	c.removed = true
	group := l.groups[c.groupKey]
	if delete(group, c); len(group) == 0 {
		delete(l.groups, c.groupKey)
	}
	l.open--
	l.counts.open.Store(int64(l.open))
}

func closeAll(list []*conn) {
	for _, c := range list {
		c.Conn.Close()
	}
}

// listIdle returns the idle connections of a group, the longest idle first.
func listIdle(group map[*conn]bool) []*conn {
	type idleConn struct {
		c     *conn
		since int64
	}
	var idle []idleConn
	for c := range group {
		if since := c.idleSince.Load(); since > 0 {
			idle = append(idle, idleConn{c, since})
		}
	}
	sort.Slice(idle, func(i, j int) bool { return idle[i].since < idle[j].since })
	list := make([]*conn, len(idle))
	for i := range idle {
		list[i] = idle[i].c
	}
	return list
}

// candidates is a heap of groups that have idle connections. The first is the group to
// evict from next.
type candidates []candidate

type candidate struct {
	proxy bool
	open  int
	idle  []*conn
}

func (c candidates) Len() int      { return len(c) }
func (c candidates) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c candidates) Less(i, j int) bool {
	if c[i].proxy != c[j].proxy {
		return c[j].proxy
	}
	return c[i].open > c[j].open
}
func (c *candidates) Push(any) { panic("not used") }
func (c *candidates) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

// trackState implements http.Server.ConnState: it records whether a request is running on
// a connection. A connection whose client has not sent a complete
// request header counts as idle.
func (l *connections) trackState(raw net.Conn, state http.ConnState) {
	if tlsConn, ok := raw.(*tls.Conn); ok {
		raw = tlsConn.NetConn()
	}
	c, ok := raw.(*conn)
	if !ok {
		return
	}
	switch state {
	case http.StateActive, http.StateHijacked:
		if since := c.idleSince.Load(); since > 0 {
			c.idleSince.CompareAndSwap(since, 0)
		}
	case http.StateIdle:
		c.idleSince.CompareAndSwap(0, l.now().UnixNano())
	}
}
