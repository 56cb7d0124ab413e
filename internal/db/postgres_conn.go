package db

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// pgConn is a connection and the statements prepared on it, by their text. It
// speaks to PostgreSQL in texts, as all that is stored here are texts, whole
// numbers and yes or no; so it needs pgx's connection and nothing above it.
type pgConn struct {
	*pgconn.PgConn
	prepared map[string]*pgconn.StatementDescription
	length   int  // of the texts
	names    int  // of statements that were given
	wrote    bool // the last send changed rows
	scanned  bool // a row was returned since the connection was taken from the pool
	row      pgRow
	made     time.Time
	left     time.Time // when it was last given back to the pool
}

func (c *pgConn) prepare(ctx context.Context, sql string) (*pgconn.StatementDescription, error) {
	if known, ok := c.prepared[sql]; ok {
		return known, nil
	}
	c.names++ // also of one that fails: the server may have it
	made, err := c.Prepare(ctx, "s"+strconv.Itoa(c.names), sql, nil)
	if err != nil {
		return nil, pgError(err)
	}
	c.prepared[sql] = made
	c.length += len(sql)
	return made, nil
}

// send runs statements, all of them on their way before the first is answered, and
// returns how many rows the last one changed. What has no scan has no rows that
// matter.
func (c *pgConn) send(ctx context.Context, questions ...Statement) (changed int64, err error) {
	var batch pgconn.Batch
	for _, q := range questions {
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
	answers := c.ExecBatch(ctx, &batch)
	c.wrote = false
	for _, q := range questions {
		if !answers.NextResult() {
			break // Close says why
		}
		rows := answers.ResultReader()
		for q.Scan != nil && rows.NextRow() {
			c.row = pgRow{rows.FieldDescriptions(), rows.Values()}
			c.scanned = true
			if err = q.Scan(&c.row); err != nil {
				break
			}
		}
		tag, _ := rows.Close() // Close of all says what went wrong
		changed = tag.RowsAffected()
		c.wrote = c.wrote || changed > 0 && !tag.Select()
		if err != nil && err != ErrStop {
			answers.Close()
			return 0, err
		}
	}
	return changed, pgError(answers.Close())
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

// pgBind writes arguments as PostgreSQL reads them.
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

// pgRow is a row of an answer, until the next one is read.
type pgRow struct {
	fields []pgconn.FieldDescription
	values [][]byte
}

// Types of columns, as PostgreSQL numbers them.
const (
	pgBool = 16
	pgInt8 = 20
	pgInt2 = 21
	pgInt4 = 23
)

func (r *pgRow) Scan(dest ...any) error {
	if len(dest) != len(r.values) {
		return fmt.Errorf("%d columns for %d places", len(r.values), len(dest))
	}
	for i, d := range dest {
		value := r.values[i]
		var err error
		switch d := d.(type) {
		case *any:
			*d, err = r.any(i)
		case *string:
			*d = string(value)
		case *int64:
			*d, err = strconv.ParseInt(string(value), 10, 64)
		case *bool:
			*d, err = strconv.ParseBool(string(value))
		default:
			err = fmt.Errorf("cannot scan into %T", d)
		}
		if _, ok := d.(*any); value == nil && !ok {
			err = errors.New("there is no value")
		}
		if err != nil {
			return fmt.Errorf("column %s: %w", r.fields[i].Name, err)
		}
	}
	return nil
}

// any is a value as SQLite would have it; JSON is the text that it is.
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
