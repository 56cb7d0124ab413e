package store

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"formulary/internal/db"
	"formulary/internal/fault"
)

// movedTable is a table with rows of a form.
type movedTable struct {
	name string
	keys string // the rest of the primary key, after account_id and form_id
	of   string // condition on the form, which is $2; empty: form_id = $2

	// copied: many forms have many rows, which are copied while the form is in use. Nothing but
	// requests for the form may read or change the rows, and every change locks the form's row.
	copied bool
	fixed  string // columns of copied rows that never change, separated by spaces
}

// movedTables are all tables with rows of a form except form itself. Mails are last: until the
// form is in its new space, they are not sent.
var movedTables = []movedTable{
	{name: "form_draft", keys: "form_id"},
	{name: "form_version", keys: "version"},
	{name: "response", keys: "id", copied: true, fixed: "serial version submitted_at"},
	{name: "trash", keys: "id"},
	{name: "file", keys: "id"},
	{name: "idempotency", keys: "app_id, key", of: "STRPOS(app_id, '/' || $2) > 0", copied: true}, // see respond.Key
	{name: "form_summary", keys: "form_id"},
	{name: "option_count", keys: "field_id, value"},
	{name: "list_block", keys: "level, block", of: "list = $2"},
	{name: "form_event", keys: "position"},
	{name: "webhook", keys: "id"},
	{name: "delivery", keys: "webhook_id, position"},
	{name: "form_mail", keys: "form_id"},
	{name: "form_recipient", keys: "email_key"},
	{name: "response_tag", keys: "tag_key, response_id", copied: true},
	{name: "response_note", keys: "response_id, id"},
	{name: "form_mark", keys: "kind, mark"},
	{name: "form_retention", keys: "form_id"},
	{name: "response_view", keys: "id"},
	{name: "response_layout", keys: "user_id"},
	{name: "form_visit", keys: "day, version, kind, part"},
	{name: "mail", keys: "id"},
}

// where is the condition on the account and the form.
func (m movedTable) where() string {
	if m.of != "" {
		return " WHERE account_id = $1 AND " + m.of
	}
	return " WHERE account_id = $1 AND form_id = $2"
}

// nthKeySQL reads the key of row $3, counted from 0 in the order of the keys.
func (m movedTable) nthKeySQL() string {
	return "SELECT " + m.keys + " FROM " + m.name + m.where() + " ORDER BY " + m.keys + " LIMIT 1 OFFSET $3"
}

// deleteSQL deletes all rows, deleteUntilSQL those up to a key. A range of keys is found in the
// index, whatever PostgreSQL knows about the sizes of tables.
func (m movedTable) deleteSQL() string { return "DELETE FROM " + m.name + m.where() }

func (m movedTable) deleteUntilSQL() string {
	return m.deleteSQL() + " AND (" + m.keys + ") <= (" + places(3, m.keyCount()) + ")"
}

// keyCount is how many columns identify a row of a form.
func (m movedTable) keyCount() int { return strings.Count(m.keys, ",") + 1 }

// rowKey is the key of a row in copied tables, which have one or two columns of text.
type rowKey [2]string

// args appends the parts of a key of the table to arguments.
func (m movedTable) args(key rowKey, args ...any) []any {
	for _, part := range key[:m.keyCount()] {
		args = append(args, part)
	}
	return args
}

// places are n parameters.
func places(first, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("$%d", first+i)
	}
	return strings.Join(list, ", ")
}

// deleteSome returns a statement that deletes at most n rows of a form. There may be more rows if
// more is true.
func (m movedTable) deleteSome(t db.Tx, owner, formID string, n int64) (sql string, args []any, more bool, err error) {
	key, dest := make([]any, m.keyCount()), make([]any, m.keyCount())
	for i := range key {
		dest[i] = &key[i]
	}
	args = []any{owner, formID}
	err = queryOne(t.Query, m.nthKeySQL(), []any{owner, formID, n - 1}, dest...)
	if isMissing(err) {
		return m.deleteSQL(), args, false, nil
	}
	return m.deleteUntilSQL(), append(args, key...), true, err
}

// Rows are moved in transactions of about this size and time, so that no other writer waits long.
const (
	minMoveBatch  = 50
	maxMoveBatch  = 2_000
	moveBatchSize = 512 << 10 // bytes
	moveBatchTime = 50 * time.Millisecond
)

// moveBatch adapts the number of rows to their size and to the speed of the database.
type moveBatch struct {
	limit int64
	size  int           // bytes of the last batch
	took  time.Duration // inside of its transaction
	stage moveStage     // of the last batch
}

func (b *moveBatch) adapt() {
	switch {
	case b.size > moveBatchSize || b.took > moveBatchTime:
		b.limit = max(b.limit/2, minMoveBatch)
	case b.size < moveBatchSize/2 && b.took < moveBatchTime/2:
		b.limit = min(b.limit*2, maxMoveBatch)
	}
}

// pause leaves time to other writers, unless respondents wait for the move.
func (b *moveBatch) pause(ctx context.Context) error {
	if b.stage == stageMove {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(min(b.took, moveBatchTime)):
		return nil
	}
}

// tableRows are rows of a table without their accounts.
type tableRows struct {
	columns []string
	account int   // index of account_id in a row that was read
	key     []int // indexes of the key in rows
	rows    [][]any
	bytes   int
}

// describe notes the columns of a table.
func (l *tableRows) describe(table movedTable, columns []string) {
	l.account = slices.Index(columns, "account_id")
	l.columns = slices.Delete(slices.Clone(columns), l.account, l.account+1)
	for _, name := range strings.Split(table.keys, ", ") {
		l.key = append(l.key, slices.Index(l.columns, name))
	}
}

// read adds a row.
func (l *tableRows) read(table movedTable, r db.Row) error {
	if l.columns == nil {
		l.describe(table, r.Columns())
	}
	n := len(l.columns) + 1
	cells := make([]any, 2*n)
	row, dest := cells[:n:n], cells[n:]
	for i := range row {
		dest[i] = &row[i]
	}
	if err := r.Scan(dest...); err != nil {
		return err
	}
	for _, value := range row {
		if text, ok := value.(string); ok {
			l.bytes += len(text)
		}
	}
	copy(row[l.account:], row[l.account+1:])
	l.rows = append(l.rows, row[:n-1])
	return nil
}

// lastKey returns the key of the last row. All parts must be texts.
func (l *tableRows) lastKey() rowKey {
	var key rowKey
	for i, column := range l.key {
		key[i], _ = l.rows[len(l.rows)-1][column].(string)
	}
	return key
}

// insert inserts the rows into an account.
func (l *tableRows) insert(t db.Tx, table, owner string) error {
	if len(l.rows) == 0 {
		return nil
	}
	return t.ExecEach(insertRow(table, append([]string{"account_id"}, l.columns...)), []any{owner}, l.rows)
}

// moveRows moves rows of a form from one table of an account to that of another, and reports
// whether there may be more.
func moveRows(t db.Tx, table movedTable, m Move, pictures map[string]string, batch *moveBatch) (n int, more bool, err error) {
	sql, args, more, err := table.deleteSome(t, m.From, m.FormID, batch.limit)
	if err != nil {
		return 0, false, err
	}
	var list tableRows
	if err := t.Query(sql+" RETURNING *", func(r db.Row) error { return list.read(table, r) }, args...); err != nil {
		return 0, false, err
	}
	batch.size += list.bytes
	for i, name := range list.columns {
		if name != "definition" && name != "design" {
			continue
		}
		for _, row := range list.rows {
			if text, ok := row[i].(string); ok {
				row[i] = replacePictures(text, pictures)
			}
		}
	}
	return len(list.rows), more, list.insert(t, table.name, m.To)
}

func insertRow(table string, columns []string) string {
	return "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES (" + places(1, len(columns)) + ")"
}

var pictureInJSON = regexp.MustCompile(`"fil_[0-9a-z]{26}"`)

// replacePictures replaces the IDs of pictures in a definition or a design.
func replacePictures(text string, pictures map[string]string) string {
	if len(pictures) == 0 {
		return text
	}
	return pictureInJSON.ReplaceAllStringFunc(text, func(quoted string) string {
		if id, ok := pictures[strings.Trim(quoted, `"`)]; ok {
			return `"` + id + `"`
		}
		return quoted
	})
}

// stepMove does a part of a move: a batch of rows, the pictures, or the change from one stage to
// the next. done says that the move is complete. fault.NotFound: there is no such move any more.
func (s *Store) stepMove(ctx context.Context, owner, formID string, batch *moveBatch, now time.Time) (done bool, err error) {
	m, state, err := readMove(s.query(ctx), moveSQL, owner, formID)
	if err != nil {
		return false, err
	}
	batch.stage, batch.size, batch.took = state.Stage, 0, 0
	defer batch.adapt()
	switch {
	case state.Stage == stageCopy && state.Step < len(copiedTables()):
		return false, s.copyRows(ctx, m, state, batch)
	case state.Stage == stageCopy:
		return false, s.leaveAccount(ctx, m)
	case state.Stage == stageClean:
		return s.deleteCopied(ctx, m, m.From, batch)
	case state.Stage == stageCancel:
		return s.deleteCopied(ctx, m, m.To, batch)
	case state.Pictures == nil:
		return false, s.movePictures(ctx, m)
	case state.Step == len(movedTables):
		return false, s.arrive(ctx, m, batch, now)
	case movedTables[state.Step].copied:
		return false, s.compareRows(ctx, m, state, batch)
	}
	return false, s.changeMove(ctx, m, batch, func(t db.Tx, state *moveState) error { return moveTables(t, m, state, batch) })
}

// moveTables moves rows of the next tables until it has moved enough.
func moveTables(t db.Tx, m Move, state *moveState, batch *moveBatch) error {
	start, moved := time.Now(), 0
	for state.Stage == stageMove && state.Step < len(movedTables) && !movedTables[state.Step].copied {
		table := movedTables[state.Step]
		n, more, err := moveRows(t, table, m, state.Pictures, batch)
		if err != nil {
			return fmt.Errorf("move rows of %s: %w", table.name, err)
		}
		if more {
			return nil
		}
		state.Step++
		if moved += n; int64(moved) >= batch.limit || time.Since(start) > moveBatchTime {
			return nil
		}
	}
	return nil
}

// changeMove runs fn in a transaction that has locked the move, and stores its state. Nodes take
// turns, so fn must check that the state is what it was.
func (s *Store) changeMove(ctx context.Context, m Move, batch *moveBatch, fn func(t db.Tx, state *moveState) error) error {
	return s.db.Write(ctx, func(t db.Tx) error {
		start := time.Now()
		defer func() { batch.took = time.Since(start) }()
		now, state, err := readMove(t.Query, holdMoveSQL, m.From, m.FormID)
		if err == nil && !now.StartedAt.Equal(m.StartedAt) { // the form has come back, and leaves again
			err = fault.NotFound
		}
		if err != nil {
			return err
		}
		if err := fn(t, &state); err != nil {
			return err
		}
		return writeMove(t, m, state)
	})
}

func writeMove(t db.Tx, m Move, state moveState) error {
	text, err := json.Marshal(state)
	if err != nil {
		return err
	}
	_, err = t.Exec(setMoveSQL, m.From, m.FormID, string(text))
	return err
}
