package store

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"formulary/internal/db"
	"formulary/internal/form"
)

// movedTable is a table with rows of a form.
type movedTable struct {
	name string
	keys string // the rest of the primary key, after account_id and form_id
	of   string // condition on the form, which is $2; empty: form_id = $2
}

// movedTables are all tables with rows of a form except form itself. Mails are last: until the
// form is in its new space, they are not sent.
var movedTables = []movedTable{
	{name: "form_draft", keys: "form_id"},
	{name: "form_version", keys: "version"},
	{name: "response", keys: "id"},
	{name: "trash", keys: "id"},
	{name: "file", keys: "id"},
	{name: "idempotency", keys: "app_id, key", of: "STRPOS(app_id, '/' || $2) > 0"}, // see respond.Key
	{name: "form_summary", keys: "form_id"},
	{name: "option_count", keys: "field_id, value"},
	{name: "list_block", keys: "level, block", of: "list = $2"},
	{name: "form_event", keys: "position"},
	{name: "webhook", keys: "id"},
	{name: "delivery", keys: "webhook_id, position"},
	{name: "form_mail", keys: "form_id"},
	{name: "form_recipient", keys: "email_key"},
	{name: "response_tag", keys: "tag_key, response_id"},
	{name: "response_note", keys: "response_id, id"},
	{name: "form_mark", keys: "kind, mark"},
	{name: "form_retention", keys: "form_id"},
	{name: "response_view", keys: "id"},
	{name: "response_layout", keys: "user_id"},
	{name: "form_visit", keys: "day, version, kind, part"},
	{name: "mail", keys: "id"},
}

// takeSQL deletes at most $3 rows of a form and returns them.
func (m movedTable) takeSQL() string {
	of := m.of
	if of == "" {
		of = "form_id = $2"
	}
	where := " WHERE account_id = $1 AND " + of
	return "DELETE FROM " + m.name + where + " AND (" + m.keys + ") IN (SELECT " + m.keys + " FROM " + m.name + where + " LIMIT $3) RETURNING *"
}

// Rows are moved in transactions of about this size, so that no other writer waits long and the
// form is not away for long.
const (
	minMoveBatch  = 50
	maxMoveBatch  = 1_000
	moveBatchSize = 512 << 10 // bytes
)

// moveBatch adapts the number of rows to their size.
type moveBatch struct {
	limit int64
	size  int // bytes of the last batch
}

func (b *moveBatch) adapt() {
	switch {
	case b.size > moveBatchSize:
		b.limit = max(b.limit/2, minMoveBatch)
	case b.size < moveBatchSize/2:
		b.limit = min(b.limit*2, maxMoveBatch)
	}
}

// moveRows moves rows of a form from one table of an account to that of another.
func moveRows(t db.Tx, table movedTable, m Move, pictures map[string]string, batch *moveBatch) (int64, error) {
	var insert string
	var rows [][]any
	err := t.Query(table.takeSQL(), func(r db.Row) error {
		columns := r.Columns()
		values, dest := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			dest[i] = &values[i]
		}
		if err := r.Scan(dest...); err != nil {
			return err
		}
		row := make([]any, 0, len(values))
		names := []string{"account_id"}
		for i, name := range columns {
			if name == "account_id" {
				continue
			}
			if text, ok := values[i].(string); ok {
				batch.size += len(text)
				if name == "definition" || name == "design" {
					values[i] = replacePictures(text, pictures)
				}
			}
			names, row = append(names, name), append(row, values[i])
		}
		if insert == "" {
			insert = insertRow(table.name, names)
		}
		rows = append(rows, row)
		return nil
	}, m.From, m.FormID, batch.limit)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	return int64(len(rows)), t.ExecEach(insert, []any{m.To}, rows)
}

func insertRow(table string, columns []string) string {
	places := make([]string, len(columns))
	for i := range places {
		places[i] = fmt.Sprintf("$%d", i+1)
	}
	return "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES (" + strings.Join(places, ", ") + ")"
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

// stepMove does a part of a move: the next picture, a batch of rows, or the end. done says that
// the form is in its new space. fault.NotFound: there is no such move any more.
func (s *Store) stepMove(ctx context.Context, owner, formID string, batch *moveBatch, now time.Time) (done bool, err error) {
	m, state, err := readMove(s.query(ctx), moveSQL, owner, formID)
	if err != nil {
		return false, err
	}
	if state.Pictures == nil {
		return false, s.movePictures(ctx, m)
	}
	var people []string
	err = s.db.Write(ctx, func(t db.Tx) error {
		done, people = false, nil
		// A node that has waited here starts from what the other one has left.
		if m, state, err = readMove(t.Query, holdMoveSQL, owner, formID); err != nil {
			return err
		}
		batch.size = 0
		if state.Step == len(movedTables) {
			people, done, err = s.endMove(t, m, &state, batch, now)
			return err
		}
		table := movedTables[state.Step]
		n, err := moveRows(t, table, m, state.Pictures, batch)
		if err != nil {
			return fmt.Errorf("move rows of %s: %w", table.name, err)
		}
		if table.name == "response" {
			state.Moved += n
		}
		if n < batch.limit {
			state.Step++
		}
		return writeMove(t, m, state)
	})
	if err != nil {
		return false, err
	}
	batch.adapt()
	if done {
		for _, key := range append(people, m.From, m.To, responsesOf(m.From), responsesOf(m.To), webhookOwners, formMailOwners) {
			s.db.Invalidate(key)
		}
		s.mailsAdded()
	}
	return done, nil
}

func writeMove(t db.Tx, m Move, state moveState) error {
	text, err := json.Marshal(state)
	if err != nil {
		return err
	}
	_, err = t.Exec(setMoveSQL, m.From, m.FormID, string(text))
	return err
}

// endMove inserts the form's row into its new account and changes its addresses, unless rows were
// left behind by a transaction that was running when the move started: these are moved first.
func (s *Store) endMove(t db.Tx, m Move, state *moveState, batch *moveBatch, now time.Time) (people []string, done bool, err error) {
	for _, table := range movedTables {
		n, err := moveRows(t, table, m, state.Pictures, batch)
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
	for _, sql := range []string{dropInvitesSQL, dropEditorsSQL, endMoveSQL} {
		if _, err := t.Exec(sql, m.From, m.FormID); err != nil {
			return nil, false, err
		}
	}
	_, err = t.Exec(endMoveSQL, m.To, m.FormID)
	return people, err == nil, err
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
