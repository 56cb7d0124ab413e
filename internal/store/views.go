package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
)

// ViewFilter is what a view shows.
type ViewFilter struct {
	Search  string       `json:"search,omitempty" maxLength:"200" doc:"Text in an answer or in the label of a chosen option"`
	Days    int64        `json:"days,omitempty" minimum:"0" maximum:"3660" doc:"Submitted in the last days, counting today" example:"7"`
	Since   string       `json:"since,omitempty" maxLength:"10" doc:"Submitted on or after this day, in the time zone of the account" example:"2026-05-31"`
	Until   string       `json:"until,omitempty" maxLength:"10" doc:"Submitted on or before this day"`
	Status  string       `json:"status,omitempty" enum:"new,read,done"`
	Starred bool         `json:"starred,omitempty"`
	Tags    []string     `json:"tags,omitempty" nullable:"false" maxItems:"10" doc:"Has all of these tags"`
	Answers []Comparison `json:"answers,omitempty" nullable:"false" maxItems:"10" doc:"All of these are true"`
	Sort    string       `json:"sort,omitempty" maxLength:"400" doc:"Key of a question, or submitted_at; a minus sign in front means descending" example:"-submitted_at"`
	Columns []string     `json:"columns,omitempty" nullable:"false" maxItems:"100" doc:"Keys of the questions that the list shows, in this order"`
}

// SelectsAll reports whether a view shows all responses.
func (f ViewFilter) SelectsAll() bool {
	isMarked := f.Status != "" || f.Starred || len(f.Tags) > 0
	return f.Search == "" && f.Days == 0 && f.Since == "" && f.Until == "" && len(f.Answers) == 0 && !isMarked
}

// View is a filter of the responses to a form, saved under a name.
type View struct {
	ID, FormID           string
	Name                 string
	Filter               ViewFilter
	CreatedAt, UpdatedAt time.Time
}

// Limits of views.
const (
	MaxViews     = 50 // of a form
	maxViewName  = 60
	maxViewSize  = 16 << 10
	maxColumns   = 100
	maxViewDays  = 3660
	maxViewKey   = 400
	maxViewValue = 1000
)

const (
	viewColumns   = `id, name, content, created_at, updated_at`
	viewSQL       = `SELECT ` + viewColumns + ` FROM response_view WHERE account_id = $1 AND form_id = $2 AND id = $3`
	viewsSQL      = `SELECT ` + viewColumns + ` FROM response_view WHERE account_id = $1 AND form_id = $2 ORDER BY id`
	countViewsSQL = `SELECT COUNT(*) FROM response_view WHERE account_id = $1 AND form_id = $2`
	insertViewSQL = `INSERT INTO response_view (account_id, form_id, id, name, content, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $6)`
	updateViewSQL = `UPDATE response_view SET name = $4, content = $5, updated_at = $6 WHERE account_id = $1 AND form_id = $2 AND id = $3`
	deleteViewSQL = `DELETE FROM response_view WHERE account_id = $1 AND form_id = $2 AND id = $3`
)

func scanView(r db.Row, formID string) (View, error) {
	v := View{FormID: formID}
	var content string
	var created, updated int64
	if err := r.Scan(&v.ID, &v.Name, &content, &created, &updated); err != nil {
		return v, err
	}
	v.CreatedAt, v.UpdatedAt = fromMillis(created), fromMillis(updated)
	if err := json.Unmarshal([]byte(content), &v.Filter); err != nil {
		return v, fmt.Errorf("stored view: %w", err)
	}
	return v, nil
}

func readView(q querier, owner, formID, viewID string) (View, error) {
	v, err := View{}, error(fault.NotFound)
	if _, ok := id.Parse(id.View, viewID); !ok {
		return v, err
	}
	if _, ok := id.Parse(id.Form, formID); !ok {
		return v, err
	}
	if e := q(viewSQL, func(r db.Row) error {
		v, err = scanView(r, formID)
		return err
	}, owner, formID, viewID); e != nil {
		return v, e
	}
	return v, err
}

// View returns a view of a form.
func (s *Store) View(ctx context.Context, owner, formID, viewID string) (_ View, err error) {
	defer wrap(&err, "read view")
	if _, err := s.Form(ctx, owner, formID); err != nil {
		return View{}, err
	}
	return readView(s.query(ctx), owner, formID, viewID)
}

// Views returns the views of a form, the oldest first.
func (s *Store) Views(ctx context.Context, owner, formID string) (list []View, err error) {
	defer wrap(&err, "list views")
	if _, err := s.Form(ctx, owner, formID); err != nil {
		return nil, err
	}
	err = s.db.Query(ctx, viewsSQL, func(r db.Row) error {
		v, err := scanView(r, formID)
		list = append(list, v)
		return err
	}, owner, formID)
	return list, err
}

var errTooManyViews = fault.New(fault.QuotaReached, "The form has reached its limit of %d views. Delete one you no longer need.", MaxViews)

// AddView saves a view. A repeated key returns the view that the first request saved.
func (s *Store) AddView(ctx context.Context, owner string, v View, once IdempotencyKey, now time.Time) (_ View, err error) {
	defer wrap(&err, "add view")
	if _, err := s.Form(ctx, owner, v.FormID); err != nil {
		return View{}, err
	}
	content, err := s.checkView(ctx, owner, &v)
	if err != nil {
		return View{}, err
	}
	viewID := id.New(id.View, now)
	err = s.write(ctx, owner, func(t db.Tx) error {
		// Additions run one by one, and none follows the deletion of the form.
		if err := checkAffected(t.Exec(addStoredSQL, owner, v.FormID, 0)); err != nil {
			return err
		}
		earlier, err := once.claim(t, owner, viewID, now)
		if err != nil {
			return err
		}
		if earlier != "" {
			v, err = readView(t.Query, owner, v.FormID, earlier)
			return replaceNotFound(err, fault.New(fault.NotFoundInAccount, "The object created with this Idempotency-Key has been deleted."))
		}
		var n int64
		if err := queryOne(t.Query, countViewsSQL, []any{owner, v.FormID}, &n); err != nil || n >= MaxViews {
			return errorWhen(err, n >= MaxViews, errTooManyViews)
		}
		if _, err := t.Exec(insertViewSQL, owner, v.FormID, viewID, v.Name, content, toMillis(now)); err != nil {
			return err
		}
		v, err = readView(t.Query, owner, v.FormID, viewID)
		return err
	})
	return v, err
}

// UpdateView changes a view. change may run several times.
func (s *Store) UpdateView(ctx context.Context, owner, formID, viewID string, change func(*View), now time.Time) (_ View, err error) {
	defer wrap(&err, "update view")
	v, err := s.View(ctx, owner, formID, viewID)
	if err != nil {
		return v, err
	}
	change(&v)
	content, err := s.checkView(ctx, owner, &v)
	if err != nil {
		return v, err
	}
	err = s.write(ctx, owner, func(t db.Tx) error {
		if err := checkAffected(t.Exec(updateViewSQL, owner, formID, viewID, v.Name, content, toMillis(now))); err != nil {
			return err
		}
		v, err = readView(t.Query, owner, formID, viewID)
		return err
	})
	return v, err
}

// DeleteView deletes a view; the responses stay.
func (s *Store) DeleteView(ctx context.Context, owner, formID, viewID string) (err error) {
	defer wrap(&err, "delete view")
	if _, err := s.View(ctx, owner, formID, viewID); err != nil {
		return err
	}
	return s.write(ctx, owner, func(t db.Tx) error { return checkAffected(t.Exec(deleteViewSQL, owner, formID, viewID)) })
}

// checkView validates a view and returns its content as it is stored.
func (s *Store) checkView(ctx context.Context, owner string, v *View) (string, error) {
	v.Name = strings.TrimSpace(v.Name)
	f := v.Filter
	var details []fault.Detail
	wrong := func(is bool, field, message string, args ...any) {
		if is {
			details = append(details, fault.NewDetail(field, message, args...))
		}
	}
	n := utf8.RuneCountInString(v.Name)
	wrong(n == 0, "name", "enter a name")
	wrong(n > maxViewName, "name", "enter no more than %d characters", maxViewName)
	wrong(strings.ContainsFunc(v.Name, unicode.IsControl) || !utf8.ValidString(v.Name), "name", "use one line without control characters")
	wrong(utf8.RuneCountInString(f.Search) > 200, "search", "enter no more than %d characters", 200)
	wrong(f.Days < 0 || f.Days > maxViewDays, "days", "enter a whole number from 0 to %d", maxViewDays)
	wrong(!isDay(f.Since), "since", "enter a day such as 2026-05-31")
	wrong(!isDay(f.Until), "until", "enter a day such as 2026-05-31")
	_, isStatus := form.ParseResponseStatus(f.Status)
	wrong(f.Status != "" && !isStatus, "status", "must be new, read or done")
	wrong(len(f.Tags) > MaxFilterTags, "tags", "enter no more than %d", MaxFilterTags)
	wrong(len(f.Columns) > maxColumns, "columns", "enter no more than %d", maxColumns)
	wrong(len(f.Sort) > maxViewKey, "sort", "enter no more than %d characters", maxViewKey)
	for i, c := range f.Answers {
		field := fmt.Sprintf("answers[%d]", i)
		wrong(utf8.RuneCountInString(c.Field) > maxViewKey, field+".field", "enter no more than %d characters", maxViewKey)
		wrong(utf8.RuneCountInString(c.Value) > maxViewValue, field+".value", "enter no more than %d characters", maxViewValue)
	}
	if len(details) > 0 {
		return "", fault.InvalidFields(details...)
	}
	_, err := s.AnswerFilters(ctx, owner, v.FormID, f.Answers)
	if mistake, ok := errors.AsType[*FilterError](err); ok {
		field := "answers"
		if mistake.Index >= 0 {
			field = fmt.Sprintf("answers[%d]", mistake.Index)
		}
		return "", fault.InvalidField(field, mistake.Message)
	}
	if err != nil {
		return "", err
	}
	content, err := json.Marshal(f)
	if err == nil && (len(content) > maxViewSize || strings.Contains(string(content), `\u0000`)) {
		return "", fault.InvalidField("name", "this view is too large")
	}
	return string(content), err
}

func isDay(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return text == "" || err == nil
}
