package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
)

// Theme is a design that an account has saved.
type Theme struct {
	ID string
	form.Theme
	CreatedAt, UpdatedAt time.Time
}

// MaxThemes is how many themes an account may have.
const MaxThemes = 50

const (
	themeColumns   = `id, name, design, created_at, updated_at`
	themeSQL       = `SELECT ` + themeColumns + ` FROM theme WHERE account_id = $1 AND id = $2`
	themesSQL      = `SELECT ` + themeColumns + ` FROM theme WHERE account_id = $1 ORDER BY id DESC LIMIT $2 OFFSET $3`
	countThemesSQL = `SELECT COUNT(*) FROM theme WHERE account_id = $1`
	insertThemeSQL = `INSERT INTO theme (account_id, id, name, design, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $5)`
	updateThemeSQL = `UPDATE theme SET name = $3, design = $4, updated_at = $5 WHERE account_id = $1 AND id = $2`
	deleteThemeSQL = `DELETE FROM theme WHERE account_id = $1 AND id = $2`
)

func scanTheme(r db.Row) (Theme, error) {
	var t Theme
	var design string
	var created, updated int64
	if err := r.Scan(&t.ID, &t.Name, &design, &created, &updated); err != nil {
		return t, err
	}
	t.CreatedAt, t.UpdatedAt = fromMillis(created), fromMillis(updated)
	if err := json.Unmarshal([]byte(design), &t.Design); err != nil {
		return t, fmt.Errorf("stored theme: %w", err)
	}
	return t, nil
}

func readTheme(q querier, owner, themeID string) (Theme, error) {
	t, err := Theme{}, error(fault.NotFound)
	if _, ok := id.Parse(id.Theme, themeID); !ok {
		return t, err
	}
	if e := q(themeSQL, func(r db.Row) error {
		t, err = scanTheme(r)
		return err
	}, owner, themeID); e != nil {
		return t, e
	}
	return t, err
}

// Theme returns a theme of an account.
func (s *Store) Theme(ctx context.Context, owner, themeID string) (_ Theme, err error) {
	defer wrap(&err, "read theme")
	return readTheme(s.query(ctx), owner, themeID)
}

// Themes returns a page of an account's themes, the newest first, and how many there are.
func (s *Store) Themes(ctx context.Context, owner string, page Page) (list []Theme, total int64, err error) {
	defer wrap(&err, "list themes")
	var found bool
	err = s.db.QueryBatch(ctx, scanInto(&found, countThemesSQL, []any{owner}, &total),
		db.Statement{SQL: themesSQL, Args: []any{owner, page.Limit, page.Offset}, Scan: func(r db.Row) error {
			t, err := scanTheme(r)
			list = append(list, t)
			return err
		}})
	return list, total, err
}

var errTooManyThemes = fault.New(fault.QuotaReached, "The account has reached its limit of %d themes. Delete one you no longer need.", MaxThemes)

// AddTheme saves a theme. A repeated key returns the theme that the first request saved.
func (s *Store) AddTheme(ctx context.Context, owner string, in form.Theme, once IdempotencyKey, now time.Time) (_ Theme, err error) {
	defer wrap(&err, "add theme")
	if err := s.checkTheme(ctx, owner, &in); err != nil {
		return Theme{}, err
	}
	design, err := json.Marshal(in.Design)
	if err != nil {
		return Theme{}, err
	}
	var made Theme
	themeID := id.New(id.Theme, now)
	err = s.write(ctx, owner, func(t db.Tx) error {
		// Additions run one by one, and none follows the deletion of the account.
		if err := checkAffected(t.Exec(holdAccountSQL, owner)); err != nil {
			return err
		}
		earlier, err := once.claim(t, owner, themeID, now)
		if err != nil {
			return err
		}
		if earlier != "" {
			made, err = readTheme(t.Query, owner, earlier)
			return replaceNotFound(err, fault.New(fault.NotFoundInAccount, "The object created with this Idempotency-Key has been deleted."))
		}
		var n int64
		if err := queryOne(t.Query, countThemesSQL, []any{owner}, &n); err != nil || n >= MaxThemes {
			return errorWhen(err, n >= MaxThemes, errTooManyThemes)
		}
		if _, err := t.Exec(insertThemeSQL, owner, themeID, in.Name, string(design), toMillis(now)); err != nil {
			return err
		}
		made, err = readTheme(t.Query, owner, themeID)
		return err
	})
	return made, err
}

// checkTheme validates a theme, and that its pictures exist.
func (s *Store) checkTheme(ctx context.Context, owner string, t *form.Theme) error {
	if err := t.Normalize(); err != nil {
		return err
	}
	return s.checkPictures(ctx, owner, t.Design.Pictures())
}

// UpdateTheme changes a theme. The forms that use it do not change. change may run several
// times.
func (s *Store) UpdateTheme(ctx context.Context, owner, themeID string, change func(*form.Theme), now time.Time) (_ Theme, err error) {
	defer wrap(&err, "update theme")
	var t Theme
	for n := 1; ; n++ {
		before, err := readTheme(s.query(ctx), owner, themeID)
		if err != nil {
			return t, err
		}
		t = before
		change(&t.Theme)
		if err := s.checkTheme(ctx, owner, &t.Theme); err != nil {
			return t, err
		}
		t.UpdatedAt = fromMillis(max(toMillis(now), toMillis(before.UpdatedAt)+1))
		if err = s.replaceTheme(ctx, owner, before, t); !errors.Is(err, errConflict) || n == maxUpdateTries {
			return t, err
		}
	}
}

// replaceTheme stores a theme, unless it has changed since it was read.
func (s *Store) replaceTheme(ctx context.Context, owner string, before, after Theme) error {
	design, err := json.Marshal(after.Design)
	if err != nil {
		return err
	}
	return s.write(ctx, owner, func(t db.Tx) error {
		if err := checkAffected(t.Exec(holdAccountSQL, owner)); err != nil {
			return err
		}
		current, err := readTheme(t.Query, owner, before.ID)
		if err != nil || !current.UpdatedAt.Equal(before.UpdatedAt) {
			return errorWhen(err, true, errConflict)
		}
		return checkAffected(t.Exec(updateThemeSQL, owner, before.ID, after.Name, string(design), toMillis(after.UpdatedAt)))
	})
}

// DeleteTheme deletes a theme. The forms that use it keep their design.
func (s *Store) DeleteTheme(ctx context.Context, owner, themeID string) (err error) {
	defer wrap(&err, "delete theme")
	if _, ok := id.Parse(id.Theme, themeID); !ok {
		return fault.NotFound
	}
	return s.write(ctx, owner, func(t db.Tx) error { return checkAffected(t.Exec(deleteThemeSQL, owner, themeID)) })
}

// themeBatch is how many forms one request gives a theme.
const themeBatch = 100

// ApplyTheme gives the drafts of an account's forms the design of a theme, the oldest first.
// Respondents see it when the forms are published. One call changes a batch of them and
// returns where the next one starts; 0: there are no more. After an error, the rest is
// unchanged.
func (s *Store) ApplyTheme(ctx context.Context, owner, themeID string, from int64, now time.Time) (next int64, err error) {
	defer wrap(&err, "apply theme")
	t, err := readTheme(s.query(ctx), owner, themeID)
	if err != nil {
		return 0, err
	}
	forms, total, err := s.Forms(ctx, owner, FormFilter{}, "created_at", Page{Limit: themeBatch, Offset: from})
	if err != nil {
		return 0, err
	}
	for _, f := range forms {
		if err := s.applyThemeTo(ctx, owner, f.ID, t, now); err != nil && !errors.Is(err, fault.NotFound) { // it may be deleted while this runs
			return 0, err
		}
	}
	if next = from + themeBatch; len(forms) < themeBatch || next >= total {
		next = 0
	}
	return next, nil
}

func (s *Store) applyThemeTo(ctx context.Context, owner, formID string, t Theme, now time.Time) error {
	d, err := s.Draft(ctx, owner, formID)
	if err != nil || t.ApplyTo(d.Design) == d.Design {
		return err
	}
	_, err = s.UpdateForm(ctx, owner, FormRevision{ID: formID}, func(p *form.FormInput) error {
		p.Definition.Design = t.ApplyTo(p.Definition.Design)
		return nil
	}, now)
	return err
}
