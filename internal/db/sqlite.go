package db

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/ncruces/go-sqlite3"

	"formulary/internal/fault"
)

// sqliteFile is the name of the database in the data directory.
const sqliteFile = "formulary.db"

// sqlite is a database file with one writer, which commits in batches, and a pool of
// readers.
type sqlite struct {
	path        string
	generations generations
	slots       chan struct{} // taken by each reader in use
	shares      *shares       // of the readers
	queues      *shares       // of the queue of writes
	mu          sync.Mutex
	idle        []*sqliteConn // the most recently used last, because its cache is warm
	reaper      *time.Timer   // closes idle readers; nil: there are few
	writer      *sqliteConn
	writes      Batcher[*sqliteWrite]
	stop        sync.RWMutex // held for writing while closing
	ended       bool
}

const (
	maxWrites   = 8192 // that can wait
	groupSize   = 512  // writes in one commit
	busyTimeout = 10 * time.Second
)

// openSQLite creates the data directory and the database if they do not exist. With WAL
// and synchronous=FULL, commits survive a power cut.
func openSQLite(dir string) (*sqlite, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create data directory: %w", err)
	}
	readers := max(8, 2*runtime.GOMAXPROCS(0))
	db := &sqlite{
		path:   filepath.Join(dir, sqliteFile),
		slots:  make(chan struct{}, readers),
		shares: newShares(readers),
		queues: newShares(maxWrites),
	}
	if err := syncWAL(db.path + "-wal"); err != nil {
		return nil, err
	}
	var err error
	if db.generations, err = openGenerations(dir); err != nil {
		return nil, err
	}
	if f, err := os.OpenFile(db.path, os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	} else if err := f.Close(); err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if db.writer, err = db.connect(); err != nil {
		return nil, err
	}
	db.writes = Batcher[*sqliteWrite]{MaxWaiting: maxWrites, MaxBatch: groupSize, Thread: true, Run: db.writer.commit}
	return db, nil
}

func (db *sqlite) Name() string                           { return "SQLite" }
func (db *sqlite) Batching() Batching                     { return Batching{Shards: 1, Thread: true} }
func (db *sqlite) Lower(expression string) string         { return "LOWER(" + expression + ")" }
func (db *sqlite) Generation(owner string) (uint64, bool) { return db.generations.of(owner), true }
func (db *sqlite) Invalidate(owner string)                { db.generations.invalidate(owner) }
func (db *sqlite) HasInstantInvalidation() bool           { return true }

func (db *sqlite) IndexedBy(index string) string { return " INDEXED BY " + index }

func (db *sqlite) JSONContains(json, text string) string {
	return `EXISTS (SELECT 1 FROM json_tree(` + json + `) AS part WHERE part.type IN ('text', 'integer', 'real') AND STRPOS(LOWER(CAST(part.atom AS TEXT)), ` + text + `) > 0)`
}

// Listed is a join in this order: with IN, SQLite would read the whole table in the order of the
// result.
func (db *sqlite) Listed(table, key, parameter string) string {
	return `(SELECT value FROM json_each(` + parameter + `)) AS part CROSS JOIN ` + table + ` WHERE ` + key + ` = part.value`
}

func (db *sqlite) JSONArrayHas(json string) string {
	return `json_type(` + json + `) = 'array' AND EXISTS (SELECT 1 FROM json_each(` + json + `) AS part WHERE part.value = ?)`
}

// Exchange does nothing: only one process serves from a data directory.
func (db *sqlite) Exchange(context.Context, <-chan struct{}, func() []string, func(string)) {}

// Dialect removes COLLATE BINARY, which is SQLite's default: spelled out, it makes
// comparisons slower.
func (db *sqlite) Dialect(sql string) string { return strings.ReplaceAll(sql, " COLLATE BINARY", "") }

func (db *sqlite) Close() error {
	db.stop.Lock()
	defer db.stop.Unlock()
	if db.ended {
		return nil
	}
	db.ended = true
	db.writes.Close()
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.reaper != nil {
		db.reaper.Stop()
	}
	errs := []error{db.writer.close()}
	for _, c := range db.idle {
		errs = append(errs, c.close())
	}
	db.idle = nil
	return errors.Join(errs...)
}

// sqliteConn is a connection and the statements prepared on it, by their text.
type sqliteConn struct {
	conn     *sqlite3.Conn // not embedded: it has many methods (see docs/decisions/binary-size.md)
	prepared map[string]*sqlite3.Stmt
	length   int                   // bytes of SQL in prepared
	inserts  map[insertRows]string // INSERT of one row → of several
	used     time.Time             // when a reader was last released
}

func (db *sqlite) connect() (*sqliteConn, error) {
	// modeof: the WAL gets the permissions of the database.
	path := uriPath(db.path)
	conn, err := sqlite3.OpenFlags("file:"+path+"?modeof="+path, sqlite3.OPEN_READWRITE|sqlite3.OPEN_URI)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	c := &sqliteConn{conn: conn, prepared: map[string]*sqlite3.Stmt{}, inserts: map[insertRows]string{}}
	// Without this, SQLite replans a statement whenever its LIMIT is bound.
	if _, err := conn.Config(sqlite3.DBCONFIG_ENABLE_QPSG, true); err != nil {
		c.close()
		return nil, fmt.Errorf("configure connection: %w", err)
	}
	// As in PostgreSQL. LIKE and INSTR take time proportional to the product of the lengths.
	if err := conn.CreateFunction("strpos", 2, sqlite3.DETERMINISTIC|sqlite3.INNOCUOUS, func(ctx sqlite3.Context, arg ...sqlite3.Value) {
		ctx.ResultInt64(int64(1 + bytes.Index(arg[0].RawText(), arg[1].RawText())))
	}); err != nil {
		c.close()
		return nil, fmt.Errorf("define strpos: %w", err)
	}
	// SQLite's own handles ASCII only.
	if err := conn.CreateFunction("lower", 1, sqlite3.DETERMINISTIC|sqlite3.INNOCUOUS, func(ctx sqlite3.Context, arg ...sqlite3.Value) {
		ctx.ResultText(strings.ToLower(arg[0].Text()))
	}); err != nil {
		c.close()
		return nil, fmt.Errorf("define lower: %w", err)
	}
	if err := conn.BusyTimeout(busyTimeout); err != nil {
		c.close()
		return nil, fmt.Errorf("configure connection: %w", err)
	}
	for _, pragma := range []string{
		"PRAGMA journal_mode = WAL",
		"PRAGMA synchronous = FULL",
		"PRAGMA secure_delete = ON", // overwrite deleted data
		"PRAGMA cache_size = -8000",
		"PRAGMA temp_store = MEMORY",
		"PRAGMA journal_size_limit = 67108864",
	} {
		if err := retryBusy(func() error { return conn.Exec(pragma) }); err != nil {
			c.close()
			return nil, fmt.Errorf("%s: %w", pragma, err)
		}
	}
	return c, nil
}

// retryBusy tries again while another process initializes the same new file. SQLite's
// own timeout does not cover that.
func retryBusy(try func() error) error {
	for deadline := time.Now().Add(busyTimeout); ; time.Sleep(5 * time.Millisecond) {
		err := try()
		if code, ok := errors.AsType[sqlite3.ExtendedErrorCode](err); !ok || code.Code() != sqlite3.BUSY || time.Now().After(deadline) {
			return err
		}
	}
}

// uriPath escapes the special characters of a SQLite URI.
func uriPath(path string) string {
	return strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(filepath.ToSlash(path))
}

func (c *sqliteConn) close() error {
	for _, s := range c.prepared {
		s.Close()
	}
	return c.conn.Close()
}

var parameter = regexp.MustCompile(`\$(\d+)`)

func (c *sqliteConn) prepare(sql string) (*sqlite3.Stmt, error) {
	if stmt, ok := c.prepared[sql]; ok {
		return stmt, nil
	}
	if c.length+len(sql) > maxPrepared {
		for other, stmt := range c.prepared {
			if !stmt.Busy() {
				delete(c.prepared, other)
				c.length -= len(other)
				stmt.Close()
			}
		}
	}
	// $1 is a name to SQLite, numbered by first appearance; ?1 is the number.
	stmt, tail, err := c.conn.PrepareFlags(parameter.ReplaceAllString(sql, "?$1"), sqlite3.PREPARE_PERSISTENT)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(tail) != "" {
		stmt.Close()
		return nil, fmt.Errorf("expected one statement: %s", sql)
	}
	c.prepared[sql] = stmt
	c.length += len(sql)
	return stmt, nil
}

func (c *sqliteConn) Exec(sql string, args ...any) (int64, error) {
	if err := c.Query(sql, func(Row) error { return nil }, args...); err != nil {
		return 0, err
	}
	return c.conn.Changes(), nil
}

func (c *sqliteConn) Query(sql string, scan func(Row) error, args ...any) error {
	stmt, err := c.prepare(sql)
	if err != nil {
		return sqliteError(fmt.Errorf("prepare statement: %w", err))
	}
	if stmt.Busy() {
		return fmt.Errorf("statement is already running: %s", sql)
	}
	for i, arg := range args {
		switch v := arg.(type) {
		case string:
			err = stmt.BindText(i+1, v)
		case *string:
			err = stmt.BindText(i+1, *v)
		case int64:
			err = stmt.BindInt64(i+1, v)
		case *int64:
			err = stmt.BindInt64(i+1, *v)
		case int:
			err = stmt.BindInt64(i+1, int64(v))
		case bool:
			err = stmt.BindBool(i+1, v)
		case nil:
			err = stmt.BindNull(i + 1)
		default:
			err = fmt.Errorf("cannot bind %T", arg)
		}
		if err != nil {
			return err
		}
	}
	// Also when scan panics: the statement stays prepared.
	defer stmt.Reset()
	r := (*sqliteRow)(stmt)
	for stmt.Step() {
		if err := scan(r); err != nil {
			if err == ErrStop {
				return nil
			}
			return err
		}
	}
	return sqliteError(stmt.Err())
}

// UpdateRow reads the row after the update, which costs SQLite less than RETURNING.
func (c *sqliteConn) UpdateRow(u Update, args []any, dest ...any) (int64, error) {
	n, err := c.Exec(u.Update, args...)
	if err != nil || n == 0 {
		return 0, err
	}
	return n, c.Query(u.Select, func(r Row) error { return r.Scan(dest...) }, args[:u.Keys]...)
}

type sqliteRow sqlite3.Stmt

// Scan asks a column for its value once, which is quicker than asking for its bytes and their length.
func (r *sqliteRow) Scan(dest ...any) error {
	stmt := (*sqlite3.Stmt)(r)
	for i, d := range dest {
		switch d := d.(type) {
		case *string:
			*d = string(stmt.ColumnValue(i).RawBlob())
		case *Text:
			d.set(stmt.ColumnValue(i).RawBlob())
		case *RawText:
			*d = stmt.ColumnValue(i).RawBlob()
		case *int64:
			*d = stmt.ColumnInt64(i)
		case *bool:
			*d = stmt.ColumnBool(i)
		case *any:
			switch {
			case stmt.ColumnType(i) == sqlite3.NULL:
				*d = nil
			case stmt.ColumnDeclType(i) == "BOOLEAN":
				*d = stmt.ColumnBool(i)
			case stmt.ColumnType(i) == sqlite3.INTEGER:
				*d = stmt.ColumnInt64(i)
			default:
				*d = stmt.ColumnText(i)
			}
		default:
			return fmt.Errorf("cannot scan into %T", d)
		}
	}
	return nil
}

func (r *sqliteRow) Columns() []string {
	stmt := (*sqlite3.Stmt)(r)
	names := make([]string, stmt.ColumnCount())
	for i := range names {
		names[i] = stmt.ColumnName(i)
	}
	return names
}

// sqliteError marks errors of a broken or full disk and of a locked database as
// unavailability. Other errors are mistakes in the statement.
func sqliteError(err error) error {
	if err == nil {
		return nil
	}
	code, ok := errors.AsType[sqlite3.ExtendedErrorCode](err)
	if !ok {
		return err
	}
	switch code {
	case sqlite3.CONSTRAINT_UNIQUE, sqlite3.CONSTRAINT_PRIMARYKEY:
		return fmt.Errorf("%w: %w", ErrUnique, err)
	}
	switch code.Code() {
	case sqlite3.BUSY, sqlite3.LOCKED, sqlite3.IOERR, sqlite3.FULL, sqlite3.CANTOPEN, sqlite3.READONLY, sqlite3.PROTOCOL:
		return fault.DatabaseUnavailable(err)
	}
	return err
}
