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

// pgPool is the connections that requests use. When the database hangs, closing them can
// take as long as the network allows, so the whole pool is abandoned: requests that wait
// fail at once, and a new pool takes its place.
type pgPool struct {
	connect func(context.Context) (*pgconn.PgConn, error)
	slots   chan struct{}   // taken by each connection in use
	shares  *shares         // of the connections
	alive   context.Context // ends when the pool is abandoned
	abandon context.CancelFunc

	mu     sync.Mutex
	idle   []*pgConn // the most recently used last, because its caches are warm
	closed bool
}

const (
	// A connection that was idle for pingAfter is pinged before it is used, and replaced
	// if it does not answer within pingTimeout.
	pingAfter   = time.Second
	pingTimeout = time.Second
	// Connections are closed after connLife: the server's memory for them grows, and
	// servers are moved.
	connLife = time.Hour
)

// pgHosts are the servers that the URL names. One of them is the primary, which takes
// writes; after a failover it is another.
type pgHosts struct {
	list  [][]*pgconn.FallbackConfig // the ways to reach each server, with and without TLS
	first atomic.Int32               // index of the last known primary
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
		// The parser's error can quote the password.
		return nil, errors.New("the database URL is not valid; use postgres://user:password@host:5432/name")
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

// poolSize removes pool_max_conns, which the server does not know, from an address. It
// does not use url.Parse, because an address can name several hosts.
func poolSize(address string) (string, int, error) {
	const name = "pool_max_conns"
	before, query, _ := strings.Cut(address, "?")
	values, err := url.ParseQuery(query)
	if err != nil || !values.Has(name) {
		return address, defaultPool, err
	}
	size, err := strconv.Atoi(values.Get(name))
	if err == nil && size < 1 {
		err = errors.New(name + " must be at least 1")
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

// newPool replaces the pool and abandons the old one.
func (db *postgres) newPool() {
	alive, abandon := context.WithCancel(context.Background())
	pool := &pgPool{connect: db.connect, slots: make(chan struct{}, db.size), shares: newShares(db.size), alive: alive, abandon: abandon}
	if before := db.live.Swap(pool); before != nil {
		before.abandon()
		go before.close() // can wait for the network
	}
}

// connect tries the last known primary first.
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

// take returns a connection of the pool or a new one. The caller gives it back with give.
func (p *pgPool) take(ctx context.Context) (*pgConn, error) {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	// A canceled request must not make connections look broken.
	if err := ctx.Err(); err != nil {
		<-p.slots
		return nil, err
	}
	if c := p.last(); c != nil {
		if time.Since(c.released) < pingAfter || c.ping(ctx) {
			return c, nil
		}
		if err := ctx.Err(); err != nil {
			go c.closeConn()
			<-p.slots
			return nil, err
		}
		// Connections that were idle for longer are broken too.
		go c.closeConn()
		p.dropIdle()
	}
	conn, err := p.connect(ctx)
	if err != nil {
		<-p.slots
		return nil, err
	}
	return &pgConn{PgConn: conn, prepared: map[string]*pgconn.StatementDescription{}, opened: time.Now()}, nil
}

// dropIdle closes all idle connections.
func (p *pgPool) dropIdle() {
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	go func() { // can wait for the network
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

// give puts a connection back into the pool, or closes it if it is broken, in a
// transaction, or too old.
func (p *pgPool) give(c *pgConn) {
	defer func() { <-p.slots }()
	c.released = time.Now()
	keep := c.isIdle() && !c.IsClosed() && c.length < maxPrepared && c.released.Sub(c.opened) < connLife
	p.mu.Lock()
	if keep = keep && !p.closed; keep {
		p.idle = append(p.idle, c)
	}
	p.mu.Unlock()
	if !keep {
		go c.closeConn() // can wait for the network
	}
}

// close closes idle connections and returns when the others were given back.
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

// isIdle says whether the connection is outside of a transaction and waits for nothing.
func (c *pgConn) isIdle() bool { return !c.IsBusy() && c.TxStatus() == pgIdle }

// ping says whether the server answers.
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

// within returns a context that ends after limit or when the pool is abandoned, so that
// no request waits for a database that hangs.
func (p *pgPool) within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	stop := context.AfterFunc(p.alive, cancel)
	return ctx, func() { stop(); cancel() }
}

// classifyError distinguishes a canceled request from an abandoned pool.
func (p *pgPool) classifyError(caller context.Context, err error) error {
	if errors.Is(caller.Err(), context.Canceled) && fault.Wrap(err).Code == fault.DatabaseUnreachable {
		// pgx interrupts a write with a deadline and returns only that as the error.
		return fmt.Errorf("%w: %v", context.Canceled, err)
	}
	if err != nil && errors.Is(err, context.Canceled) && p.alive.Err() != nil && caller.Err() == nil {
		return fault.DatabaseUnavailable(err)
	}
	return err
}

// connectPrimary connects to the server that takes writes. If the last known one hangs it
// is tried last, because that takes dialLimit.
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
		// Shown in pg_stat_activity.
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
	case <-time.After(closeLimit): // abandon what hangs
	}
	pool.abandon() // later requests fail at once
	return nil
}
