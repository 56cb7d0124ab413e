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
	"formulary/internal/form"
)

// movedTable is a table with rows of a form.
type movedTable struct {
	name string
	keys string // the rest of the primary key, after account_id and form_id
	of   string // condition on the form, which is $2; empty: form_id = $2

	// copied: many forms have many rows, which are copied while the form is in use. Nothing but
	// requests for the form may read or change the rows, and every change locks the form's row.
	copied bool
}

// movedTables are all tables with rows of a form except form itself. Mails are last: until the
// form is in its new space, they are not sent.
var movedTables = []movedTable{
	{name: "form_draft", keys: "form_id"},
	{name: "form_version", keys: "version"},
	{name: "response", keys: "id", copied: true},
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
	limit     int64
	size      int           // bytes of the last batch
	took      time.Duration // inside of its transaction
	stage     moveStage     // of the last batch
	comparing int           // the step in movedTables
	compared  []string      // key of the last row there that was compared with its copy
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
	rows    [][]any
	keys    [][]string // of each row
	bytes   int
}

// read adds a row.
func (l *tableRows) read(table movedTable, r db.Row) error {
	columns := r.Columns()
	values, dest := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		dest[i] = &values[i]
	}
	if err := r.Scan(dest...); err != nil {
		return err
	}
	row, key, names := make([]any, 0, len(values)), []string(nil), []string{}
	for i, name := range columns {
		text, isText := values[i].(string)
		l.bytes += len(text)
		if isText && table.copied && slices.Contains(strings.Split(table.keys, ", "), name) {
			key = append(key, text)
		}
		if name != "account_id" {
			names, row = append(names, name), append(row, values[i])
		}
	}
	l.columns, l.rows, l.keys = names, append(l.rows, row), append(l.keys, key)
	return nil
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
	return false, s.changeMove(ctx, m, batch, func(t db.Tx, state *moveState) error {
		if state.Stage != stageMove || state.Step == len(movedTables) || movedTables[state.Step].copied {
			return nil // another node was faster
		}
		table := movedTables[state.Step]
		_, more, err := moveRows(t, table, m, state.Pictures, batch)
		if err != nil {
			return fmt.Errorf("move rows of %s: %w", table.name, err)
		}
		if !more {
			state.Step++
		}
		return nil
	})
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

// arrive inserts the form's row into its new account and changes its addresses.
func (s *Store) arrive(ctx context.Context, m Move, batch *moveBatch, now time.Time) error {
	var people []string
	arrived := false
	err := s.changeMove(ctx, m, batch, func(t db.Tx, state *moveState) (err error) {
		if people, arrived = nil, false; state.Stage != stageMove || state.Step < len(movedTables) {
			return nil // another node was faster
		}
		people, arrived, err = s.endMove(t, m, state, batch, now)
		return err
	})
	if err != nil || !arrived {
		return err
	}
	for _, key := range append(people, m.From, m.To, responsesOf(m.From), responsesOf(m.To), webhookOwners, formMailOwners) {
		s.db.Invalidate(key)
	}
	s.mailsAdded()
	return nil
}

// endMove inserts the form's row into its new account and changes its addresses, unless rows were
// left behind by a transaction that was running when the move started: these are moved first.
func (s *Store) endMove(t db.Tx, m Move, state *moveState, batch *moveBatch, now time.Time) (people []string, done bool, err error) {
	for _, table := range movedTables {
		if table.copied {
			continue
		}
		n, _, err := moveRows(t, table, m, state.Pictures, batch)
		if err != nil || n > 0 {
			return nil, false, err
		}
	}
	if err := holdAccounts(t, m.From, m.To); err != nil {
		return nil, false, err
	}
	if people, err = endShares(t, m.From, m.FormID, now); err != nil {
		return nil, false, err
	}
	taken := state.Form
	var last string
	if err := queryOne(t.Query, nextFormSQL, []any{m.To}, &taken.Serial, &last); err != nil {
		return nil, false, err
	}
	if m.FormID < last { // its ID is older than those of forms with lower serials
		if _, err := t.Exec(markUnorderedSQL, m.To, formList); err != nil {
			return nil, false, err
		}
	} else if _, err := t.Exec(lastFormSQL, m.To, m.FormID); err != nil {
		return nil, false, err
	}
	taken.Form.Folder = ""
	if err := insertTaken(t, m.To, taken); err != nil {
		return nil, false, err
	}
	for _, sql := range []string{unfenceWebhooksSQL, unfenceMailsSQL} {
		if _, err := t.Exec(sql, m.To, m.FormID); err != nil {
			return nil, false, err
		}
	}
	// The grants of applications are for the old space.
	if _, err := t.Exec(pauseForeignSQL, m.To, m.FormID, toMillis(now)); err != nil {
		return nil, false, err
	}
	if _, err := t.Exec(moveAddressSQL, m.From, m.FormID, m.To); err != nil {
		return nil, false, err
	}
	for _, sql := range []string{dropInvitesSQL, dropEditorsSQL} {
		if _, err := t.Exec(sql, m.From, m.FormID); err != nil {
			return nil, false, err
		}
	}
	state.Stage, state.Step = stageClean, 0
	return people, true, nil
}

// insertTaken inserts the row of a form that was deleted or taken from another account.
func insertTaken(t db.Tx, owner string, taken trashedForm) error {
	f := taken.Form
	if _, err := t.Exec(restoreFormSQL, owner, f.ID, taken.Serial, f.Title, f.Description, f.Language, string(f.Status), f.Version, f.Revision,
		f.ResponseCount, taken.ResponseSerial, taken.ResponseTick, toMillis(f.CreatedAt), toMillis(f.UpdatedAt), form.SearchKey(f.Title),
		searchKey(form.Header{Title: f.Title, Description: f.Description}), f.Slug, toMillis(f.OpensAt), toMillis(f.ClosesAt), f.ResponseLimit, f.Sites, taken.StoredBytes, taken.OpeningDue, f.Folder); err != nil {
		return err
	}
	_, err := t.Exec(countFormSQL, owner, string(f.Status), f.Language, 1)
	return err
}
