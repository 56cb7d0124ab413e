package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"formulary/internal/db"
	"formulary/internal/fault"
)

// Activity is the number of responses to a form over time.
type Activity struct {
	Days map[string]int64 // by UTC day
	Last time.Time        // time of the last response; zero: none
}

const (
	lastResponseSQL = `SELECT submitted_at FROM response WHERE account_id = $1 AND form_id = $2 ORDER BY id DESC LIMIT 1`
	tailSQL         = `SELECT submitted_at FROM response WHERE account_id = $1 AND form_id = $2 AND ` + afterSerialSQL + ` ORDER BY id LIMIT 5000`
)

// FormActivity returns the activity of forms. It reads their summaries, and the times
// of the responses that are not summarized yet.
func (s *Store) FormActivity(ctx context.Context, owner string, forms []string) (_ map[string]Activity, err error) {
	defer wrap(&err, "read form activity")
	list := make(map[string]Activity, len(forms))
	err = s.db.Read(ctx, func(t db.Tx) error {
		for _, id := range forms {
			a := Activity{Days: map[string]int64{}}
			var serial, edits, last int64
			var text string
			if err := queryOne(t.Query, lastResponseSQL, []any{owner, id}, &last); errors.Is(err, fault.NotFound) {
				list[id] = a
				continue
			} else if err != nil {
				return err
			}
			a.Last = fromMillis(last)
			if err := queryOne(t.Query, summarySQL, []any{owner, id}, &serial, &edits, &text); err != nil && !errors.Is(err, fault.NotFound) {
				return err
			}
			if text != "" {
				var stored struct{ Days map[string]int64 }
				if err := json.Unmarshal([]byte(text), &stored); err != nil {
					return err
				}
				a.Days = stored.Days
			}
			if err := t.Query(tailSQL, func(r db.Row) error {
				var submitted int64
				err := r.Scan(&submitted)
				a.Days[fromMillis(submitted).Format(time.DateOnly)]++
				return err
			}, owner, id, serial); err != nil {
				return err
			}
			list[id] = a
		}
		return nil
	})
	return list, err
}
