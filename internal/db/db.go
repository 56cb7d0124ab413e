// Package db implements one small interface for SQLite, which runs in the same process,
// and PostgreSQL, which several nodes share. It contains connection pools, a share of the
// connections for each account, group commit, and the generations that invalidate caches.
//
// Package store has the SQL. One text of each statement serves both databases; the files
// named sqlite*.go and postgres*.go hold every difference between them.
package db

import (
	"context"
	"errors"
	"strings"

	"formulary/internal/fault"
)

// DB is what SQLite and PostgreSQL have in common.
type DB interface {
	// Query runs one statement that reads, outside of any transaction.
	Query(ctx context.Context, sql string, scan func(Row) error, args ...any) error
	// Read runs fn on one snapshot of the data.
	Read(ctx context.Context, fn func(Tx) error) error
	// QueryBatch runs statements that read, all on one snapshot, and in one round trip
	// where there are any.
	QueryBatch(ctx context.Context, statements ...Statement) error
	// Write runs fn in a transaction. When Write returns nil, what fn wrote and what it
	// read are durable. fn may run more than once and must not keep anything from a
	// failed run.
	Write(ctx context.Context, fn func(Tx) error) error
	// Exclusive is like Write, but only one process can run it at a time, also on
	// PostgreSQL, where two nodes may start at once.
	Exclusive(ctx context.Context, fn func(Tx) error) error

	// Generation returns a number that differs once anything of the owner has changed,
	// in any process; false if that cannot be known without a query.
	Generation(owner string) (uint64, bool)
	// HasInstantInvalidation reports whether Generation shows a change as soon as it is
	// committed, also when another process made it.
	HasInstantInvalidation() bool
	// Invalidate changes the generation of the owner, or of AllOwners.
	Invalidate(owner string)
	// Exchange carries messages between the nodes that share the database, until ctx
	// ends. When wake has a value, what outgoing returns is sent to all nodes, where
	// receive gets it.
	Exchange(ctx context.Context, wake <-chan struct{}, outgoing func() []string, receive func(string))

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
	// Listed is a table and a condition: its rows whose key is in the JSON array that is the
	// parameter. Each is looked up by its key, with or without statistics.
	Listed(table, key, parameter string) string
	// JSONArrayHas is a condition: a JSON value is a list and has a text in it.
	JSONArrayHas(json string) string
	// IndexedBy follows the name of a table in a query that should use an index. SQLite has no
	// statistics, so it does not know that a partial index has few rows. It refuses a query
	// that cannot use the index.
	IndexedBy(index string) string
	// Batching says how concurrent writes are best batched before they reach Write.
	Batching() Batching
	// Name is "SQLite" or "PostgreSQL", for people.
	Name() string
	Close() error
}

// Tx runs statements in a transaction. Arguments are string, int64, int, bool or nil;
// for many rows they may be *string and *int64, which need no allocation of their own.
type Tx interface {
	// Exec returns how many rows changed.
	Exec(sql string, args ...any) (int64, error)
	// ExecEach runs an INSERT for each row of arguments, in one go where the engine
	// can. The first arguments are the same for all of them. When one fails, others
	// may have been inserted: the transaction has to be rolled back.
	ExecEach(sql string, same []any, rows [][]any) error
	// UpdateRow runs an update of at most one row and scans that row as it is
	// afterwards. It returns how many rows changed.
	UpdateRow(u Update, args []any, dest ...any) (int64, error)
	// Query calls scan for each row; scan may stop early with ErrStop. No other
	// statement may run in the same transaction until Query has returned.
	Query(sql string, scan func(Row) error, args ...any) error
}

// Statement is a statement that reads.
type Statement struct {
	SQL  string
	Args []any
	Scan func(Row) error // as in Tx.Query
	// Cheaper returns other SQL for the same rows if the results of the statements before it in
	// a batch allow that, otherwise SQL. Only SQLite asks: PostgreSQL sends all statements
	// before it has a result. Optional.
	Cheaper func() string
}

// Update is an UPDATE of one row whose new values are needed, as RETURNING and as a second
// statement. PostgreSQL saves a round trip with RETURNING; on SQLite it is faster to read
// the row that was just written.
type Update struct {
	Returning string // UPDATE … RETURNING the columns
	Update    string // the same without RETURNING
	Select    string // the same columns of the same row
	Keys      int    // how many of the first arguments Select takes
}

// Row is a result row; dest are *string, *int64, *bool, *any, *Text or *RawText.
type Row interface {
	Scan(dest ...any) error
	// Columns names the columns, for backups.
	Columns() []string
}

// Batching is how concurrent writes are best batched (see Batcher).
type Batching struct {
	Shards     int  // transactions that make sense at a time
	YieldFirst bool // see Batcher
	Thread     bool // see Batcher
}

// AllOwners stands for all owners in Generation and Invalidate.
const AllOwners = ""

// maxPrepared is how many bytes of SQL a connection keeps prepared: all statements of the
// store several times over. Statements made for one filter are long and rarely repeated.
const maxPrepared = 256 << 10

var (
	// ErrStop is returned by a scan function that wants no more rows.
	ErrStop = errors.New("stop iteration")
	// ErrUnique is the violation of a primary key or a unique index.
	ErrUnique = errors.New("unique constraint violated")
	// ErrClosed is the cause of errors after Close.
	ErrClosed = errors.New("the store is closed")
	// ErrBusy refuses a write because too many are waiting.
	ErrBusy = fault.New(fault.DatabaseUnreachable, "The service is busy. Try again in a few seconds.").WithRetryAfter(1)
)

// Open opens a database without checking its schema. An empty url means SQLite
// in the data directory. PostgreSQL is connected to when it is first used.
func Open(dataDir, url string) (DB, error) {
	switch {
	case url == "":
		return openSQLite(dataDir)
	case strings.HasPrefix(url, "postgres://"), strings.HasPrefix(url, "postgresql://"):
		return openPostgres(url)
	}
	return nil, errors.New("the database URL must start with postgres:// (or be empty for SQLite)")
}
