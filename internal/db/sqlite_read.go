package db

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"formulary/internal/fault"
)

// reader takes a connection from the pool or opens one.
func (db *sqlite) reader(ctx context.Context) (*sqliteConn, error) {
	select {
	case db.slots <- struct{}{}:
	default:
		select {
		case db.slots <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	db.mu.Lock()
	if n := len(db.idle); n > 0 {
		c := db.idle[n-1]
		db.idle = db.idle[:n-1]
		db.mu.Unlock()
		return c, nil
	}
	db.mu.Unlock()
	c, err := db.connect()
	if err != nil {
		<-db.slots
		return nil, sqliteError(err)
	}
	return c, nil
}

const (
	// idleReaders stay open; others are closed after readerIdle, because a connection
	// keeps the memory that its largest read needed.
	idleReaders = 2
	readerIdle  = 5 * time.Second
)

func (db *sqlite) release(c *sqliteConn) {
	c.used = time.Now()
	db.mu.Lock()
	db.idle = append(db.idle, c)
	if len(db.idle) > idleReaders && db.reaper == nil {
		db.reaper = time.AfterFunc(readerIdle, db.reap)
	}
	db.mu.Unlock()
	<-db.slots
}

// reap closes readers that were idle for readerIdle, and runs again while there are more
// than idleReaders.
func (db *sqlite) reap() {
	db.mu.Lock()
	stale := 0 // the least recently used come first
	for len(db.idle)-stale > idleReaders && time.Since(db.idle[stale].used) >= readerIdle {
		stale++
	}
	closing := slices.Clone(db.idle[:stale])
	db.idle = slices.Delete(db.idle, 0, stale)
	db.reaper = nil
	if len(db.idle) > idleReaders {
		db.reaper = time.AfterFunc(readerIdle, db.reap)
	}
	db.mu.Unlock()
	for _, c := range closing {
		c.close()
	}
}

// syncWAL makes durable what a killed process wrote to the WAL and did not sync. SQLite
// treats such a commit as complete, so readers see it.
func syncWAL(name string) error {
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open WAL: %w", err)
	}
	defer file.Close()
	if err := file.Sync(); err != nil {
		return fmt.Errorf("sync WAL: %w", err)
	}
	return nil
}

// read runs fn with a connection, and interrupts what runs on it when ctx ends.
func (db *sqlite) read(ctx context.Context, fn func(*sqliteConn) error) error {
	db.stop.RLock()
	defer db.stop.RUnlock()
	if db.ended {
		return fault.DatabaseUnavailable(ErrClosed)
	}
	within := ctx
	if s := ShareOf(ctx); s.Account != "" && !s.Reserved {
		var cancel func()
		within, cancel = context.WithTimeout(ctx, readLimit)
		defer cancel()
	}
	err := db.readWithin(within, fn)
	if within.Err() == nil || err == nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errTooSlow
}

func (db *sqlite) readWithin(ctx context.Context, fn func(*sqliteConn) error) error {
	if err := db.shares.enter(ctx); err != nil {
		return err
	}
	defer db.shares.leave(ctx)
	c, err := db.reader(ctx)
	if err != nil {
		return err
	}
	defer db.release(c)
	c.conn.SetInterrupt(ctx)
	defer c.conn.SetInterrupt(context.Background())
	return fn(c)
}

func (db *sqlite) Query(ctx context.Context, sql string, scan func(Row) error, args ...any) error {
	return db.read(ctx, func(c *sqliteConn) error { return c.Query(sql, scan, args...) })
}

// QueryBatch runs the statements one by one: there are no round trips to save.
func (db *sqlite) QueryBatch(ctx context.Context, statements ...Statement) error {
	return db.Read(ctx, func(t Tx) error {
		for _, q := range statements {
			sql := q.SQL
			if q.Cheaper != nil {
				sql = q.Cheaper()
			}
			if err := t.Query(sql, q.Scan, q.Args...); err != nil {
				return err
			}
		}
		return nil
	})
}

func (db *sqlite) Read(ctx context.Context, fn func(Tx) error) error {
	return db.read(ctx, func(c *sqliteConn) error {
		if _, err := c.Exec("BEGIN"); err != nil {
			return fmt.Errorf("begin transaction: %w", err)
		}
		defer func() {
			// Also after an interrupt, or the connection would stay in the transaction.
			c.conn.SetInterrupt(context.Background())
			c.Exec("COMMIT") // of reads, so an error loses nothing
		}()
		return fn(c)
	})
}
