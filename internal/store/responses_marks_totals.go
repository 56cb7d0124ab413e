package store

import (
	"context"
	"sort"

	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/form"
)

// markCounts are changes of the totals of a form.
type markCounts map[markKey]*markCount

type markKey struct{ kind, mark string }

type markCount struct {
	name string // of a tag, as it is shown
	n    int64
}

func (c markCounts) add(m form.Marks, n int64) {
	count := func(kind, mark, name string) {
		key := markKey{kind, mark}
		if c[key] == nil {
			c[key] = &markCount{name: name}
		}
		c[key].n += n
	}
	if m.Status != form.ResponseNew && m.Status != "" {
		count(statusMark, string(m.Status), "")
	}
	if m.Starred {
		count(starMark, "", "")
	}
	if m.Tags != "" {
		for _, tag := range m.TagList() {
			count(tagMark, form.TagKey(tag), tag)
		}
	}
}

// store changes the totals, always in the same order.
func (c markCounts) store(t db.Tx, owner, formID string) error {
	var keys []markKey
	removed := false
	for key, count := range c {
		if count.n != 0 {
			keys, removed = append(keys, key), removed || count.n < 0
		}
	}
	sort.Slice(keys, func(i, j int) bool { return keys[i].kind+keys[i].mark < keys[j].kind+keys[j].mark })
	for _, key := range keys {
		if _, err := t.Exec(countMarkSQL, owner, formID, key.kind, key.mark, c[key].name, c[key].n); err != nil {
			return err
		}
	}
	if !removed {
		return nil
	}
	_, err := t.Exec(unusedMarksSQL, owner, formID)
	return err
}

// MarkTotals says how many responses of a form have a mark.
type MarkTotals struct {
	New, Read, Done, Starred int64
	Tags                     []TagTotal // sorted by name, ignoring case
}

// TagTotal says how many responses have a tag.
type TagTotal struct {
	Name      string
	Responses int64
}

// MarkTotals returns the totals of a form. They are counted when marks change, not now.
func (s *Store) MarkTotals(ctx context.Context, owner, formID string) (_ MarkTotals, err error) {
	defer wrap(&err, "read totals of marks")
	if _, err := responseIDs(formID, nil); err != nil {
		return MarkTotals{}, err
	}
	var totals MarkTotals
	var all, serial int64
	var found bool
	err = s.db.QueryBatch(ctx, scanInto(&found, countResponsesSQL, []any{owner, formID}, &all, &serial),
		db.Statement{SQL: formMarksSQL, Args: []any{owner, formID}, Scan: func(r db.Row) error {
			var kind, mark, name string
			var n int64
			err := r.Scan(&kind, &mark, &name, &n)
			switch {
			case kind == tagMark:
				totals.Tags = append(totals.Tags, TagTotal{name, n})
			case kind == starMark:
				totals.Starred = n
			case mark == string(form.ResponseRead):
				totals.Read = n
			case mark == string(form.ResponseDone):
				totals.Done = n
			}
			return err
		}})
	totals.New = max(0, all-totals.Read-totals.Done)
	return totals, errorWhen(err, !found, fault.NotFound)
}
