package store

import (
	"context"
	"encoding/json"

	"formulary/internal/db"
	"formulary/internal/fault"
)

// ResponseLayout is how a user arranged the list of a form's responses.
type ResponseLayout struct {
	Table   bool     `json:"table,omitempty"`   // a table instead of a list beside the response
	Columns []string `json:"columns,omitempty"` // keys of questions, in order; none: the first ones
}

const (
	layoutSQL     = `SELECT content FROM response_layout WHERE account_id = $1 AND form_id = $2 AND user_id = $3`
	saveLayoutSQL = `INSERT INTO response_layout (account_id, form_id, user_id, content) VALUES ($1, $2, $3, $4)
		ON CONFLICT (account_id, form_id, user_id) DO UPDATE SET content = $4`
)

// ResponseLayout returns how a user arranged the list; the zero value if they did not.
func (s *Store) ResponseLayout(ctx context.Context, owner, formID, userID string) (l ResponseLayout, err error) {
	defer wrap(&err, "read layout")
	var content string
	err = replaceNotFound(queryOne(s.query(ctx), layoutSQL, []any{owner, formID, userID}, &content), nil)
	if err != nil || content == "" {
		return l, err
	}
	return l, json.Unmarshal([]byte(content), &l)
}

// SaveResponseLayout remembers how a user arranged the list.
func (s *Store) SaveResponseLayout(ctx context.Context, owner, formID, userID string, l ResponseLayout) (err error) {
	defer wrap(&err, "save layout")
	l.Columns = l.Columns[:min(len(l.Columns), maxColumns)]
	content, err := json.Marshal(l)
	if err != nil || len(content) > maxViewSize {
		return errorWhen(err, true, fault.New(fault.TooLarge, "These columns are too long."))
	}
	return s.write(ctx, owner, func(t db.Tx) error {
		// The form still exists, so its deletion finds this row.
		if err := checkAffected(t.Exec(addStoredSQL, owner, formID, 0)); err != nil {
			return err
		}
		_, err := t.Exec(saveLayoutSQL, owner, formID, userID, string(content))
		return err
	})
}
