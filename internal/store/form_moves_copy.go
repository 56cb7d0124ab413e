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

// copyRows copies the next rows. They may change before they are written, or later: compareRows
// finds out.
func (s *Store) copyRows(ctx context.Context, m Move, seen moveState, batch *moveBatch) error {
	table := copiedTables()[seen.Step]
	var list tableRows
	err := s.db.Query(ctx, table.afterSQL(), func(r db.Row) error { return list.read(table, r) }, table.args(seen.After, m.From, m.FormID, batch.limit)...)
	if err != nil {
		return err
	}
	batch.size = list.bytes
	err = s.changeMove(ctx, m, batch, func(t db.Tx, state *moveState) error {
		if state.Stage != stageCopy || state.Step != seen.Step || state.After != seen.After {
			return nil // another node was faster
		}
		var exists int64
		if err := queryOne(t.Query, formExistsSQL, []any{m.From, m.FormID}, &exists); isMissing(err) {
			state.Stage, state.Step, state.After = stageCancel, 0, rowKey{}
			return nil
		} else if err != nil {
			return err
		}
		n := len(list.rows)
		if table.name == "response" {
			state.Moved += int64(n)
		}
		if n > 0 {
			state.After = list.lastKey()
		}
		if int64(n) < batch.limit {
			state.Step, state.After = state.Step+1, rowKey{}
		}
		return list.insert(t, table.name, m.To)
	})
	if err != nil {
		return fmt.Errorf("copy rows of %s: %w", table.name, err)
	}
	return nil
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
