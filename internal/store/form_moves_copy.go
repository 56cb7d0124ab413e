package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"formulary/internal/db"
)

// copiedTables are the tables whose rows are copied while the form is in use. Responses are last:
// most of what changes during the copying is new responses.
func copiedTables() []movedTable {
	var list []movedTable
	for _, table := range movedTables {
		if table.copied {
			list = append(list, table)
		}
	}
	slices.SortStableFunc(list, func(a, b movedTable) int {
		switch {
		case a.name == "response":
			return 1
		case b.name == "response":
			return -1
		}
		return 0
	})
	return list
}

// afterSQL reads at most $3 rows after a key, in the order of their keys.
func (m movedTable) afterSQL() string {
	return "SELECT * FROM " + m.name + m.where() + " AND (" + m.keys + ") > (" + places(4, m.keyCount()) + ") ORDER BY " + m.keys + " LIMIT $3"
}

// rowSQL and dropRowSQL read and delete a row by its key.
func (m movedTable) rowSQL() string     { return "SELECT * FROM " + m.name + m.whereKey() }
func (m movedTable) dropRowSQL() string { return "DELETE FROM " + m.name + m.whereKey() }

func (m movedTable) whereKey() string {
	where := m.where()
	for i, column := range strings.Split(m.keys, ", ") {
		where += fmt.Sprintf(" AND %s = $%d", column, i+3)
	}
	return where
}

// readAfter reads rows after a key; nil: from the first.
func (s *Store) readAfter(ctx context.Context, table movedTable, owner, formID string, after []string, limit int64) (list tableRows, err error) {
	args := []any{owner, formID, limit}
	for i := range table.keyCount() {
		if after == nil {
			args = append(args, "")
		} else {
			args = append(args, after[i])
		}
	}
	err = s.db.Query(ctx, table.afterSQL(), func(r db.Row) error { return list.read(table, r) }, args...)
	return list, err
}

// copyRows copies the next rows. They may change before they are written, or later: compareRows
// finds out.
func (s *Store) copyRows(ctx context.Context, m Move, seen moveState, batch *moveBatch) error {
	table := copiedTables()[seen.Step]
	list, err := s.readAfter(ctx, table, m.From, m.FormID, seen.After, batch.limit)
	if err != nil {
		return err
	}
	batch.size = list.bytes
	err = s.changeMove(ctx, m, batch, func(t db.Tx, state *moveState) error {
		if state.Stage != stageCopy || state.Step != seen.Step || !slices.Equal(state.After, seen.After) {
			return nil // another node was faster
		}
		var exists int64
		if err := queryOne(t.Query, formExistsSQL, []any{m.From, m.FormID}, &exists); isMissing(err) {
			state.Stage, state.Step, state.After = stageCancel, 0, nil
			return nil
		} else if err != nil {
			return err
		}
		n := len(list.rows)
		if table.name == "response" {
			state.Moved += int64(n)
		}
		if n > 0 {
			state.After = list.keys[n-1]
		}
		if int64(n) < batch.limit {
			state.Step, state.After = state.Step+1, nil
		}
		return list.insert(t, table.name, m.To)
	})
	if err != nil {
		return fmt.Errorf("copy rows of %s: %w", table.name, err)
	}
	return nil
}

// compareRows compares the next rows with their copies, and copies again what differs. Nothing can
// change the originals.
func (s *Store) compareRows(ctx context.Context, m Move, seen moveState, batch *moveBatch) error {
	table := movedTables[seen.Step]
	if batch.comparing != seen.Step {
		batch.comparing, batch.compared = seen.Step, nil
	}
	from, err := s.readAfter(ctx, table, m.From, m.FormID, batch.compared, batch.limit)
	if err != nil {
		return err
	}
	to, err := s.readAfter(ctx, table, m.To, m.FormID, batch.compared, batch.limit)
	if err != nil {
		return err
	}
	batch.size = from.bytes
	different, last := differences(from, to, batch.limit)
	if len(different) > 0 || last == nil {
		err = s.changeMove(ctx, m, batch, func(t db.Tx, state *moveState) error {
			if state.Stage != stageMove || state.Step != seen.Step {
				return nil // another node was faster
			}
			if last == nil {
				state.Step++
			}
			return copyAgain(t, table, m, different)
		})
	}
	if err != nil {
		return fmt.Errorf("compare rows of %s: %w", table.name, err)
	}
	batch.compared = last
	return nil
}

// differences returns the keys of the rows that have no equal row in the other list, and the key up
// to which both lists are complete; nil: there are no more rows.
func differences(from, to tableRows, limit int64) (different [][]string, last []string) {
	if n := int64(len(from.rows)); n == limit {
		last = from.keys[n-1]
	}
	if n := int64(len(to.rows)); n == limit && (last == nil || slices.Compare(to.keys[n-1], last) < 0) {
		last = to.keys[n-1]
	}
	isIncluded := func(key []string) bool { return last == nil || slices.Compare(key, last) <= 0 }
	i, j := 0, 0
	for i < len(from.rows) || j < len(to.rows) {
		order := 0
		switch {
		case i == len(from.rows):
			order = 1
		case j == len(to.rows):
			order = -1
		default:
			order = slices.Compare(from.keys[i], to.keys[j])
		}
		key, isEqual := []string(nil), false
		switch {
		case order < 0:
			key = from.keys[i]
		case order > 0:
			key = to.keys[j]
		default:
			key, isEqual = from.keys[i], slices.Equal(from.rows[i], to.rows[j])
		}
		if !isIncluded(key) {
			break
		}
		if !isEqual {
			different = append(different, key)
		}
		if order <= 0 {
			i++
		}
		if order >= 0 {
			j++
		}
	}
	return different, last
}

// copyAgain replaces copies of rows by the rows as they are now, if they still exist.
func copyAgain(t db.Tx, table movedTable, m Move, keys [][]string) error {
	var list tableRows
	for _, key := range keys {
		args := []any{m.To, m.FormID}
		for _, part := range key {
			args = append(args, part)
		}
		if _, err := t.Exec(table.dropRowSQL(), args...); err != nil {
			return err
		}
		args[0] = m.From
		if err := t.Query(table.rowSQL(), func(r db.Row) error { return list.read(table, r) }, args...); err != nil {
			return err
		}
	}
	return list.insert(t, table.name, m.To)
}

// deleteCopied deletes rows that are in both accounts from one of them, and ends the move when
// there are none left.
func (s *Store) deleteCopied(ctx context.Context, m Move, owner string, batch *moveBatch) (done bool, err error) {
	err = s.changeMove(ctx, m, batch, func(t db.Tx, state *moveState) error {
		if done = false; state.Stage != batch.stage {
			return nil
		}
		tables := copiedTables()
		if state.Step < len(tables) {
			sql, args, more, err := tables[state.Step].deleteSome(t, owner, m.FormID, batch.limit)
			if err != nil {
				return err
			}
			if !more {
				state.Step++
			}
			_, err = t.Exec(sql, args...)
			return err
		}
		done = true
		for _, account := range []string{m.From, m.To} {
			if _, err := t.Exec(endMoveSQL, account, m.FormID); err != nil {
				return err
			}
		}
		return nil
	})
	return done, err
}
