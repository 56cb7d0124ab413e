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

// postgres is a pool of connections to a database that several nodes may share.
type postgres struct {
	config      *pgconn.Config
	size        int // of the pool
	hosts       pgHosts
	live        atomic.Pointer[pgPool]
	generations pgGenerations
	icu         atomic.Int32 // icuUnknown, icuMissing or icuPresent
}

const (
	// statementLimit bounds how long a request waits for a database that hangs.
	statementLimit = 5 * time.Second
	dialLimit      = 2 * time.Second // for one server
	rollbackLimit  = time.Second
	migrateLimit   = 5 * time.Minute
	retries        = 5
	// defaultPool is the size of the pool unless the URL sets pool_max_conns: large
	// enough that requests wait for the database and not for each other.
	defaultPool = 16
)

// Whether the server has ICU collations, which know every alphabet in any locale.
const (
	icuUnknown = iota
	icuMissing
	icuPresent
)

// detectCollation asks the server for ICU collations unless that is known. After an error
// the next connection asks again.
func (db *postgres) detectCollation(ctx context.Context, conn *pgconn.PgConn) {
	if db.icu.Load() != icuUnknown {
		return
	}
	results, err := conn.Exec(ctx, `SELECT 1 FROM pg_collation WHERE collname = 'und-x-icu'`).ReadAll()
	switch {
	case err != nil || len(results) != 1:
	case len(results[0].Rows) > 0:
		db.icu.Store(icuPresent)
	default:
		db.icu.Store(icuMissing)
	}
}

func (db *postgres) Name() string { return "PostgreSQL" }

// Batching has many shards, because transactions mostly wait for the server's disk.
func (db *postgres) Batching() Batching { return Batching{Shards: 256, YieldFirst: true} }

// Lower uses ICU if the server has it, because LOWER alone depends on the locale of the
// database.
func (db *postgres) Lower(expression string) string {
	if db.icu.Load() == icuPresent {
		return "LOWER(" + expression + ` COLLATE "und-x-icu")`
	}
	return "LOWER(" + expression + ")"
}

// IndexedBy is empty: PostgreSQL decides itself.
func (db *postgres) IndexedBy(string) string { return "" }

// Listed has no join: without statistics, PostgreSQL might compare every row with every key.
func (db *postgres) Listed(table, key, parameter string) string {
	return table + ` WHERE ` + key + ` = ANY (ARRAY(SELECT jsonb_array_elements_text(CAST(` + parameter + ` AS JSONB))))`
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

// Scrub does nothing: PostgreSQL removes deleted rows from its files when it vacuums.
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

// QueryBatch sends a whole transaction before it waits for the first result.
func (db *postgres) QueryBatch(ctx context.Context, statements ...Statement) error {
	return db.use(ctx, statementLimit, true, func(ctx context.Context, c *pgConn) error {
		all := make([]Statement, 0, len(statements)+2)
		all = append(all, Statement{SQL: beginSnapshot})
		all = append(all, statements...)
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

// use runs fn with a connection for at most limit. If retry is set and a connection that
// was idle in the pool breaks before it returned a row, fn runs once more: after a
// failover, all idle connections are broken.
func (db *postgres) use(ctx context.Context, limit time.Duration, retry bool, fn func(context.Context, *pgConn) error) error {
	stale, err := db.useOnce(ctx, limit, fn)
	if stale && retry && ctx.Err() == nil {
		_, err = db.useOnce(ctx, limit, fn)
	}
	return err
}

// useOnce is use without a second try. stale says that a connection that was idle in the
// pool broke before it returned a row.
func (db *postgres) useOnce(ctx context.Context, limit time.Duration, fn func(context.Context, *pgConn) error) (stale bool, err error) {
	pool := db.live.Load()
	within, cancel := pool.within(ctx, limit)
	defer cancel()
	if err := pool.shares.enter(within); err != nil {
		if within.Err() == nil {
			return false, err // the share has too many requests
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
		// Connections that were idle for longer are broken too.
		pool.dropIdle()
		stale = !c.released.IsZero() && !c.scanned
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

// pgTx is a transaction. BEGIN is sent together with the first statement.
type pgTx struct {
	ctx   context.Context
	conn  *pgConn
	begin string
	begun bool  // BEGIN was sent
	wrote bool  // a statement changed rows
	err   error // of the first statement that failed
}

func (t *pgTx) send(statements ...Statement) (int64, error) {
	if !t.begun {
		t.begun = true
		statements = append([]Statement{{SQL: t.begin}}, statements...)
	}
	n, err := t.conn.send(t.ctx, statements...)
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
	statements := make([]Statement, len(rows))
	for i, row := range rows {
		statements[i] = Statement{SQL: sql, Args: slices.Concat(same, row)}
	}
	_, err := t.send(statements...)
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
		return fmt.Errorf("commit: %w", err)
	}
	if warning := t.conn.warning(); warning != "" {
		return fault.DatabaseUnavailable(fmt.Errorf("commit is not known to be durable: %s", warning))
	}
	return nil
}

// end rolls back what was not committed. It has a deadline of its own, so that a database
// that hangs does not keep the request.
func (t *pgTx) end() {
	if t.conn.isIdle() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), rollbackLimit)
	defer cancel()
	t.conn.Exec(ctx, "ROLLBACK").Close() // after an error the pool drops the connection
}

// pgError marks errors of a database that cannot be reached, shuts down or refuses
// connections as unavailability. Other errors are mistakes in the statement.
func pgError(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case !ok:
		// Not from the server: the network, a timeout, a closed pool.
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
