package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/form"
)

const (
	draftSQL     = `SELECT definition FROM form_draft WHERE account_id = $1 AND form_id = $2`
	saveDraftSQL = `INSERT INTO form_draft (account_id, form_id, definition, design) VALUES ($1, $2, $3, $4)
		ON CONFLICT (account_id, form_id) DO UPDATE SET definition = excluded.definition, design = excluded.design`
	publishSQL = `UPDATE form SET version = version + 1, revision = revision + 1, status = 'open', updated_at = $3
		WHERE account_id = $1 AND id = $2 RETURNING version`
	incrementRevisionSQL = `UPDATE form SET revision = revision + 1 WHERE account_id = $1 AND id = $2`
	publishedVersionSQL  = `SELECT title, description, language, definition FROM form_version WHERE account_id = $1 AND form_id = $2 AND version = $3`
	insertVersionSQL     = `INSERT INTO form_version (account_id, form_id, version, title, description, language, definition, published_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`
	statusSQL = `UPDATE form SET status = $3, updated_at = $4, closed_at = $5 WHERE account_id = $1 AND id = $2`
)

// Draft returns the definition that the owner is editing.
func (s *Store) Draft(ctx context.Context, owner, id string) (_ *form.Definition, err error) {
	defer wrap(&err, "read draft")
	return readDraft(s.query(ctx), owner, id)
}

func readDraft(q querier, owner, id string) (*form.Definition, error) {
	var text string
	err := queryOne(q, draftSQL, []any{owner, id}, &text)
	if errors.Is(err, fault.NotFound) {
		return noDraft(), nil
	}
	if err != nil {
		return nil, err
	}
	return parseDefinition(text)
}

// noDraft returns the draft of a form without questions.
func noDraft() *form.Definition { return &form.Definition{Fields: []*form.Field{}} }

func parseDefinition(text string) (*form.Definition, error) {
	var d form.Definition
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		return nil, fmt.Errorf("stored definition: %w", err)
	}
	return &d, nil
}

func encodeDraft(d *form.Definition) (string, error) {
	text, err := json.Marshal(d)
	if err != nil {
		return "", fmt.Errorf("encode definition: %w", err)
	}
	return string(text), nil
}

// Publish makes the draft the version that respondents see, and opens the form. The
// idempotency key works as in CreateFormFrom. A draft that equals the published version
// creates no new version, but still opens a closed form. The draft is read and encoded
// before the transaction.
func (s *Store) Publish(ctx context.Context, owner string, target FormRevision, key IdempotencyKey, now time.Time) (_ form.Form, err error) {
	defer wrap(&err, "publish form")
	return retryConflict(target.Revision, func() (form.Form, error) {
		f, d, err := s.FormDraft(ctx, owner, target.ID)
		if err != nil {
			return f, err
		}
		if err := d.CheckPublish(); err != nil {
			return f, err
		}
		if err := s.checkPictures(ctx, owner, d.Pictures()); err != nil {
			return f, err
		}
		// Options with a limit are counted from the summary. Updating it here leaves
		// less work to the transaction.
		if d.HasOptionLimits() {
			if _, err := s.Summary(ctx, owner, target.ID); err != nil {
				return f, err
			}
		}
		draft, err := encodeDraft(d)
		if err != nil {
			return f, err
		}
		growth, err := s.publishGrowth(ctx, owner, f, draft)
		if err != nil {
			return f, err
		}
		if err := s.reserve(ctx, owner, growth); err != nil && !s.isRepeated(ctx, owner, key) {
			return f, err
		}
		return s.publish(ctx, owner, publication{read: f, revision: target.Revision, definition: d, text: draft, key: key}, now)
	})
}

// publishGrowth is what publishing a draft adds to the account's storage: a version, unless it
// exists, and the events of publishing, opening and closing the form.
func (s *Store) publishGrowth(ctx context.Context, owner string, f form.Form, draft string) (int64, error) {
	same, err := isPublished(s.query(ctx), owner, f, draft)
	if err != nil || same && f.Status == form.Open {
		return 0, err
	}
	growth, err := s.eventGrowth(ctx, owner, f.ID, 3)
	if !same {
		growth += int64(len(draft))
	}
	return growth, err
}

// publication is a draft that is being published.
type publication struct {
	read       form.Form // the form when the draft was read
	revision   int64     // required by the caller; 0: any
	definition *form.Definition
	text       string
	key        IdempotencyKey
}

func (s *Store) publish(ctx context.Context, owner string, p publication, now time.Time) (form.Form, error) {
	var f form.Form
	err := s.write(ctx, owner, func(t db.Tx) error {
		id := p.read.ID
		// Check the form before claiming the key: a form that does not exist must not
		// claim one.
		if _, err := readForm(t.Query, owner, id); err != nil {
			return err
		}
		earlier, err := p.key.claim(t, owner, id, now)
		if err != nil {
			return err
		}
		if earlier != "" {
			f, err = readForm(t.Query, owner, id) // the first request with the key has published it
			return err
		}
		if p.revision != 0 && p.revision != p.read.Revision {
			return errConflict
		}
		if f, err = touchForm(t, owner, id, p.read.Revision); err != nil {
			return err
		}
		switch {
		case len(p.definition.Fields) == 0:
			return fault.InvalidField("fields", "add at least one question before you publish")
		case f.ResponseLimit > 0 && f.ResponseCount >= f.ResponseLimit:
			return fault.InvalidField("response_limit", "the form has reached its response limit; raise the limit first")
		case !f.ClosesAt.IsZero() && !now.Before(f.ClosesAt):
			return fault.InvalidField("closes_at", "the form's closing date has passed; change or remove it first")
		}
		same, err := isPublished(t.Query, owner, f, p.text)
		if err != nil {
			return err
		}
		if same && f.Status == form.Open {
			return nil
		}
		f.Revision++
		if same {
			if _, err := t.Exec(incrementRevisionSQL, owner, id); err != nil {
				return err
			}
			if err := updateStatus(t, owner, &f, form.Open, now); err != nil {
				return err
			}
			return recordStatus(ctx, t, owner, f)
		}
		if err := s.quotas.allowVersion(f.Version); err != nil {
			return err
		}
		if err := s.addVersion(t, owner, &f, p, now); err != nil {
			return err
		}
		return recordForm(ctx, t, owner, id, AuditFormPublished, details{"version": strconv.FormatInt(f.Version, 10)})
	})
	return f, err
}

// addVersion stores the draft as the form's next version and opens the form.
func (s *Store) addVersion(t db.Tx, owner string, f *form.Form, p publication, now time.Time) error {
	f.UpdatedAt = fromMillis(max(toMillis(now), toMillis(f.UpdatedAt)+1))
	if err := queryOne(t.Query, publishSQL, []any{owner, f.ID, toMillis(f.UpdatedAt)}, &f.Version); err != nil {
		return err
	}
	if _, err := t.Exec(insertVersionSQL, owner, f.ID, f.Version, f.Title, f.Description, f.Language, p.text, toMillis(now)); err != nil {
		return err
	}
	if _, err := t.Exec(addStoredSQL, owner, f.ID, len(p.text)); err != nil {
		return err
	}
	if err := claimSlug(t, owner, f.ID, f.Slug, now); err != nil {
		return err
	}
	if err := s.recountOptions(t, owner, f.ID, p.definition); err != nil {
		return err
	}
	if err := addEvents(t, owner, f.ID, now, newEvent{kind: FormPublished, version: f.Version}); err != nil {
		return err
	}
	before := f.Status
	if err := recount(t, owner, f, form.Open); err != nil {
		return err
	}
	return trackOpening(t, owner, *f, before, now)
}

// isPublished reports whether the newest version equals the draft.
func isPublished(q querier, owner string, f form.Form, draft string) (bool, error) {
	if f.Version == 0 {
		return false, nil
	}
	var title, description, language, definition string
	err := queryOne(q, publishedVersionSQL, []any{owner, f.ID, f.Version}, &title, &description, &language, &definition)
	same := title == f.Title && description == f.Description && language == f.Language && definition == draft
	return err == nil && same, replaceNotFound(err, nil)
}

// CloseForm stops accepting responses until the form is reopened.
func (s *Store) CloseForm(ctx context.Context, owner, id string, revision int64, now time.Time) (_ form.Form, err error) {
	defer wrap(&err, "close form")
	return s.setStatus(ctx, owner, FormRevision{ID: id, Revision: revision}, form.Closed, now)
}

// ReopenForm accepts responses to the live version again.
func (s *Store) ReopenForm(ctx context.Context, owner, id string, revision int64, now time.Time) (_ form.Form, err error) {
	defer wrap(&err, "reopen form")
	growth, err := s.eventGrowth(ctx, owner, id, 2)
	if err != nil {
		return form.Form{}, err
	}
	if err := s.reserve(ctx, owner, growth); err != nil {
		return form.Form{}, err
	}
	return s.setStatus(ctx, owner, FormRevision{ID: id, Revision: revision}, form.Open, now)
}

// setStatus closes an open form, or opens a closed one.
func (s *Store) setStatus(ctx context.Context, owner string, target FormRevision, to form.Status, now time.Time) (form.Form, error) {
	from := form.Open
	if to == form.Open {
		from = form.Closed
	}
	var f form.Form
	err := s.write(ctx, owner, func(t db.Tx) error {
		var err error
		if f, err = lockForm(t, owner, target.ID, target.Revision); err != nil {
			return err
		}
		switch {
		case f.At(now).Status != from:
			if from == form.Closed {
				return fault.New(fault.FormNotOpen, "The form is not closed.")
			}
			return errNotOpen
		case to == form.Open && f.ResponseLimit > 0 && f.ResponseCount >= f.ResponseLimit:
			return fault.InvalidField("response_limit", "the form has reached its response limit; raise the limit first")
		case to == form.Open && f.At(now).Status != f.Status, to == form.Open && !f.ClosesAt.IsZero() && !now.Before(f.ClosesAt):
			return fault.InvalidField("closes_at", "the form's closing date has passed; change or remove it first")
		}
		if err := updateStatus(t, owner, &f, to, now); err != nil {
			return err
		}
		return recordStatus(ctx, t, owner, f)
	})
	return f, err
}

// updateStatus changes the status of a form that the transaction has locked.
func updateStatus(t db.Tx, owner string, f *form.Form, to form.Status, now time.Time) error {
	f.UpdatedAt = fromMillis(max(toMillis(now), toMillis(f.UpdatedAt)+1))
	closedAt := int64(0)
	if to == form.Closed {
		closedAt = toMillis(now)
	}
	if _, err := t.Exec(statusSQL, owner, f.ID, string(to), toMillis(f.UpdatedAt), closedAt); err != nil {
		return err
	}
	before := f.Status
	if err := recount(t, owner, f, to); err != nil {
		return err
	}
	return trackOpening(t, owner, *f, before, now)
}

// DuplicateForm creates a draft with the questions and settings of another form. The
// idempotency key works as in CreateFormFrom.
func (s *Store) DuplicateForm(ctx context.Context, owner, id string, key IdempotencyKey, now time.Time) (_ form.Form, err error) {
	defer wrap(&err, "duplicate form")
	f, err := s.Form(ctx, owner, id)
	if err != nil {
		return f, err
	}
	d, err := s.Draft(ctx, owner, id)
	if err != nil {
		return f, err
	}
	kept, err := s.Retention(ctx, owner, id)
	if err != nil {
		return f, err
	}
	title := f.Title
	if runes := []rune(title); len(runes) > form.MaxTitle-len(copySuffix) {
		title = string(runes[:form.MaxTitle-len(copySuffix)])
	}
	input := form.FormInput{Header: form.Header{Title: title + copySuffix, Description: f.Description, Language: f.Language}, Availability: f.Availability, Definition: d, Folder: f.Folder, RetentionDays: kept.Days}
	input.Slug = ""
	return s.CreateFormFrom(ctx, owner, input, key, now)
}

// copySuffix is appended to the title of a copy.
const copySuffix = " (copy)"

// recount moves a form from one status to another in the counts.
func recount(t db.Tx, owner string, f *form.Form, to form.Status) error {
	if f.Status == to {
		return nil
	}
	if _, err := t.Exec(countFormSQL, owner, string(f.Status), f.Language, -1); err != nil {
		return err
	}
	f.Status = to
	_, err := t.Exec(countFormSQL, owner, string(to), f.Language, 1)
	return err
}

var errNotOpen = fault.New(fault.FormNotOpen, "The form is not open.")
