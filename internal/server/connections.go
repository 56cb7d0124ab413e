package server

import (
	"cmp"
	"container/heap"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"formulary/internal/limit"
)

// connections is a listener that bounds how many connections are open, in total and
// per address. At a bound it closes connections on which no request is running, and
// only when there are none does it refuse the new one. So idle sockets, however
// many, never keep anybody out.
type connections struct {
	net.Listener
	total      int
	perAddress int
	trusted    func(netip.Addr) bool // exempt from perAddress, and closed last
	log        *slog.Logger
	counts     *connectionCounts
	now        func() time.Time

	refusals, evictions, failures throttle

	mu     sync.Mutex
	open   int
	groups map[groupKey]map[*conn]bool
}

// connectionCounts is what the metrics show of connections.
type connectionCounts struct {
	open, evicted, refusedAddress, refusedTotal, acceptErrors atomic.Int64
}

// groupKey is whose connections count together: an IPv4 address, an IPv6 /64, or a
// trusted proxy.
type groupKey struct {
	network netip.Addr
	proxy   bool
}

// conn is an accepted connection. Its state changes with every request, so it is an
// atomic rather than a part of what connections locks.
type conn struct {
	net.Conn
	of   *connections
	from groupKey
	// idle is since when no request is running, in Unix nanoseconds; zero: one is.
	idle atomic.Int64
	gone bool // no longer counted; locked by of.mu
}

// evicted is the idle of a connection that is being closed to make room.
const evicted = -1

// batch is how many of n connections are closed at once to make room, so that looking
// for them is paid for by several new ones.
func batch(n int) int { return max(1, n/32) }

func newConnections(l net.Listener, c Config, counts *connectionCounts) *connections {
	total := c.MaxConnections
	files, known := openFileLimit()
	if total <= 0 {
		total = connectionsFor(files, known)
	} else if known && uint64(total) >= files {
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
		Listener: l, total: total, perAddress: perAddress, trusted: trusted, log: c.Log, counts: counts, now: time.Now,
		groups: map[groupKey]map[*conn]bool{},
	}
}

const (
	// maxDefaultConnections is the default where files are plenty: an idle connection costs
	// some 20 KB of memory.
	maxDefaultConnections = 8192
	minReservedFiles      = 64 // files for the database, the log and outgoing connections
	minConnections        = 16
)

// connectionsFor derives the default total from how many files may be open. A quarter
// of them stays free for everything else.
func connectionsFor(files uint64, known bool) int {
	if !known {
		return maxDefaultConnections
	}
	files = min(files, 1<<20)
	return min(max(int(files)-max(int(files)/4, minReservedFiles), minConnections), maxDefaultConnections)
}

// Accept waits for a connection that may stay.
func (l *connections) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			l.failed(err)
			return nil, err
		}
		if c := l.admit(raw); c != nil {
			return c, nil
		}
		raw.Close()
	}
}

// failed reports an accept error, after which net/http waits and tries again. When
// the process has too many open files, closing idle connections helps.
func (l *connections) failed(err error) {
	if errors.Is(err, net.ErrClosed) {
		return
	}
	l.counts.acceptErrors.Add(1)
	closed := 0
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		l.mu.Lock()
		list := l.evictFromLargest(batch(l.total))
		l.mu.Unlock()
		closed = len(list)
		closeAll(list)
	}
	if held, ok := l.failures.allow(l.now()); ok {
		l.log.Warn("accept failed", "error", err, "idle_closed", closed, "unreported", held)
	}
}

// admit counts a connection, making room if there is none; nil: it is refused.
func (l *connections) admit(raw net.Conn) *conn {
	c := &conn{Conn: raw, of: l, from: l.keyOf(raw.RemoteAddr())}
	c.idle.Store(l.now().UnixNano())
	l.mu.Lock()
	group := l.groups[c.from]
	var room []*conn
	if !c.from.proxy && len(group) >= l.perAddress {
		room = l.evictFrom(group, batch(l.perAddress))
		if len(room) == 0 {
			l.mu.Unlock()
			l.counts.refusedAddress.Add(1)
			l.refused(c, "address limit", l.perAddress)
			return nil
		}
	}
	if l.open >= l.total {
		more := l.evictFromLargest(batch(l.total))
		if len(more) == 0 {
			l.mu.Unlock()
			l.counts.refusedTotal.Add(1)
			l.refused(c, "total limit", l.total)
			return nil
		}
		room = append(room, more...)
	}
	if group = l.groups[c.from]; group == nil {
		group = map[*conn]bool{}
		l.groups[c.from] = group
	}
	group[c] = true
	l.open++
	l.counts.open.Store(int64(l.open))
	l.mu.Unlock()
	if len(room) > 0 {
		if held, ok := l.evictions.allow(l.now()); ok {
			l.log.Warn("connection limit reached, idle connections closed", "address", room[0].from.network.String(), "closed", len(room), "unreported", held)
		}
		closeAll(room)
	}
	return c
}

func (l *connections) refused(c *conn, reason string, most int) {
	if held, ok := l.refusals.allow(l.now()); ok {
		l.log.Warn("connection refused", "address", c.from.network.String(), "reason", reason, "limit", most, "unreported", held)
	}
}

func (l *connections) keyOf(remote net.Addr) groupKey {
	tcp, ok := remote.(*net.TCPAddr)
	if !ok {
		return groupKey{}
	}
	addr := tcp.AddrPort().Addr().Unmap().WithZone("")
	if l.trusted(addr) {
		return groupKey{addr, true}
	}
	return groupKey{limit.ClientNetwork(addr), false}
}

// evictFrom takes up to n idle connections out of a group, those that have been idle
// for longest. The caller closes them once the lock is free.
func (l *connections) evictFrom(group map[*conn]bool, n int) []*conn {
	var list []*conn
	for _, c := range longestIdle(group) {
		if len(list) == n {
			break
		}
		if l.evict(c) {
			list = append(list, c)
		}
	}
	return list
}

// evictFromLargest takes up to n idle connections, each from whoever has the most
// connections then, and from trusted proxies last.
func (l *connections) evictFromLargest(n int) []*conn {
	var all candidates
	for key, group := range l.groups {
		if idle := longestIdle(group); len(idle) > 0 {
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

// evict takes a connection out of the count, unless a request has begun on it.
func (l *connections) evict(c *conn) bool {
	since := c.idle.Load()
	if since <= 0 || !c.idle.CompareAndSwap(since, evicted) {
		return false
	}
	l.remove(c)
	l.counts.evicted.Add(1)
	return true
}

func (l *connections) remove(c *conn) {
	if c.gone {
		return
	}
	c.gone = true
	group := l.groups[c.from]
	if delete(group, c); len(group) == 0 {
		delete(l.groups, c.from)
	}
	l.open--
	l.counts.open.Store(int64(l.open))
}

func closeAll(list []*conn) {
	for _, c := range list {
		c.Conn.Close()
	}
}

// longestIdle lists the idle connections of a group, the oldest first.
func longestIdle(group map[*conn]bool) []*conn {
	type at struct {
		c     *conn
		since int64
	}
	var idle []at
	for c := range group {
		if since := c.idle.Load(); since > 0 {
			idle = append(idle, at{c, since})
		}
	}
	slices.SortFunc(idle, func(a, b at) int { return cmp.Compare(a.since, b.since) })
	list := make([]*conn, len(idle))
	for i := range idle {
		list[i] = idle[i].c
	}
	return list
}

// candidates is a heap of groups that have idle connections.
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

// state learns from net/http whether a request is running on a connection. One that
// has not sent its header yet counts as idle.
func (l *connections) state(of net.Conn, state http.ConnState) {
	if encrypted, ok := of.(*tls.Conn); ok {
		of = encrypted.NetConn()
	}
	c, ok := of.(*conn)
	if !ok {
		return
	}
	switch state {
	case http.StateActive, http.StateHijacked:
		if since := c.idle.Load(); since > 0 {
			c.idle.CompareAndSwap(since, 0)
		}
	case http.StateIdle:
		c.idle.CompareAndSwap(0, l.now().UnixNano())
	}
}

// Close gives the place of the connection to others.
func (c *conn) Close() error {
	c.of.mu.Lock()
	c.of.remove(c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite lets a client that is still sending read the answer: net/http looks for
// this method before it closes such a connection.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// ReadFrom lets files go from disk to network inside the system, as without conn.
func (c *conn) ReadFrom(r io.Reader) (int64, error) { return io.Copy(c.Conn, r) }
