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

// sqliteWrite is a transaction on its way to the one writer.
type sqliteWrite struct {
	ctx   context.Context
	fn    func(Tx) error
	err   error
	panic any
	Waiter
}

// Write returns when the commit of fn is on disk. Whatever gathers while a commit
// goes there is committed as one transaction: the more is waiting, the cheaper
// each becomes. Once queued it is not abandoned: the caller must learn whether it
// holds.
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

// Scrub empties the WAL, which has earlier contents of pages. The database file itself has
// nothing that was deleted (secure_delete).
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
	if err := c.BusyTimeout(scrubWait); err != nil {
		return err
	}
	for range scrubTries {
		// As an error or as a row, SQLite says that a reader or writer is in the way.
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

// commit runs a group in one transaction. Usually all of it succeeds; when one
// fails, the group runs again with a savepoint for each member, so that it takes
// only itself back.
func (c *sqliteConn) commit(group []*sqliteWrite) {
	if c.commitWith(group, c.runPlain) || len(group) == 1 {
		return
	}
	for _, w := range group {
		w.err, w.panic = nil, nil
	}
	c.commitWith(group, c.runInSavepoint)
}

var errMember = errors.New("a member of the group failed")

// commitWith says whether every member of the group had its turn.
func (c *sqliteConn) commitWith(group []*sqliteWrite, run func(*sqliteWrite) error) bool {
	if _, err := c.Exec("BEGIN IMMEDIATE"); err != nil {
		failAll(group, err)
		return true // trying again would only wait again
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
		failAll(group, err)
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
		if c.GetAutocommit() {
			return fmt.Errorf("transaction ended inside a group: %w", w.err)
		}
		if _, err := c.Exec("ROLLBACK TO member"); err != nil {
			return err
		}
	}
	_, err := c.Exec("RELEASE member")
	return err
}

func (c *sqliteConn) rollback() {
	if !c.GetAutocommit() {
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

// ExecEach inserts as many rows at a time as it can: from one row to the next SQLite
// then stays where it is in its trees.
func (c *sqliteConn) ExecEach(sql string, same []any, rows [][]any) error {
	for len(rows) > 0 {
		n := min(len(rows), maxRows)
		args := append(make([]any, 0, len(same)+n*len(rows[0])), same...)
		for _, row := range rows[:n] {
			args = append(args, row...)
		}
		if _, err := c.Exec(c.forRows(sql, len(same), n), args...); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// maxRows is how many rows one statement inserts at most.
const maxRows = 32

// rowsOf is a statement for so many rows.
type rowsOf struct {
	sql string
	n   int
}

// forRows is the text of an INSERT of one row, for n rows; it is made once.
func (c *sqliteConn) forRows(sql string, same, n int) string {
	text, ok := c.several[rowsOf{sql, n}]
	if !ok {
		text = severalRows(sql, same, n)
		c.several[rowsOf{sql, n}] = text
	}
	return text
}

// severalRows is an INSERT of one row, which ends with its values, for n rows that
// have the first values in common. Who cannot insert one of them takes the transaction
// back, so SQLite need not be ready to take back the rows before it.
func severalRows(sql string, same, n int) string {
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
