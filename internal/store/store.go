// Package store contains all SQL of Formulary, one file per noun. Each statement works
// on SQLite and PostgreSQL; package db contains the differences.
//
// Methods on data of an account take the owner. Data of another owner is
// fault.NotFound, as if it did not exist.
package store

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/form"
)

// Store reads and writes all data of Formulary.
type Store struct {
	db           db.DB
	accessTokens *Cache[string, AccessToken]
	clients      *Cache[string, appCredentials]
	public       *Cache[string, *PublicForm]
	files        *Cache[fileKey, File]
	formLists    *Cache[limitedList, []string]
	listReads    sync.Map // listRead → func() ([]string, error)
	owners       addresses
	signing      *Cache[string, SigningKeys]
	attempts     attemptRows
	// lastSigning is used while the database is unavailable.
	lastSigning atomic.Pointer[SigningKeys]

	definitions definitions
	versions    *lruCache[definitionKey, []*form.Definition]
	submissions submissionQueue
	requestLog  requestLog
	visits      visitCounts
	quotas      quotas
	uploads     formUploads
	objects     Objects // nil: this process has no access to files
	background  sync.WaitGroup
	moves       chan struct{} // has a value when a move was interrupted
	appChanges  chan struct{} // has a value when an application was disabled, enabled or deleted
}

// Open opens the database and updates its schema. An empty url means SQLite in the data
// directory.
func Open(ctx context.Context, dataDir, url string) (*Store, error) {
	s, err := Connect(ctx, dataDir, url)
	if err != nil {
		return nil, err
	}
	if _, err := s.Migrate(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Connect opens the database without updating its schema.
func Connect(ctx context.Context, dataDir, url string) (*Store, error) {
	engine, err := db.Open(dataDir, url)
	if err != nil {
		return nil, err
	}
	s := &Store{db: engine, moves: make(chan struct{}, 1), appChanges: make(chan struct{}, 1)}
	s.definitions.recent = newLRU[definitionKey, *form.Definition](maxDefinitions)
	s.versions = newLRU[definitionKey, []*form.Definition](maxVersions)
	s.accessTokens = NewCache[string, AccessToken](s, maxAccessTokens)
	s.clients = NewCache[string, appCredentials](s, maxCredentials)
	s.public = NewCache[string, *PublicForm](s, publicBytes)
	s.files = NewCacheWithCounts[fileKey, File](s, filesBytes)
	s.formLists = NewCache[limitedList, []string](s, formListBytes)
	s.signing = NewCache[string, SigningKeys](s, 16)
	return s, nil
}

// Engine returns the display name of the database.
func (s *Store) Engine() string { return s.db.Name() }

// MultiNode reports whether other nodes may use the same database.
func (s *Store) MultiNode() bool { return !s.db.HasInstantInvalidation() }

// Exchange sends messages between nodes until ctx ends. After wake receives a value,
// the result of outgoing is sent to all nodes, usually within milliseconds, and passed
// to receive there. Messages can get lost.
func (s *Store) Exchange(ctx context.Context, wake <-chan struct{}, outgoing func() []string, receive func(string)) {
	s.db.Exchange(ctx, wake, outgoing, receive)
}

// Close waits for running writes and closes the database.
func (s *Store) Close() error {
	s.closeSubmissions()
	s.closeRequestLog()
	s.closeVisits()
	s.background.Wait()
	return s.db.Close()
}

// Ready returns an error unless the database responds and has the schema of this
// program or a later one: migrations only add, so nodes of the previous version keep
// working during an upgrade.
func (s *Store) Ready(ctx context.Context) error {
	at, err := s.SchemaVersion(ctx)
	if err != nil {
		return err
	}
	if want := len(migrations()); at < want {
		return fault.DatabaseUnavailable(fmt.Errorf("the database schema is at version %d, but this version needs %d", at, want))
	}
	return nil
}

// confirm returns once everything that was read is durable. It is for results that
// repeat what an interrupted commit may have written.
func (s *Store) confirm(ctx context.Context) error {
	return s.db.Write(ctx, func(db.Tx) error { return nil })
}

// Page is a part of a list.
type Page struct {
	Limit, Offset int64
}

func toMillis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// querier runs a single read, inside or outside of a transaction.
type querier func(sql string, scan func(db.Row) error, args ...any) error

func (s *Store) query(ctx context.Context) querier {
	return func(sql string, scan func(db.Row) error, args ...any) error {
		return s.db.Query(ctx, sql, scan, args...)
	}
}

// scanInto returns a statement that reads at most one row; found is set if there is
// one.
func scanInto(found *bool, sql string, args []any, dest ...any) db.Statement {
	return db.Statement{SQL: sql, Args: args, Scan: func(r db.Row) error {
		*found = true
		return r.Scan(dest...)
	}}
}

// queryOne reads exactly one row; no row is fault.NotFound.
func queryOne(q querier, sql string, args []any, dest ...any) error {
	found := false
	err := q(sql, func(r db.Row) error {
		found = true
		if err := r.Scan(dest...); err != nil {
			return err
		}
		return db.ErrStop
	}, args...)
	if err == nil && !found {
		return fault.NotFound
	}
	return err
}

// wrap adds the name of the operation to an error, for the log. errors.Is and
// fault.Wrap still see codes and causes.
func wrap(err *error, operation string) {
	if *err != nil {
		*err = fmt.Errorf("%s: %w", operation, *err)
	}
}

// checkAffected returns fault.NotFound if no row was changed.
func checkAffected(n int64, err error) error {
	if err == nil && n == 0 {
		return fault.NotFound
	}
	return err
}
