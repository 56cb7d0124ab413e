package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sys/unix"

	"formulary/internal/fault"
)

// pgPool is the connections that requests use. A database that hangs leaves them
// hanging, and closing them takes as long as the network wishes, so they are left
// behind: whoever waits is told at once, and new ones are made.
type pgPool struct {
	*pgxpool.Pool
	alive context.Context // ends when the pool is left behind
	leave context.CancelFunc
}

// pgHosts are the servers that the URL names. One of them takes writes; which one
// changes when it fails.
type pgHosts struct {
	list  [][]*pgconn.FallbackConfig // for each server the ways to reach it, with and without TLS
	first atomic.Int32               // the one that was last found to take writes
}

func openPostgres(ctx context.Context, url string) (*postgres, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		// The error of the parser can quote the password.
		return nil, errors.New("the database URL cannot be read; it looks like postgres://user:password@host:5432/name")
	}
	if !strings.Contains(url, "pool_max_conns") {
		config.MaxConns = defaultPool
	}
	config.ConnConfig.ConnectTimeout = dialLimit
	dialer := &net.Dialer{Timeout: dialLimit, KeepAlive: 10 * time.Second, Control: userTimeout}
	config.ConnConfig.DialFunc = dialer.DialContext
	db := &postgres{config: config}
	db.hosts.list = hostsOf(config.ConnConfig)
	config.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error {
		first := int(db.hosts.first.Load())
		useHosts(c, slices.Concat(db.hosts.list[first:], db.hosts.list[:first])...)
		return nil
	}
	db.icu = sync.OnceValue(db.knowsAlphabets)
	if err := db.newPool(); err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	return db, nil
}

// userTimeout gives up on a connection whose data nobody acknowledges.
func userTimeout(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) {
		// Best effort: a Unix socket has no such option.
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(statementLimit.Milliseconds()))
	})
}

func hostsOf(c *pgx.ConnConfig) [][]*pgconn.FallbackConfig {
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

func useHosts(c *pgx.ConnConfig, hosts ...[]*pgconn.FallbackConfig) {
	ways := slices.Concat(hosts...)
	c.Host, c.Port, c.TLSConfig, c.Fallbacks = ways[0].Host, ways[0].Port, ways[0].TLSConfig, ways[1:]
}

// newPool takes the place of the pool that there was.
func (db *postgres) newPool() error {
	// The pool outlives whoever asked for it.
	pool, err := pgxpool.NewWithConfig(context.Background(), db.config)
	if err != nil {
		return err
	}
	alive, leave := context.WithCancel(context.Background())
	if before := db.live.Swap(&pgPool{pool, alive, leave}); before != nil {
		before.leave()
		go before.Close() // this waits for the network
	}
	return nil
}

// within bounds how long something may take on the pool: whoever waits for a
// database that hangs is let go when the pool is left behind.
func (p *pgPool) within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	stop := context.AfterFunc(p.alive, cancel)
	return ctx, func() { stop(); cancel() }
}

// judge tells a caller who gave up from a database that was given up.
func (p *pgPool) judge(caller context.Context, err error) error {
	if errors.Is(caller.Err(), context.Canceled) && fault.From(err).Code == fault.DatabaseUnreachable {
		// pgx stops a write of such a caller by a deadline, and says only that.
		return fmt.Errorf("%w: %v", context.Canceled, err)
	}
	if err != nil && errors.Is(err, context.Canceled) && p.alive.Err() != nil && caller.Err() == nil {
		return fault.Unreachable(err)
	}
	return err
}

// reach connects to the server that takes writes. When the last one hangs it is
// asked after the others, because that takes a while.
func (db *postgres) reach(ctx context.Context, hung bool) (*pgx.Conn, error) {
	first, n := int(db.hosts.first.Load()), len(db.hosts.list)
	if hung {
		first++
	}
	var errs []error
	for i := range n {
		host := (first + i) % n
		config := db.config.ConnConfig.Copy()
		useHosts(config, db.hosts.list[host])
		// In the server's list of connections it has a name of its own.
		config.RuntimeParams["application_name"] = strings.TrimSpace(config.RuntimeParams["application_name"] + " listening")
		dial, cancel := context.WithTimeout(ctx, dialLimit)
		conn, err := pgx.ConnectConfig(dial, config)
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
	db.endMarks()
	pool := db.live.Load()
	closed := make(chan struct{})
	go func() { pool.Close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(closeLimit):
		pool.leave() // what hangs is let go
	}
	return nil
}
