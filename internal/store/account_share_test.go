package store_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"formulary/internal/db"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// endlessSQL runs until it is interrupted.
const endlessSQL = `WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT (x + 1) % 1000 FROM n) SELECT CAST(COUNT(*) AS TEXT) FROM n`

// However many slow reads one account starts, other accounts, respondents, sign-in and
// health checks get a connection.
func TestOneAccountCannotUseAllConnections(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		busy, other := addUser(t, s, "ada@example.com").ID, addUser(t, s, "bob@example.com").ID
		f := openForm(t, s, other, small)
		reading, cancel := context.WithCancel(store.ForAccount(ctx, busy))
		var slow sync.WaitGroup
		for range 40 {
			slow.Go(func() {
				// PostgreSQL ends a statement after its own time limit, SQLite after
				// readLimit.
				for reading.Err() == nil {
					s.Rows(reading, 1, endlessSQL)
				}
			})
		}
		defer slow.Wait()
		defer cancel()
		timeout, stop := context.WithTimeout(ctx, 30*time.Second)
		defer stop()
		for name, read := range map[string]func() error{
			"another account": func() error {
				_, err := s.Form(store.ForAccount(timeout, other), other, f.ID)
				return err
			},
			"a respondent": func() error {
				_, err := s.PublicForm(timeout, f.ID)
				return err
			},
			"signing in": func() error {
				_, err := s.UserByEmail(timeout, "ada@example.com")
				return err
			},
			"a health check": func() error { return s.Ready(timeout) },
			"a submission": func() error {
				_, err := s.SubmitResponse(timeout, store.Submission{Form: f, Answers: map[string]any{}, At: time.Now()})
				return err
			},
		} {
			for range 3 {
				if err := read(); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	})
}

// A node with empty caches serves many concurrent respondents without rejecting any.
func TestManyConcurrentRespondents(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, storage storetest.Storage) {
		f := openForm(t, s, addUser(t, s, "ada@example.com").ID, small)
		fresh := storetest.Open(t, storage)
		fresh.SetQuotas(store.Quotas{Bytes: 1 << 30})
		var all sync.WaitGroup
		for n := range 2 * db.MaxWaiting {
			all.Go(func() {
				p, err := fresh.PublicForm(ctx, f.ID)
				if err == nil {
					_, err = fresh.SubmitResponse(ctx, store.Submission{Form: p, Answers: map[string]any{"n": float64(n)}, At: time.Now()})
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
}
