package store

import (
	"context"
	"errors"
	"fmt"

	"formulary/internal/fault"
)

// sqliteWrite is a transaction waiting for the one writer.
type sqliteWrite struct {
	ctx   context.Context
	fn    func(tx) error
	err   error
	panic any
	done  chan struct{}
}

// Write queues fn for the writer and returns when its commit is on disk.
func (db *sqlite) Write(ctx context.Context, fn func(tx) error) error {
	w := &sqliteWrite{ctx: ctx, fn: fn, done: make(chan struct{})}
	db.stop.RLock()
	if db.ended {
		db.stop.RUnlock()
		return fault.Unreachable(errClosed)
	}
	select {
	case db.writes <- w:
		db.stop.RUnlock()
	case <-ctx.Done():
		db.stop.RUnlock()
		return ctx.Err()
	}
	// Once queued it is not abandoned: the caller must learn whether it holds.
	<-w.done
	if w.panic != nil {
		panic(w.panic)
	}
	return w.err
}

func (db *sqlite) Exclusive(ctx context.Context, fn func(tx) error) error {
	return db.Write(ctx, fn)
}

// write is the one writer. It takes whatever has gathered while the last commit
// went to disk and commits it as one transaction: the more is waiting, the
// cheaper each becomes.
func (db *sqlite) write(c *sqliteConn) {
	defer close(db.closed)
	defer c.close()
	group := make([]*sqliteWrite, 0, groupSize)
	for first := range db.writes {
		group = append(group[:0], first)
	gather:
		for len(group) < groupSize {
			select {
			case next, ok := <-db.writes:
				if !ok {
					break gather
				}
				group = append(group, next)
			default:
				break gather
			}
		}
		c.commit(group)
		for i, w := range group {
			close(w.done)
			group[i] = nil
		}
	}
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

func (w *sqliteWrite) run(t tx) {
	if w.err = w.ctx.Err(); w.err != nil {
		return
	}
	defer func() { w.panic = recover() }()
	w.err = w.fn(t)
	if errors.Is(w.err, errStop) {
		w.err = nil
	}
}
