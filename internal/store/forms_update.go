package store

import (
	"context"
	"errors"
	"time"

	"formulary/internal/db"
	"formulary/internal/id"

	"formulary/internal/fault"
	"formulary/internal/form"
)

const (
	lockFormSQL   = `UPDATE form SET revision = revision + 1 WHERE account_id = $1 AND id = $2 RETURNING ` + formColumns
	touchFormSQL  = `UPDATE form SET revision = revision WHERE account_id = $1 AND id = $2 RETURNING ` + formColumns
	updateFormSQL = `UPDATE form SET title = $3, description = $4, language = $5, updated_at = $6, title_key = $7, search_key = $8,
		slug = $9, opens_at = $10, closes_at = $11, response_limit = $12, sites = $13, revision = revision + 1
		WHERE account_id = $1 AND id = $2`
)

// maxUpdateTries limits how often a change is computed again because the form changed
// between reading and locking it.
const maxUpdateTries = 5

// FormRevision identifies a form and the revision that it must still have; 0: any.
type FormRevision struct {
	ID       string
	Revision int64
}

// UpdateForm applies change to a form; the published version does not change. If the
// form has another revision than the target, the result is 409001. change validates the
// form and may run several times. It runs outside of the transaction, so that expensive
// or invalid changes do not block other writers.
func (s *Store) UpdateForm(ctx context.Context, owner string, target FormRevision, change func(*form.FormInput) error, now time.Time) (_ form.Form, err error) {
	defer wrap(&err, "update form")
	return retryConflict(target.Revision, func() (form.Form, error) {
		f, d, err := s.FormDraft(ctx, owner, target.ID)
		if err != nil {
			return f, err
		}
		if target.Revision != 0 && f.Revision != target.Revision {
			return f, errConflict
		}
		c := formChange{before: f}
		if c.draft, err = encodeDraft(d); err != nil {
			return f, err
		}
		c.input = form.FormInput{Header: form.Header{Title: f.Title, Description: f.Description, Language: f.Language}, Availability: f.Availability, Definition: d}
		questions, unfinished := d.Content(), d.Unfinished
		if err := change(&c.input); err != nil {
			return f, err
		}
		// Changes by others than the builder replace what is in progress there.
		if in := c.input.Definition; unfinished != nil && in.Unfinished == unfinished && in.Content() != questions {
			in.Unfinished = nil
		}
		after, err := encodeDraft(c.input.Definition)
		if err != nil {
			return f, err
		}
		if c.design, err = encodeDesign(c.input.Definition); err != nil {
			return f, err
		}
		c.definitionChanged = after != c.draft
		c.growth = int64(len(after) - len(c.draft))
		c.draft = after
		var events int64
		if f.Status == form.Open && !c.input.OpensAt.Equal(f.OpensAt) {
			if events, err = s.eventGrowth(ctx, owner, f.ID, 2); err != nil {
				return f, err
			}
		}
		if err := s.reserve(ctx, owner, c.growth+events); err != nil {
			return f, err
		}
		return s.applyChange(ctx, owner, c, now)
	})
}

// retryConflict calls try again while another request changed the form first, unless
// the caller requires a revision.
func retryConflict(revision int64, try func() (form.Form, error)) (form.Form, error) {
	for n := 1; ; n++ {
		f, err := try()
		if revision != 0 || n == maxUpdateTries || !errors.Is(err, errConflict) {
			return f, err
		}
	}
}

// formChange is a change that was validated against one revision of the form.
type formChange struct {
	before            form.Form
	input             form.FormInput
	draft             string // the definition to store
	design            string // that of the draft
	definitionChanged bool   // the definition differs from the stored one
	growth            int64  // bytes that the draft grows by
}

// applyChange stores a change if the form still has the revision it was computed for.
// Empty changes are committed too, because the caller reports them as stored.
func (s *Store) applyChange(ctx context.Context, owner string, c formChange, now time.Time) (form.Form, error) {
	var f form.Form
	err := s.write(ctx, owner, func(t db.Tx) error {
		var err error
		if f, err = touchForm(t, owner, c.before.ID, c.before.Revision); err != nil {
			return err
		}
		input := c.input
		head := form.Header{Title: f.Title, Description: f.Description, Language: f.Language}
		if !c.definitionChanged && input.Header == head && input.Availability == f.Availability {
			return nil
		}
		if c.definitionChanged {
			if _, err := t.Exec(saveDraftSQL, owner, f.ID, c.draft, c.design); err != nil {
				return err
			}
			if _, err := t.Exec(addStoredSQL, owner, f.ID, c.growth); err != nil {
				return err
			}
		}
		if input.Language != f.Language {
			if _, err := t.Exec(countFormSQL, owner, string(f.Status), f.Language, -1); err != nil {
				return err
			}
			if _, err := t.Exec(countFormSQL, owner, string(f.Status), input.Language, 1); err != nil {
				return err
			}
		}
		if err := changeSlug(t, owner, f, input.Slug, now); err != nil {
			return err
		}
		before, moved := f, !input.OpensAt.Equal(f.OpensAt)
		f.Title, f.Description, f.Language, f.Availability = input.Title, input.Description, input.Language, input.Availability
		f.Revision++
		f.UpdatedAt = fromMillis(max(toMillis(now), toMillis(f.UpdatedAt)+1)) // strictly increasing, even within one millisecond
		if _, err := t.Exec(updateFormSQL, owner, f.ID, f.Title, f.Description, f.Language, toMillis(f.UpdatedAt), form.SearchKey(f.Title), searchKey(input.Header),
			f.Slug, toMillis(f.OpensAt), toMillis(f.ClosesAt), f.ResponseLimit, f.Sites); err != nil {
			return err
		}
		if err := recordSettings(ctx, t, owner, before, f); err != nil {
			return err
		}
		if f.Status == form.Open && moved {
			if err := trackOpening(t, owner, f, f.Status, now); err != nil {
				return err
			}
		}
		if f.Status == form.Open && f.ResponseLimit > 0 && f.ResponseCount >= f.ResponseLimit {
			return updateStatus(t, owner, &f, form.Closed, now) // the new limit is already reached
		}
		return nil
	})
	return f, err
}

var errConflict = fault.New(fault.Conflict, "The form has changed since you read it. Fetch it again and repeat your change.")

// lockForm increments the revision and locks the form's row until the transaction ends.
// A revision other than zero must match.
func lockForm(t db.Tx, owner, formID string, revision int64) (form.Form, error) {
	f, err := lockFormWith(t, lockFormSQL, owner, formID)
	if err == nil && revision != 0 && f.Revision != revision+1 {
		return f, errConflict
	}
	return f, err
}

// touchForm is lockForm without a new revision.
func touchForm(t db.Tx, owner, formID string, revision int64) (form.Form, error) {
	f, err := lockFormWith(t, touchFormSQL, owner, formID)
	if err == nil && f.Revision != revision {
		return f, errConflict
	}
	return f, err
}

func lockFormWith(t db.Tx, sql, owner, formID string) (form.Form, error) {
	f, err := form.Form{}, error(fault.NotFound)
	if _, ok := id.Parse(id.Form, formID); !ok {
		return f, err
	}
	if e := t.Query(sql, func(r db.Row) error {
		f, err = scanForm(r)
		return err
	}, owner, formID); e != nil {
		return f, e
	}
	return f, err
}
