package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"formulary/internal/db"
)

// rowText is a row: its key, and all columns that can change as one text.
type rowText struct {
	key  rowKey
	text string
}

// textsSQL reads at most $3 rows after a key as rowText. Columns are separated by a character that
// JSON and the other values do not contain.
func (m movedTable) textsSQL(columns []string) string {
	keys := strings.Split(m.keys, ", ")
	var values []string
	for _, column := range columns { // none can be NULL
		if !slices.Contains(keys, column) && !slices.Contains(strings.Fields(m.fixed), column) {
			values = append(values, "CAST("+column+" AS TEXT)")
		}
	}
	if len(values) == 0 {
		values = []string{"CAST('' AS TEXT)"}
	}
	if len(keys) == 1 {
		keys = append(keys, "CAST('' AS TEXT)")
	}
	return "SELECT " + strings.Join(keys, ", ") + ", " + strings.Join(values, " || '\x1f' || ") + " FROM " + m.name + m.where() +
		" AND (" + m.keys + ") > (" + places(4, m.keyCount()) + ") ORDER BY " + m.keys + " LIMIT $3"
}

// compareFactor is how many more rows are compared at a time than copied: nobody waits for it
// except the respondents of the form.
const compareFactor = 4

// compareRows compares the next rows with their copies, and copies again what differs. Nothing can
// change the originals.
func (s *Store) compareRows(ctx context.Context, m Move, seen moveState, batch *moveBatch) error {
	table, limit := movedTables[seen.Step], int(compareFactor*batch.limit)
	lists, err := s.readTexts(ctx, table, m, seen.After, limit)
	if err != nil {
		return err
	}
	for _, row := range lists[0] {
		batch.size += len(row.text) / compareFactor
	}
	different, last, more := differences(lists[0], lists[1], limit)
	err = s.changeMove(ctx, m, batch, func(t db.Tx, state *moveState) error {
		if state.Stage != stageMove || state.Step != seen.Step || state.After != seen.After {
			return nil // another node was faster
		}
		if state.After = last; !more {
			state.Step, state.After = state.Step+1, rowKey{}
		}
		return copyAgain(t, table, m, different)
	})
	if err != nil {
		return fmt.Errorf("compare rows of %s: %w", table.name, err)
	}
	return nil
}

// readTexts reads rows of both accounts after a key, at the same time.
func (s *Store) readTexts(ctx context.Context, table movedTable, m Move, after rowKey, limit int) (lists [2][]rowText, err error) {
	var columns []string
	for _, owner := range []string{m.From, m.To} {
		if err := s.db.Query(ctx, table.afterSQL(), func(r db.Row) error { columns = slices.Clone(r.Columns()); return nil }, table.args(rowKey{}, owner, m.FormID, 1)...); err != nil {
			return lists, err
		}
	}
	if columns == nil {
		return lists, nil
	}
	sql := table.textsSQL(slices.DeleteFunc(columns, func(name string) bool { return name == "account_id" || name == "form_id" }))
	read := func(owner string, list *[]rowText) error {
		return s.db.Query(ctx, sql, func(r db.Row) error {
			var row rowText
			err := r.Scan(&row.key[0], &row.key[1], &row.text)
			*list = append(*list, row)
			return err
		}, table.args(after, owner, m.FormID, limit)...)
	}
	other := make(chan error, 1)
	go func() { other <- read(m.To, &lists[1]) }()
	err = read(m.From, &lists[0])
	if failed := <-other; err == nil {
		err = failed
	}
	return lists, err
}

// differences returns the keys of the rows that have no equal row in the other list, and the key up
// to which the lists were compared.
func differences(from, to []rowText, limit int) (different []rowKey, last rowKey, more bool) {
	i, j := 0, 0
	// A full list says nothing about what follows its last row.
	for (i < len(from) || len(from) < limit) && (j < len(to) || len(to) < limit) {
		order := 0
		switch {
		case i == len(from) && j == len(to):
			return different, last, false
		case i == len(from):
			order = 1
		case j == len(to):
			order = -1
		default:
			order = slices.Compare(from[i].key[:], to[j].key[:])
		}
		if order <= 0 {
			last = from[i].key
		} else {
			last = to[j].key
		}
		if order != 0 || from[i].text != to[j].text {
			different = append(different, last)
		}
		if order <= 0 {
			i++
		}
		if order >= 0 {
			j++
		}
	}
	return different, last, true
}

// copyAgain replaces copies of rows by the rows as they are now, if they still exist.
func copyAgain(t db.Tx, table movedTable, m Move, keys []rowKey) error {
	var list tableRows
	for _, key := range keys {
		if _, err := t.Exec(table.dropRowSQL(), table.args(key, m.To, m.FormID)...); err != nil {
			return err
		}
		if err := t.Query(table.rowSQL(), func(r db.Row) error { return list.read(table, r) }, table.args(key, m.From, m.FormID)...); err != nil {
			return err
		}
	}
	return list.insert(t, table.name, m.To)
}
