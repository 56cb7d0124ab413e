// Package store holds all the SQL of Formulary. One text of each statement
// serves SQLite and PostgreSQL; the two files sqlite.go and postgres.go hold
// every difference between them, behind the small engine interface below.
//
// Whatever an account owns is asked for with its owner in the signature, and
// what belongs to somebody else is fault.NotFound, as if it did not exist.
package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
)

// Store is the database, whichever it is.
type Store struct {
	db      engine
	bearers *Cache[string, AccessToken]
	clients *Cache[string, appCredentials]
	public  *Cache[string, *PublicForm]
	owners  addresses
	signing *Cache[string, SigningKeys]
	guesses attemptRows
	// lastSigning is for the time that the database is out of reach.
	lastSigning atomic.Pointer[SigningKeys]

	definitions definitions
	versions    *lruCache[definitionKey, []*form.Definition]
	submissions submissionQueue
	calls       requestLog
	quotas      quotas
	background  sync.WaitGroup
}

// maxPrepared is how much SQL a connection keeps prepared: all that is asked again and
// again, several times over. What was made for one filter is long and soon forgotten.
const maxPrepared = 256 << 10

// engine is what SQLite and PostgreSQL have in common.
type engine interface {
	// Query runs one statement that reads, outside of any transaction.
	Query(ctx context.Context, sql string, scan func(row) error, args ...any) error
	// Read runs fn on one snapshot of the data.
	Read(ctx context.Context, fn func(tx) error) error
	// QueryBatch runs statements that read, all on one snapshot, and in one round trip
	// where there are any.
	QueryBatch(ctx context.Context, questions ...statement) error
	// Write runs fn in a transaction. When Write returns nil, what fn wrote and what it
	// read are durable. fn may run more than once and must not keep anything from a
	// failed run.
	Write(ctx context.Context, fn func(tx) error) error
	// Exclusive is Write that no other process can run at the same time; on
	// PostgreSQL too, where two nodes may start at once.
	Exclusive(ctx context.Context, fn func(tx) error) error
	// Generation is a number that differs once anything of the owner has changed, by
	// whichever process; false where that cannot be told without asking.
	Generation(owner string) (uint64, bool)
	// HasInstantInvalidation says whether Mark tells of a change as soon as it is committed, also
	// when another process made it.
	HasInstantInvalidation() bool
	// Invalidate makes every Mark of the owner, or of everybody, another number.
	Invalidate(owner string)
	// Exchange carries messages between the nodes that share the database, until ctx
	// ends; what wake has says that say has some.
	Exchange(ctx context.Context, wake <-chan struct{}, say func() []string, hear func(string))
	// Scrub makes sure that deleted data is no longer in the files that this process
	// writes.
	Scrub(ctx context.Context) error
	// Dialect turns a migration in SQLite's spelling into the engine's own.
	Dialect(sql string) string
	// Lower is an expression for a text in lower case, in every alphabet.
	Lower(expression string) string
	// JSONContains is a condition: some text or number in a JSON value, in lower case,
	// contains the text, which is an expression in lower case.
	JSONContains(json, text string) string
	// JSONArrayHas is a condition: a JSON value is a list, and has a text in it.
	JSONArrayHas(json string) string
	// WriteShards is how many transactions with submissions make sense at a time.
	WriteShards() int
	// InProcess says that the work of the database is that of this process.
	InProcess() bool
	// Name is "SQLite" or "PostgreSQL", for people.
	Name() string
	Close() error
}

// tx runs statements in a transaction. Arguments are string, int64, int, bool or nil;
// for many rows they may be *string and *int64, which take no room of their own.
type tx interface {
	// Exec returns how many rows changed.
	Exec(sql string, args ...any) (int64, error)
	// ExecEach runs an INSERT for each row of arguments, in one go where the engine
	// can. The first arguments are the same for all of them. When one fails, others
	// may have been inserted: the transaction has to be taken back.
	ExecEach(sql string, same []any, rows [][]any) error
	// Query calls scan for each row; scan may stop early with errStop. No other
	// statement may run in the same transaction until Query has returned.
	Query(sql string, scan func(row) error, args ...any) error
}

// statement is a statement that reads, and what becomes of its rows.
type statement struct {
	sql  string
	args []any
	scan func(row) error // as in tx.Query
}

// row is a result row; dest are *string, *int64, *bool or *any.
type row interface {
	Scan(dest ...any) error
	// Columns names the columns, for backups.
	Columns() []string
}

var (
	errStopIteration = errors.New("stop iteration")
	errUnique        = errors.New("unique constraint violated")
)

// Open opens the database and brings its schema up to date. An empty url means
// SQLite in the data folder.
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

// Connect opens the database as it is.
func Connect(ctx context.Context, dataDir, url string) (*Store, error) {
	var db engine
	var err error
	switch {
	case url == "":
		db, err = openSQLite(dataDir)
	case strings.HasPrefix(url, "postgres://"), strings.HasPrefix(url, "postgresql://"):
		db, err = openPostgres(url)
	default:
		return nil, errors.New("the database URL must start with postgres:// (or be empty for SQLite)")
	}
	if err != nil {
		return nil, err
	}
	s := &Store{db: db}
	s.definitions.recent = newLRU[definitionKey, *form.Definition](maxDefinitions)
	s.versions = newLRU[definitionKey, []*form.Definition](maxVersions)
	s.bearers = NewCache[string, AccessToken](s, maxAccessTokens)
	s.clients = NewCache[string, appCredentials](s, maxCredentials)
	s.public = NewCache[string, *PublicForm](s, publicBytes)
	s.signing = NewCache[string, SigningKeys](s, 16)
	return s, nil
}

// Engine names the database for people.
func (s *Store) Engine() string { return s.db.Name() }

// MultiNode says whether other nodes may share the database.
func (s *Store) MultiNode() bool { return !s.db.HasInstantInvalidation() }

// Exchange carries messages between nodes until ctx ends: when wake has something,
// what say returns goes to all of them, and comes to hear there, mostly within
// some milliseconds. Nobody waits for it, and it may get lost.
func (s *Store) Exchange(ctx context.Context, wake <-chan struct{}, say func() []string, hear func(string)) {
	s.db.Exchange(ctx, wake, say, hear)
}

// Close waits for what is being written and closes the database.
func (s *Store) Close() error {
	s.closeSubmissions()
	s.closeRequestLog()
	s.background.Wait()
	return s.db.Close()
}

// Ready says whether the database answers and has the schema of this program, or
// that of a later one: migrations only add, so that nodes of the version before go
// on while others are replaced.
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

// confirm returns once everything that a read has shown is durable. It is for results
// that repeat what an interrupted commit may have written.
func (s *Store) confirm(ctx context.Context) error {
	return s.db.Write(ctx, func(tx) error { return nil })
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

// querier is what a single read needs: a transaction, or the engine itself.
type querier func(sql string, scan func(row) error, args ...any) error

func (s *Store) query(ctx context.Context) querier {
	return func(sql string, scan func(row) error, args ...any) error {
		return s.db.Query(ctx, sql, scan, args...)
	}
}

// scanInto is a question with one row for an answer; found is set when it is there.
func scanInto(found *bool, sql string, args []any, dest ...any) statement {
	return statement{sql, args, func(r row) error {
		*found = true
		return r.Scan(dest...)
	}}
}

// queryOne reads exactly one row; none is fault.NotFound.
func queryOne(q querier, sql string, args []any, dest ...any) error {
	found := false
	err := q(sql, func(r row) error {
		found = true
		if err := r.Scan(dest...); err != nil {
			return err
		}
		return errStopIteration
	}, args...)
	if err == nil && !found {
		return fault.NotFound
	}
	return err
}

// checkAffected turns "no row was changed" into fault.NotFound.
func checkAffected(n int64, err error) error {
	if err == nil && n == 0 {
		return fault.NotFound
	}
	return err
}
