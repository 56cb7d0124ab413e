package db

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"formulary/internal/fault"
)

// sqliteWrite is a transaction that waits for the writer.
type sqliteWrite struct {
	ctx   context.Context
	fn    func(Tx) error
	err   error
	panic any
	Waiter
}

// Write returns when the commit of fn is on disk. Writes that wait while another commit
// is synced share the next one, so each gets cheaper the more there are. A write that is
// queued is not abandoned when ctx ends: the caller must learn whether it is stored.
func (db *sqlite) Write(ctx context.Context, fn func(Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	db.stop.RLock()
	defer db.stop.RUnlock()
	if db.ended {
		return fault.DatabaseUnavailable(ErrClosed)
	}
	if err := db.queues.enter(ctx); err != nil {
		return err
	}
	defer db.queues.leave(ctx)
	w := &sqliteWrite{ctx: ctx, fn: fn, Waiter: NewWaiter()}
	if err := db.writes.Submit(w); err != nil {
		return err
	}
	if w.panic != nil {
		panic(w.panic)
	}
	return w.err
}

const (
	// scrubWait bounds how long one attempt to empty the WAL keeps writers waiting for
	// readers, and scrubTries how often that is attempted.
	scrubWait  = 50 * time.Millisecond
	scrubPause = 200 * time.Millisecond
	scrubTries = 100
)

var errScrub = errors.New("the WAL is in use")

// Scrub empties the WAL, which has earlier contents of pages. The database file itself
// has no deleted data (secure_delete).
func (db *sqlite) Scrub(ctx context.Context) error {
	db.stop.RLock()
	defer db.stop.RUnlock()
	if db.ended {
		return fault.DatabaseUnavailable(ErrClosed)
	}
	c, err := db.connect()
	if err != nil {
		return sqliteError(err)
	}
	defer c.close()
	if err := c.conn.BusyTimeout(scrubWait); err != nil {
		return err
	}
	for range scrubTries {
		// That a reader or writer is in the way shows as an error or in the row.
		busy := int64(1)
		err := c.Query("PRAGMA wal_checkpoint(TRUNCATE)", func(r Row) error { return r.Scan(&busy) })
		if err == nil && busy == 0 {
			return nil
		}
		if err != nil && fault.Wrap(err).Code != fault.DatabaseUnreachable {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(scrubPause):
		}
	}
	return fault.DatabaseUnavailable(errScrub)
}

func (db *sqlite) Exclusive(ctx context.Context, fn func(Tx) error) error {
	return db.Write(ctx, fn)
}

// commit runs a batch in one transaction. Usually all writes succeed. If one fails, the
// batch runs again with a savepoint for each write, so that only that one is rolled back.
func (c *sqliteConn) commit(group []*sqliteWrite) {
	if c.commitWith(group, c.runPlain) || len(group) == 1 {
		return
	}
	for _, w := range group {
		w.err, w.panic = nil, nil
	}
	c.commitWith(group, c.runInSavepoint)
}

var errMember = errors.New("another write in the batch failed")

// commitWith says whether every write of the batch was run.
func (c *sqliteConn) commitWith(group []*sqliteWrite, run func(*sqliteWrite) error) bool {
	if _, err := c.Exec("BEGIN IMMEDIATE"); err != nil {
		failAll(group, fmt.Errorf("begin transaction: %w", err))
		return true // running the batch again would only wait again
	}
	for _, w := range group {
		if err := run(w); err != nil {
			c.rollback()
			failAll(group, err)
			return false
		}
	}
	if _, err := c.Exec("COMMIT"); err != nil {
		c.rollback()
		failAll(group, fmt.Errorf("commit: %w", err))
	}
	return true
}

func (c *sqliteConn) runPlain(w *sqliteWrite) error {
	if w.run(c); w.failed() {
		return errMember
	}
	return nil
}

func (c *sqliteConn) runInSavepoint(w *sqliteWrite) error {
	if _, err := c.Exec("SAVEPOINT member"); err != nil {
		return err
	}
	if w.run(c); w.failed() {
		// A full disk may have ended the whole transaction already.
		if c.conn.GetAutocommit() {
			return fmt.Errorf("transaction ended inside a batch: %w", w.err)
		}
		if _, err := c.Exec("ROLLBACK TO member"); err != nil {
			return err
		}
	}
	_, err := c.Exec("RELEASE member")
	return err
}

func (c *sqliteConn) rollback() {
	if !c.conn.GetAutocommit() {
		c.Exec("ROLLBACK")
	}
}

func failAll(group []*sqliteWrite, err error) {
	for _, w := range group {
		if !w.failed() {
			w.err = err
		}
	}
}

func (w *sqliteWrite) failed() bool { return w.err != nil || w.panic != nil }

func (w *sqliteWrite) run(t Tx) {
	if w.err = w.ctx.Err(); w.err != nil {
		return
	}
	defer func() { w.panic = recover() }()
	w.err = w.fn(t)
	if errors.Is(w.err, ErrStop) {
		w.err = nil
	}
}

// ExecEach inserts up to maxRows rows with one statement, because SQLite keeps its
// B-tree cursor between the rows.
func (c *sqliteConn) ExecEach(sql string, same []any, rows [][]any) error {
	for len(rows) > 0 {
		n := min(len(rows), maxRows)
		args := append(make([]any, 0, len(same)+n*len(rows[0])), same...)
		for _, row := range rows[:n] {
			args = append(args, row...)
		}
		if _, err := c.Exec(c.insertSQL(sql, len(same), n), args...); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// maxRows bounds the rows that one statement inserts.
const maxRows = 32

// insertRows is an INSERT of one row, how many arguments are the same for all rows, and how many
// rows to insert.
type insertRows struct {
	sql     string
	same, n int
}

// insertSQL returns the text of an INSERT for n rows. Texts are made once per connection.
func (c *sqliteConn) insertSQL(sql string, same, n int) string {
	text, ok := c.inserts[insertRows{sql, same, n}]
	if !ok {
		text = multiRowInsert(sql, same, n)
		c.inserts[insertRows{sql, same, n}] = text
	}
	return text
}

// multiRowInsert turns an INSERT of one row, which ends with its values, into one of n
// rows that have the first values in common. OR FAIL: callers roll the transaction back
// when a row cannot be inserted, so SQLite need not prepare to undo the rows before it.
func multiRowInsert(sql string, same, n int) string {
	text := strings.Replace(sql, "INSERT INTO", "INSERT OR FAIL INTO", 1)
	row := sql[strings.LastIndex(sql, "("):]
	columns := strings.Count(row, "$") - same
	for i := 1; i < n; i++ {
		text += ", " + parameter.ReplaceAllStringFunc(row, func(p string) string {
			number, _ := strconv.Atoi(p[1:]) // it is digits
			if number > same {
				number += i * columns
			}
			return "$" + strconv.Itoa(number)
		})
	}
	return text
}
