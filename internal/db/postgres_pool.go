package db

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"formulary/internal/fault"
)

// pgPool is the connections that requests use. A database that hangs leaves them
// hanging, and closing them takes as long as the network wishes, so they are left
// behind: whoever waits is told at once, and new ones are made.
type pgPool struct {
	connect func(context.Context) (*pgconn.PgConn, error)
	slots   chan struct{}   // one per connection that may be in use
	shares  *shares         // of the connections
	alive   context.Context // ends when the pool is left behind
	leave   context.CancelFunc

	mu     sync.Mutex
	idle   []*pgConn // the most recently used last: what it knows is warm
	closed bool
}

const (
	// After so long in the pool a connection is asked whether it is still good.
	pingAfter = time.Second
	// If it says nothing for so long, a new one is made.
	pingTimeout = time.Second
	// A connection is not kept for ever: what the server holds for it grows, and
	// servers are moved.
	connLife = time.Hour
)

// pgHosts are the servers that the URL names. One of them takes writes; which one
// changes when it fails.
type pgHosts struct {
	list  [][]*pgconn.FallbackConfig // for each server the ways to reach it, with and without TLS
	first atomic.Int32               // the one that was last found to take writes
}

// applicationName is what the server's list of connections shows, unless the URL says
// otherwise. A node's listening connection ends with listeningName.
const (
	applicationName = "formulary"
	listeningName   = " listening"
)

func openPostgres(address string) (*postgres, error) {
	address, size, err := poolSize(address)
	var config *pgconn.Config
	if err == nil {
		config, err = pgconn.ParseConfig(address)
	}
	if err != nil {
		// The error of the parser can quote the password.
		return nil, errors.New("the database URL cannot be read; it looks like postgres://user:password@host:5432/name")
	}
	config.ConnectTimeout = dialLimit
	dialer := &net.Dialer{Timeout: dialLimit, KeepAlive: 10 * time.Second, Control: userTimeout}
	config.DialFunc = dialer.DialContext
	config.RuntimeParams["client_encoding"] = "UTF8"
	config.OnNotice = noteWarning
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = applicationName
	}
	db := &postgres{config: config, size: size}
	db.hosts.list = hostsOf(config)
	db.newPool()
	return db, nil
}

// poolSize takes pool_max_conns out of an address, since the server does not know
// it. An address can name several hosts, which package url cannot read.
func poolSize(address string) (string, int, error) {
	const name = "pool_max_conns"
	before, query, _ := strings.Cut(address, "?")
	values, err := url.ParseQuery(query)
	if err != nil || !values.Has(name) {
		return address, defaultPool, err
	}
	size, err := strconv.Atoi(values.Get(name))
	if err == nil && size < 1 {
		err = errors.New(name + " is less than 1")
	}
	values.Del(name)
	return before + "?" + values.Encode(), size, err
}

func hostsOf(c *pgconn.Config) [][]*pgconn.FallbackConfig {
	all := append([]*pgconn.FallbackConfig{{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}}, c.Fallbacks...)
	var list [][]*pgconn.FallbackConfig
	for i, way := range all {
		if i == 0 || all[i-1].Host != way.Host || all[i-1].Port != way.Port {
			list = append(list, nil)
		}
		list[len(list)-1] = append(list[len(list)-1], way)
	}
	return list
}

func useHosts(c *pgconn.Config, hosts ...[]*pgconn.FallbackConfig) {
	ways := slices.Concat(hosts...)
	c.Host, c.Port, c.TLSConfig, c.Fallbacks = ways[0].Host, ways[0].Port, ways[0].TLSConfig, ways[1:]
}

// newPool takes the place of the pool that there was.
func (db *postgres) newPool() {
	alive, leave := context.WithCancel(context.Background())
	pool := &pgPool{connect: db.connect, slots: make(chan struct{}, db.size), shares: newShares(db.size), alive: alive, leave: leave}
	if before := db.live.Swap(pool); before != nil {
		before.leave()
		go before.close() // this waits for the network
	}
}

// connect asks first the server that took writes last.
func (db *postgres) connect(ctx context.Context) (*pgconn.PgConn, error) {
	config := db.config.Copy()
	first := int(db.hosts.first.Load())
	useHosts(config, slices.Concat(db.hosts.list[first:], db.hosts.list[:first])...)
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err == nil {
		db.detectCollation(ctx, conn)
	}
	return conn, err
}

// take is a connection of the pool, or a new one, for the caller alone until give.
func (p *pgPool) take(ctx context.Context) (*pgConn, error) {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	// Who has left already must not find every connection bad.
	if err := ctx.Err(); err != nil {
		<-p.slots
		return nil, err
	}
	if c := p.last(); c != nil {
		if time.Since(c.left) < pingAfter || c.ping(ctx) {
			return c, nil
		}
		if err := ctx.Err(); err != nil {
			go c.closeConn()
			<-p.slots
			return nil, err
		}
		// Those that waited longer are no better.
		go c.closeConn()
		p.dropIdle()
	}
	conn, err := p.connect(ctx)
	if err != nil {
		<-p.slots
		return nil, err
	}
	return &pgConn{PgConn: conn, prepared: map[string]*pgconn.StatementDescription{}, made: time.Now()}, nil
}

// dropIdle closes the connections that nobody uses.
func (p *pgPool) dropIdle() {
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	go func() { // this waits for the network
		for _, c := range idle {
			c.closeConn()
		}
	}()
}

func (p *pgPool) last() *pgConn {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	if n == 0 {
		return nil
	}
	c := p.idle[n-1]
	p.idle = p.idle[:n-1]
	return c
}

// give takes a connection back, unless it is better to have a new one.
func (p *pgPool) give(c *pgConn) {
	defer func() { <-p.slots }()
	c.left = time.Now()
	keep := c.isIdle() && !c.IsClosed() && c.length < maxPrepared && c.left.Sub(c.made) < connLife
	p.mu.Lock()
	if keep = keep && !p.closed; keep {
		p.idle = append(p.idle, c)
	}
	p.mu.Unlock()
	if !keep {
		go c.closeConn() // nobody waits for that
	}
}

// close hangs up once nobody uses the pool any more.
func (p *pgPool) close() {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	p.closed = true
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, c := range idle {
		c.closeConn()
	}
	for range cap(p.slots) {
		p.slots <- struct{}{}
	}
}

// pgIdle is the state of a connection outside of a transaction.
const pgIdle = 'I'

// isIdle says whether nothing is going on on the connection.
func (c *pgConn) isIdle() bool { return !c.IsBusy() && c.TxStatus() == pgIdle }

// ping says whether there is still somebody at the other end.
func (c *pgConn) ping(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	return c.Ping(ctx) == nil
}

func (c *pgConn) closeConn() {
	ctx, cancel := context.WithTimeout(context.Background(), rollbackLimit)
	defer cancel()
	c.Close(ctx)
}

// within bounds how long something may take on the pool: whoever waits for a
// database that hangs is let go when the pool is left behind.
func (p *pgPool) within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	stop := context.AfterFunc(p.alive, cancel)
	return ctx, func() { stop(); cancel() }
}

// classifyError tells a caller who gave up from a database that was given up.
func (p *pgPool) classifyError(caller context.Context, err error) error {
	if errors.Is(caller.Err(), context.Canceled) && fault.Wrap(err).Code == fault.DatabaseUnreachable {
		// pgx stops a write of such a caller by a deadline, and says only that.
		return fmt.Errorf("%w: %v", context.Canceled, err)
	}
	if err != nil && errors.Is(err, context.Canceled) && p.alive.Err() != nil && caller.Err() == nil {
		return fault.DatabaseUnavailable(err)
	}
	return err
}

// connectPrimary connects to the server that takes writes. When the last one hangs it is
// asked after the others, because that takes a while.
func (db *postgres) connectPrimary(ctx context.Context, hung bool) (*pgconn.PgConn, error) {
	first, n := int(db.hosts.first.Load()), len(db.hosts.list)
	if hung {
		first++
	}
	var errs []error
	for i := range n {
		host := (first + i) % n
		config := db.config.Copy()
		config.OnNotification = db.generations.handleMessage
		useHosts(config, db.hosts.list[host])
		// In the server's list of connections it has a name of its own.
		config.RuntimeParams["application_name"] = config.RuntimeParams["application_name"] + listeningName
		dial, cancel := context.WithTimeout(ctx, dialLimit)
		conn, err := pgconn.ConnectConfig(dial, config)
		cancel()
		if err == nil {
			db.hosts.first.Store(int32(host))
			return conn, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// closeLimit bounds what closing waits for.
const closeLimit = 3 * time.Second

func (db *postgres) Close() error {
	db.stopBroadcast()
	pool := db.live.Load()
	closed := make(chan struct{})
	go func() { pool.close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(closeLimit): // what hangs is let go
	}
	pool.leave() // who comes now is told at once
	return nil
}
