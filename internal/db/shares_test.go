package db_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"formulary/internal/db"
	"formulary/internal/db/dbtest"
	"formulary/internal/fault"
)

// endlessSQL reads until it is interrupted.
const endlessSQL = `WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT (x + 1) % 1000 FROM n) SELECT COUNT(*) FROM n`

func ignore(db.Row) error { return nil }

// A read ends when its caller has gone.
func TestReadsAreInterrupted(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, storage dbtest.Storage) {
		d := dbtest.Open(t, storage)
		for range 20 { // more than there are connections
			gone, leave := context.WithCancel(t.Context())
			result := make(chan error, 1)
			go func() { result <- d.Query(gone, endlessSQL, ignore) }()
			leave()
			if err := <-result; !errors.Is(err, context.Canceled) {
				t.Fatalf("a read whose caller has gone: %v", err)
			}
		}
		if err := d.Query(t.Context(), "SELECT 1", ignore); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// Work of one share that waits for the database is bounded; what is past the bound is
// refused at once.
func TestWaitingIsBounded(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, storage dbtest.Storage) {
		d := dbtest.Open(t, storage)
		reading, leave := context.WithCancel(db.WithShare(t.Context(), db.Share{Account: "usr_greedy"}))
		var all sync.WaitGroup
		refused := make(chan struct{})
		var once sync.Once
		for range 2 * db.MaxWaiting {
			all.Go(func() {
				for reading.Err() == nil {
					if err := d.Query(reading, endlessSQL, ignore); fault.Wrap(err).Code == fault.RateLimited {
						once.Do(func() { close(refused) })
						return
					}
				}
			})
		}
		<-refused
		leave()
		all.Wait()
	})
}
