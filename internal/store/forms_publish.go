package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/form"
)

const (
	draftSQL     = `SELECT definition FROM form_draft WHERE account_id = $1 AND form_id = $2`
	saveDraftSQL = `INSERT INTO form_draft (account_id, form_id, definition) VALUES ($1, $2, $3)
		ON CONFLICT (account_id, form_id) DO UPDATE SET definition = excluded.definition`
	publishSQL = `UPDATE form SET version = version + 1, status = 'open', updated_at = $3
		WHERE account_id = $1 AND id = $2 RETURNING version`
	insertVersionSQL = `INSERT INTO form_version (account_id, form_id, version, title, description, language, definition, published_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`
	closeSQL  = `UPDATE form SET status = 'closed', updated_at = $3 WHERE account_id = $1 AND id = $2`
	publicSQL = `SELECT f.account_id, f.status, f.version, COALESCE(v.title, f.title), COALESCE(v.description, f.description),
		COALESCE(v.language, f.language), COALESCE(v.definition, '{"fields":[]}')
		FROM form_address a JOIN form f ON f.account_id = a.account_id AND f.id = a.form_id
		LEFT JOIN form_version v ON v.account_id = f.account_id AND v.form_id = f.id AND v.version = f.version
		WHERE a.address = $1`
)

// Draft is the definition that the owner is working on.
func (s *Store) Draft(ctx context.Context, owner, id string) (*form.Definition, error) {
	return readDraft(s.query(ctx), owner, id)
}

func readDraft(q querier, owner, id string) (*form.Definition, error) {
	var text string
	err := one(q, draftSQL, []any{owner, id}, &text)
	if errors.Is(err, fault.NotFound) {
		return &form.Definition{Fields: []*form.Field{}}, nil // nothing was asked yet
	}
	if err != nil {
		return nil, err
	}
	return parseDefinition(text)
}

func parseDefinition(text string) (*form.Definition, error) {
	var d form.Definition
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		return nil, fmt.Errorf("stored definition: %w", err)
	}
	return &d, nil
}

func saveDraft(t tx, owner, id string, d *form.Definition) error {
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	_, err = t.Exec(saveDraftSQL, owner, id, string(text))
	return err
}

// Publish makes the draft the version that people see, and opens the form.
func (s *Store) Publish(ctx context.Context, owner, id string, revision int64, now time.Time) (form.Form, error) {
	var f form.Form
	err := s.write(ctx, owner, func(t tx) error {
		var err error
		if f, err = lockForm(t, owner, id, revision); err != nil {
			return err
		}
		d, err := readDraft(t.Query, owner, id)
		if err != nil {
			return err
		}
		if len(d.Fields) == 0 {
			return fault.Field("fields", "a form without a question cannot be published")
		}
		text, err := json.Marshal(d)
		if err != nil {
			return err
		}
		f.UpdatedAt = at(max(ms(now), ms(f.UpdatedAt)+1))
		if err := one(t.Query, publishSQL, []any{owner, id, ms(f.UpdatedAt)}, &f.Version); err != nil {
			return err
		}
		if _, err := t.Exec(insertVersionSQL, owner, id, f.Version, f.Title, f.Description, f.Language, string(text), ms(now)); err != nil {
			return err
		}
		return recount(t, owner, &f, form.Open)
	})
	return f, err
}

// CloseForm ends the taking of responses, until the form is published again.
func (s *Store) CloseForm(ctx context.Context, owner, id string, revision int64, now time.Time) (form.Form, error) {
	var f form.Form
	err := s.write(ctx, owner, func(t tx) error {
		var err error
		if f, err = lockForm(t, owner, id, revision); err != nil {
			return err
		}
		if f.Status != form.Open {
			return errNotOpen
		}
		f.UpdatedAt = at(max(ms(now), ms(f.UpdatedAt)+1))
		if _, err := t.Exec(closeSQL, owner, id, ms(f.UpdatedAt)); err != nil {
			return err
		}
		return recount(t, owner, &f, form.Closed)
	})
	return f, err
}

// recount moves a form from one status to another in the counts.
func recount(t tx, owner string, f *form.Form, to form.Status) error {
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

// PublicForm is a form as respondents see it.
type PublicForm struct {
	Owner      string
	ID         string
	Open       bool
	Version    int64
	Head       form.Head
	Definition *form.Definition // shared: not to be changed

	weight int // about how much memory it takes
}

// maxPublic is how many bytes of forms are kept ready for respondents.
const maxPublic = 16 << 20

// PublicForm finds a form by its id alone: what was published last. Before the
// first time it is not open and asks nothing.
func (s *Store) PublicForm(ctx context.Context, id string) (PublicForm, error) {
	var mark Mark
	if owner, known := s.owners.Load(id); known {
		var p PublicForm
		var ok bool
		if p, mark, ok = s.public.Get(owner.(string), id); ok {
			return p, nil
		}
	}
	p, err := s.readPublicForm(ctx, id)
	if err == nil {
		s.owners.Store(id, p.Owner)
		s.public.Put(id, mark, p, int64(p.weight))
	}
	return p, err
}

func (s *Store) readPublicForm(ctx context.Context, id string) (PublicForm, error) {
	p := PublicForm{ID: id}
	if _, ok := account.ParseID(account.FormPrefix, id); !ok {
		return p, fault.NotFound
	}
	var status, text string
	err := one(s.query(ctx), publicSQL, []any{id}, &p.Owner, &status, &p.Version, &p.Head.Title, &p.Head.Description, &p.Head.Language, &text)
	if err != nil {
		return p, err
	}
	p.Open, p.weight = form.Status(status) == form.Open, 4*len(text)+1024
	p.Definition, err = parseDefinition(text)
	return p, err
}
