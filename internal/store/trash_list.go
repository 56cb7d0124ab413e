package store

import (
	"context"
	"encoding/json"
	"time"

	"formulary/internal/db"
	"formulary/internal/form"
	"formulary/internal/id"
)

// Deleted is a form that can still be restored.
type Deleted struct {
	form.Form
	At time.Time
}

// DeletedForms lists the forms that can be restored, latest first.
func (s *Store) DeletedForms(ctx context.Context, owner string) (_ []Deleted, err error) {
	defer wrap(&err, "list deleted forms")
	var list []Deleted
	err = s.db.Query(ctx, trashedSQL, func(r db.Row) error {
		var content string
		var deleted int64
		if err := r.Scan(&content, &deleted); err != nil {
			return err
		}
		var trashed trashedForm
		err := json.Unmarshal([]byte(content), &trashed)
		list = append(list, Deleted{trashed.Form, fromMillis(deleted)})
		return err
	}, owner, id.Form, id.Form+lastID)
	return list, err
}

// DeletedResponses lists the IDs of responses that can be restored, latest first.
func (s *Store) DeletedResponses(ctx context.Context, owner, formID string) (_ []string, err error) {
	defer wrap(&err, "list deleted responses")
	var list []string
	err = s.db.Query(ctx, trashedOfSQL, func(r db.Row) error {
		var id string
		err := r.Scan(&id)
		list = append(list, id)
		return err
	}, owner, formID)
	return list, err
}
