package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"formulary/internal/fault"
)

// postgres is a pool of connections; several nodes may share the database.
type postgres struct {
	config *pgxpool.Config
	hosts  pgHosts
	live   atomic.Pointer[pgPool]
	marks  pgMarks
	icu    func() bool // whether it knows every alphabet, whatever its locale
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

// knowsAlphabets asks whether the server has ICU.
func (db *postgres) knowsAlphabets() bool {
	ctx, cancel := context.WithTimeout(context.Background(), dialLimit)
	defer cancel()
	var n int64
	err := db.live.Load().QueryRow(ctx, `SELECT COUNT(*) FROM pg_collation WHERE collname = 'und-x-icu'`).Scan(&n)
	return err == nil && n > 0
}

func (db *postgres) Name() string { return "PostgreSQL" }
func (db *postgres) Lanes() int   { return 4 }

// Lower does not depend on the locale with which the database was made, where ICU
// is there.
func (db *postgres) Lower(expression string) string {
	if db.icu() {
		return "LOWER(" + expression + ` COLLATE "und-x-icu")`
	}
	return "LOWER(" + expression + ")"
}

func (db *postgres) Dialect(sql string) string {
	return strings.NewReplacer("COLLATE BINARY", `COLLATE "C"`, "WITHOUT ROWID", "").Replace(sql)
}

func (db *postgres) Query(ctx context.Context, sql string, scan func(row) error, args ...any) error {
	pool := db.live.Load()
	within, cancel := pool.within(ctx, statementLimit)
	defer cancel()
	return pool.judge(ctx, pgQuery(within, pool.Query, sql, scan, args))
}

func (db *postgres) Read(ctx context.Context, fn func(tx) error) error {
	return db.transact(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, fn)
}

// Ask sends a whole transaction before it waits for the first answer.
func (db *postgres) Ask(ctx context.Context, questions ...question) error {
	pool := db.live.Load()
	within, cancel := pool.within(ctx, statementLimit)
	defer cancel()
	return pool.judge(ctx, ask(within, pool, questions))
}

func ask(ctx context.Context, pool *pgPool, questions []question) error {
	var batch pgx.Batch
	batch.Queue("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
	for _, q := range questions {
		batch.Queue(q.sql, q.args...)
	}
	batch.Queue("COMMIT")
	// After an error the transaction is still open, and the pool drops the
	// connection.
	answers := pool.SendBatch(ctx, &batch)
	defer answers.Close()
	if _, err := answers.Exec(); err != nil {
		return pgError(err)
	}
	next := func(context.Context, string, ...any) (pgx.Rows, error) { return answers.Query() }
	for _, q := range questions {
		if err := pgQuery(ctx, next, q.sql, q.scan, q.args); err != nil {
			return err
		}
	}
	if _, err := answers.Exec(); err != nil {
		return pgError(err)
	}
	return pgError(answers.Close())
}

func (db *postgres) Write(ctx context.Context, fn func(tx) error) error {
	var err error
	for range retries {
		err = db.transact(ctx, pgx.TxOptions{}, fn)
		if pg, ok := errors.AsType[*pgconn.PgError](err); !ok || pg.Code != "40001" && pg.Code != "40P01" {
			return err
		}
	}
	return err
}

// migrateLock is the advisory lock that makes Exclusive exclusive.
const migrateLock = 0x666f726d // "form"

func (db *postgres) Exclusive(ctx context.Context, fn func(tx) error) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, migrateLimit)
		defer cancel()
	}
	return db.transact(ctx, pgx.TxOptions{}, func(t tx) error {
		if _, err := t.Exec("SELECT pg_advisory_xact_lock($1)", int64(migrateLock)); err != nil {
			return err
		}
		return fn(t)
	})
}

func (db *postgres) transact(ctx context.Context, options pgx.TxOptions, fn func(tx) error) error {
	pool := db.live.Load()
	limit := statementLimit
	if until, ok := ctx.Deadline(); ok {
		limit = time.Until(until)
	}
	within, cancel := pool.within(ctx, limit)
	defer cancel()
	return pool.judge(ctx, transact(within, pool, options, fn))
}

func transact(ctx context.Context, pool *pgPool, options pgx.TxOptions, fn func(tx) error) error {
	t, err := pool.BeginTx(ctx, options)
	if err != nil {
		return pgError(err)
	}
	// After a commit this does nothing. It has a deadline of its own: a database
	// that hangs must not keep the request.
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackLimit)
		defer cancel()
		t.Rollback(ctx)
	}()
	if err := fn(pgTx{ctx, t}); err != nil && err != errStop {
		return err
	}
	return pgError(t.Commit(ctx))
}

type pgTx struct {
	ctx context.Context
	tx  pgx.Tx
}

func (t pgTx) Exec(sql string, args ...any) (int64, error) {
	tag, err := t.tx.Exec(t.ctx, sql, args...)
	return tag.RowsAffected(), pgError(err)
}

// ExecEach sends all rows before it waits for the first answer.
func (t pgTx) ExecEach(sql string, rows [][]any) error {
	if len(rows) == 1 {
		_, err := t.Exec(sql, rows[0]...)
		return err
	}
	var batch pgx.Batch
	for _, args := range rows {
		batch.Queue(sql, args...)
	}
	return pgError(t.tx.SendBatch(t.ctx, &batch).Close())
}

func (t pgTx) Query(sql string, scan func(row) error, args ...any) error {
	return pgQuery(t.ctx, t.tx.Query, sql, scan, args)
}

type pgQueryFunc func(ctx context.Context, sql string, args ...any) (pgx.Rows, error)

func pgQuery(ctx context.Context, query pgQueryFunc, sql string, scan func(row) error, args []any) error {
	rows, err := query(ctx, sql, args...)
	if err != nil {
		return pgError(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(pgRow{rows}); err != nil {
			if err == errStop {
				return nil
			}
			return err
		}
	}
	return pgError(rows.Err())
}

type pgRow struct{ pgx.Rows }

// Scan reads JSON into *any as the text that it is, as SQLite does.
func (r pgRow) Scan(dest ...any) error {
	var texts map[int]*string
	for i, d := range dest {
		if _, ok := d.(*any); ok && r.FieldDescriptions()[i].DataTypeOID == pgtype.JSONBOID {
			if texts == nil {
				texts = map[int]*string{}
			}
			texts[i] = new(string)
		}
	}
	if texts == nil {
		return r.Rows.Scan(dest...)
	}
	into := slices.Clone(dest)
	for i, text := range texts {
		into[i] = text
	}
	if err := r.Rows.Scan(into...); err != nil {
		return err
	}
	for i, text := range texts {
		*dest[i].(*any) = *text
	}
	return nil
}

func (r pgRow) Columns() []string {
	fields := r.FieldDescriptions()
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
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
		if errors.Is(err, pgx.ErrNoRows) || errors.Is(err, pgx.ErrTxClosed) {
			return err
		}
		return fault.Unreachable(err)
	case pg.Code == "23505":
		return fmt.Errorf("%w: %w", errUnique, err)
	case strings.HasPrefix(pg.Code, "08"), strings.HasPrefix(pg.Code, "53"), strings.HasPrefix(pg.Code, "57P"), strings.HasPrefix(pg.Code, "28"), pg.Code == "25006":
		return fault.Unreachable(err)
	}
	return err
}
