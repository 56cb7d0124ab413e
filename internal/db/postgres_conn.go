package db

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// pgConn is a connection and the statements prepared on it, by their text. Values are
// strings, integers and booleans, which it sends in PostgreSQL's text format, so it needs
// pgx's connection and none of its layers above.
type pgConn struct {
	*pgconn.PgConn
	prepared map[string]*pgconn.StatementDescription
	length   int  // bytes of SQL in prepared
	names    int  // number of statement names used
	wrote    bool // the last send changed rows
	scanned  bool // a row was returned since the connection left the pool
	row      pgRow
	opened   time.Time
	released time.Time // when it was last given back to the pool
}

func (c *pgConn) prepare(ctx context.Context, sql string) (*pgconn.StatementDescription, error) {
	if known, ok := c.prepared[sql]; ok {
		return known, nil
	}
	c.names++ // also after an error: the server may have the name
	description, err := c.Prepare(ctx, "s"+strconv.Itoa(c.names), sql, nil)
	if err != nil {
		return nil, pgError(fmt.Errorf("prepare statement: %w", err))
	}
	c.prepared[sql] = description
	c.length += len(sql)
	return description, nil
}

// send runs statements in one round trip and returns how many rows the last one changed.
// Rows of a statement without Scan are discarded.
func (c *pgConn) send(ctx context.Context, statements ...Statement) (changed int64, err error) {
	var batch pgconn.Batch
	for _, q := range statements {
		statement, err := c.prepare(ctx, q.SQL)
		if err != nil {
			return 0, err
		}
		values, err := pgBind(q.Args)
		if err != nil {
			return 0, err
		}
		batch.ExecStatement(statement, values, nil, nil)
	}
	results := c.ExecBatch(ctx, &batch)
	c.wrote = false
	for _, q := range statements {
		if !results.NextResult() {
			break // Close returns why
		}
		rows := results.ResultReader()
		for q.Scan != nil && rows.NextRow() {
			c.row = pgRow{rows.FieldDescriptions(), rows.Values()}
			c.scanned = true
			if err = q.Scan(&c.row); err != nil {
				break
			}
		}
		tag, _ := rows.Close() // results.Close returns the error
		changed = tag.RowsAffected()
		c.wrote = c.wrote || changed > 0 && !tag.Select()
		if err != nil && err != ErrStop {
			results.Close()
			return 0, err
		}
	}
	return changed, pgError(results.Close())
}

// warningKey is where a connection keeps the last warning of the server.
const warningKey = "warning"

// noteWarning remembers warnings. The one that matters follows a COMMIT whose wait for
// a synchronous standby was cancelled: the server reports success all the same.
func noteWarning(conn *pgconn.PgConn, notice *pgconn.Notice) {
	if notice.SeverityUnlocalized == "WARNING" {
		conn.CustomData()[warningKey] = notice.Message
	}
}

func (c *pgConn) forgetWarning() { delete(c.CustomData(), warningKey) }

func (c *pgConn) warning() string {
	text, _ := c.CustomData()[warningKey].(string)
	return text
}

// pgBind encodes arguments in PostgreSQL's text format.
func pgBind(args []any) ([][]byte, error) {
	values := make([][]byte, len(args))
	for i, arg := range args {
		switch v := arg.(type) {
		case string:
			values[i] = []byte(v)
		case *string:
			values[i] = []byte(*v)
		case int64:
			values[i] = strconv.AppendInt(nil, v, 10)
		case *int64:
			values[i] = strconv.AppendInt(nil, *v, 10)
		case int:
			values[i] = strconv.AppendInt(nil, int64(v), 10)
		case bool:
			values[i] = strconv.AppendBool(nil, v)
		case nil:
		default:
			return nil, fmt.Errorf("cannot bind %T", arg)
		}
	}
	return values, nil
}

// pgRow is a result row. It is valid until the next one is read.
type pgRow struct {
	fields []pgconn.FieldDescription
	values [][]byte
}

// OIDs of column types.
const (
	pgBool = 16
	pgInt8 = 20
	pgInt2 = 21
	pgInt4 = 23
)

func (r *pgRow) Scan(dest ...any) error {
	if len(dest) != len(r.values) {
		return fmt.Errorf("expected %d columns, got %d", len(dest), len(r.values))
	}
	for i, d := range dest {
		value := r.values[i]
		var err error
		switch d := d.(type) {
		case *any:
			*d, err = r.any(i)
		case *string:
			*d = string(value)
		case *Text:
			d.set(value)
		case *RawText:
			*d = value
		case *int64:
			*d, err = strconv.ParseInt(string(value), 10, 64)
		case *bool:
			*d, err = strconv.ParseBool(string(value))
		default:
			err = fmt.Errorf("cannot scan into %T", d)
		}
		if _, ok := d.(*any); value == nil && !ok {
			err = errors.New("unexpected NULL")
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", r.fields[i].Name, err)
		}
	}
	return nil
}

// any returns a value with the type that SQLite would return; JSON is text.
func (r *pgRow) any(i int) (any, error) {
	text := string(r.values[i])
	switch {
	case r.values[i] == nil:
		return nil, nil
	case r.fields[i].DataTypeOID == pgBool:
		return strconv.ParseBool(text)
	case r.fields[i].DataTypeOID == pgInt8, r.fields[i].DataTypeOID == pgInt4, r.fields[i].DataTypeOID == pgInt2:
		return strconv.ParseInt(text, 10, 64)
	}
	return text, nil
}

func (r *pgRow) Columns() []string {
	names := make([]string, len(r.fields))
	for i, f := range r.fields {
		names[i] = f.Name
	}
	return names
}
