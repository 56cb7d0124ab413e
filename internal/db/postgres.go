package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"formulary/internal/fault"
)

// postgres is a pool of connections; several nodes may share the database.
type postgres struct {
	config      *pgconn.Config
	size        int // of the pool
	hosts       pgHosts
	live        atomic.Pointer[pgPool]
	generations pgGenerations
	icu         atomic.Int32 // whether it knows every alphabet, whatever its locale
}

const (
	// statementLimit bounds how long a request can hang on a database that
	// has stopped answering.
	statementLimit = 5 * time.Second
	dialLimit      = 2 * time.Second // of one server
	rollbackLimit  = time.Second
	migrateLimit   = 5 * time.Minute
	retries        = 5
	// defaultPool is how many connections a node takes when the URL does not
	// say: enough that requests wait for the database, not for each other.
	defaultPool = 16
)

// What is known of the server's alphabets.
const (
	icuUnknown = iota
	icuMissing
	icuThere
)

// detectCollation finds out whether the server has ICU, if that is not known. What
// the server did not say is not remembered.
func (db *postgres) detectCollation(ctx context.Context, conn *pgconn.PgConn) {
	if db.icu.Load() != icuUnknown {
		return
	}
	said, err := conn.Exec(ctx, `SELECT 1 FROM pg_collation WHERE collname = 'und-x-icu'`).ReadAll()
	switch {
	case err != nil || len(said) != 1:
	case len(said[0].Rows) > 0:
		db.icu.Store(icuThere)
	default:
		db.icu.Store(icuMissing)
	}
}

func (db *postgres) Name() string { return "PostgreSQL" }

// Batching has many shards, because transactions mostly wait for the server's disk.
func (db *postgres) Batching() Batching { return Batching{Shards: 256, YieldFirst: true} }

// Lower does not depend on the locale with which the database was made, where ICU
// is there.
func (db *postgres) Lower(expression string) string {
	if db.icu.Load() == icuThere {
		return "LOWER(" + expression + ` COLLATE "und-x-icu")`
	}
	return "LOWER(" + expression + ")"
}

func (db *postgres) JSONContains(json, text string) string {
	return `EXISTS (SELECT 1 FROM jsonb_path_query(` + json + `, 'strict $.**') AS part WHERE jsonb_typeof(part) IN ('string', 'number') AND STRPOS(` + db.Lower(`(part #>> '{}')`) + `, ` + text + `) > 0)`
}

func (db *postgres) JSONArrayHas(json string) string {
	return `jsonb_typeof(` + json + `) = 'array' AND jsonb_exists(` + json + `, ?)`
}

func (db *postgres) Dialect(sql string) string {
	return strings.NewReplacer("COLLATE BINARY", `COLLATE "C"`, "WITHOUT ROWID", "").Replace(sql)
}

// Scrub leaves it to PostgreSQL, which removes deleted rows from its files when it vacuums.
func (db *postgres) Scrub(context.Context) error { return nil }

func (db *postgres) Query(ctx context.Context, sql string, scan func(Row) error, args ...any) error {
	return db.use(ctx, statementLimit, true, func(ctx context.Context, c *pgConn) error {
		_, err := c.send(ctx, Statement{SQL: sql, Args: args, Scan: scan})
		return err
	})
}

const (
	begin         = "BEGIN"
	beginSnapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
	commit        = "COMMIT"

	// durableMark gives a transaction that changed no row something to write to the
	// WAL. PostgreSQL waits for the disk and for synchronous standbys only at the
	// commit of a transaction that wrote.
	durableMark = `SELECT pg_logical_emit_message(true, 'formulary', '')`
)

func (db *postgres) Read(ctx context.Context, fn func(Tx) error) error {
	return db.transact(ctx, beginSnapshot, fn)
}

// QueryBatch sends a whole transaction before it waits for the first answer.
func (db *postgres) QueryBatch(ctx context.Context, questions ...Statement) error {
	return db.use(ctx, statementLimit, true, func(ctx context.Context, c *pgConn) error {
		all := make([]Statement, 0, len(questions)+2)
		all = append(all, Statement{SQL: beginSnapshot})
		all = append(all, questions...)
		// After an error the transaction is still open, and the pool drops the
		// connection.
		_, err := c.send(ctx, append(all, Statement{SQL: commit})...)
		return err
	})
}

// Write waits for a durable commit even if fn changed nothing: what fn read may come
// from a commit that was cut off while it waited for a standby, and the caller is
// about to report it as stored.
func (db *postgres) Write(ctx context.Context, fn func(Tx) error) error {
	var err error
	for range retries {
		err = db.transact(ctx, begin, fn)
		if pg, ok := errors.AsType[*pgconn.PgError](err); !ok || pg.Code != "40001" && pg.Code != "40P01" {
			return err
		}
	}
	return err
}

// migrateLock is the advisory lock that makes Exclusive exclusive.
const migrateLock = 0x666f726d // "form"

func (db *postgres) Exclusive(ctx context.Context, fn func(Tx) error) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, migrateLimit)
		defer cancel()
	}
	return db.transact(ctx, begin, func(t Tx) error {
		if _, err := t.Exec("SELECT pg_advisory_xact_lock($1)", int64(migrateLock)); err != nil {
			return err
		}
		return fn(t)
	})
}

// use lends a connection to fn, for so long at most. If a connection breaks that waited in
// the pool, before it returned any row, a read is tried once more: after a failover, all
// idle connections are broken.
func (db *postgres) use(ctx context.Context, limit time.Duration, again bool, fn func(context.Context, *pgConn) error) error {
	stale, err := db.useOnce(ctx, limit, fn)
	if stale && again && ctx.Err() == nil {
		_, err = db.useOnce(ctx, limit, fn)
	}
	return err
}

// useOnce says whether it failed for a connection from the pool that was broken and had
// returned no row.
func (db *postgres) useOnce(ctx context.Context, limit time.Duration, fn func(context.Context, *pgConn) error) (stale bool, err error) {
	pool := db.live.Load()
	within, cancel := pool.within(ctx, limit)
	defer cancel()
	if err := pool.shares.enter(within); err != nil {
		if within.Err() == nil {
			return false, err // too many are waiting
		}
		return false, pool.classifyError(ctx, pgError(err))
	}
	defer pool.shares.leave(within)
	c, err := pool.take(within)
	if err != nil {
		return false, pool.classifyError(ctx, pgError(err))
	}
	defer pool.give(c)
	c.scanned = false
	err = fn(within, c)
	if err != nil && c.IsClosed() && within.Err() == nil {
		// The others are no better.
		pool.dropIdle()
		stale = !c.left.IsZero() && !c.scanned
	}
	return stale, pool.classifyError(ctx, err)
}

func (db *postgres) transact(ctx context.Context, begin string, fn func(Tx) error) error {
	limit := statementLimit
	if until, ok := ctx.Deadline(); ok {
		limit = time.Until(until)
	}
	return db.use(ctx, limit, begin == beginSnapshot, func(ctx context.Context, c *pgConn) error {
		t := &pgTx{ctx: ctx, conn: c, begin: begin}
		defer t.end()
		if err := fn(t); err != nil && err != ErrStop {
			return err
		}
		return t.commit()
	})
}

// pgTx is a transaction. It begins on the way with its first statement.
type pgTx struct {
	ctx   context.Context
	conn  *pgConn
	begin string
	begun bool
	wrote bool  // a statement changed rows
	err   error // of the first statement that failed
}

func (t *pgTx) send(questions ...Statement) (int64, error) {
	if !t.begun {
		t.begun = true
		questions = append([]Statement{{SQL: t.begin}}, questions...)
	}
	n, err := t.conn.send(t.ctx, questions...)
	t.wrote = t.wrote || t.conn.wrote
	if t.err == nil {
		t.err = err
	}
	return n, err
}

func (t *pgTx) Exec(sql string, args ...any) (int64, error) {
	return t.send(Statement{SQL: sql, Args: args})
}

func (t *pgTx) ExecEach(sql string, same []any, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	questions := make([]Statement, len(rows))
	for i, row := range rows {
		questions[i] = Statement{SQL: sql, Args: slices.Concat(same, row)}
	}
	_, err := t.send(questions...)
	return err
}

func (t *pgTx) UpdateRow(u Update, args []any, dest ...any) (int64, error) {
	return t.send(Statement{SQL: u.Returning, Args: args, Scan: func(r Row) error { return r.Scan(dest...) }})
}

func (t *pgTx) Query(sql string, scan func(Row) error, args ...any) error {
	_, err := t.send(Statement{SQL: sql, Args: args, Scan: scan})
	return err
}

// commit ends a transaction in which no statement failed: PostgreSQL accepts COMMIT
// after an error, rolls back and reports success.
func (t *pgTx) commit() error {
	if t.err != nil {
		return fmt.Errorf("commit after a failed statement: %w", t.err)
	}
	if t.begin == beginSnapshot {
		if t.begun {
			_, err := t.conn.send(t.ctx, Statement{SQL: commit})
			return err
		}
		return nil
	}
	var last []Statement
	if !t.begun {
		last = append(last, Statement{SQL: t.begin})
	}
	if !t.wrote {
		last = append(last, Statement{SQL: durableMark})
	}
	t.conn.forgetWarning()
	if _, err := t.conn.send(t.ctx, append(last, Statement{SQL: commit})...); err != nil {
		return err
	}
	if warning := t.conn.warning(); warning != "" {
		return fault.DatabaseUnavailable(fmt.Errorf("commit is not known to be durable: %s", warning))
	}
	return nil
}

// end takes back what was not committed. It has a deadline of its own: a database
// that hangs must not keep the request.
func (t *pgTx) end() {
	if t.conn.isIdle() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), rollbackLimit)
	defer cancel()
	t.conn.Exec(ctx, "ROLLBACK").Close() // else the pool drops the connection
}

// pgError tells a database that is away, or going away, apart from our own
// mistakes.
func pgError(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case !ok:
		// Not an answer of the server: the network, a timeout, a closed pool.
		return fault.DatabaseUnavailable(err)
	case pg.Code == "23505":
		return fmt.Errorf("%w: %w", ErrUnique, err)
	case pg.Code == "XX000" && strings.Contains(pg.Message, "postmaster"):
		// "postmaster was shut down": Citus reports a worker that stops like this.
		return fault.DatabaseUnavailable(err)
	case strings.HasPrefix(pg.Code, "08"), strings.HasPrefix(pg.Code, "53"), strings.HasPrefix(pg.Code, "57P"), strings.HasPrefix(pg.Code, "28"), pg.Code == "25006":
		return fault.DatabaseUnavailable(err)
	}
	return err
}
