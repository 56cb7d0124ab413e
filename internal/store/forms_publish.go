package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

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
	statusSQL = `UPDATE form SET status = $3, updated_at = $4 WHERE account_id = $1 AND id = $2`
	publicSQL = `SELECT f.account_id, f.id, f.status, f.version, COALESCE(v.title, f.title), COALESCE(v.description, f.description),
		COALESCE(v.language, f.language), f.slug, f.opens_at, f.closes_at, f.response_limit, f.sites
		FROM form_address a JOIN form f ON f.account_id = a.account_id AND f.id = a.form_id
		LEFT JOIN form_version v ON v.account_id = f.account_id AND v.form_id = f.id AND v.version = f.version
		WHERE a.address = $1 AND a.account_id = $2 AND f.account_id = $2`
	ownerSQL = `SELECT account_id FROM form_address WHERE address = $1`
)

// Draft is the definition that the owner is working on.
func (s *Store) Draft(ctx context.Context, owner, id string) (*form.Definition, error) {
	return readDraft(s.query(ctx), owner, id)
}

func readDraft(q querier, owner, id string) (*form.Definition, error) {
	var text string
	err := one(q, draftSQL, []any{owner, id}, &text)
	if errors.Is(err, fault.NotFound) {
		return noDraft(), nil
	}
	if err != nil {
		return nil, err
	}
	return parseDefinition(text)
}

// noDraft is the draft of a form that asks nothing yet.
func noDraft() *form.Definition { return &form.Definition{Fields: []*form.Field{}} }

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

// Publish makes the draft the version that people see, and opens the form; once as in
// CreatePlan.
func (s *Store) Publish(ctx context.Context, owner, id string, revision int64, once Once, now time.Time) (form.Form, error) {
	var f form.Form
	// Options with a cap are counted by what is summed up, so that is done first, while
	// nobody waits.
	if d, err := s.Draft(ctx, owner, id); err == nil && d.HasCaps() {
		if _, err := s.Summary(ctx, owner, id); err != nil {
			return f, err
		}
	}
	err := s.write(ctx, owner, func(t tx) error {
		// Before the key is claimed, for a form that is not there has none.
		if _, err := readForm(t.Query, owner, id); err != nil {
			return err
		}
		earlier, err := once.claim(t, owner, id, now)
		if err != nil {
			return err
		}
		if earlier != "" {
			f, err = readForm(t.Query, owner, id) // whoever had the key has published meanwhile
			return err
		}
		if f, err = lockForm(t, owner, id, revision); err != nil {
			return err
		}
		d, err := readDraft(t.Query, owner, id)
		if err != nil {
			return err
		}
		switch {
		case len(d.Fields) == 0:
			return fault.Field("fields", "a form without a question cannot be published")
		case f.ResponseLimit > 0 && f.ResponseCount >= f.ResponseLimit:
			return fault.Field("response_limit", "the form has all the responses that it may have")
		case !f.ClosesAt.IsZero() && !now.Before(f.ClosesAt):
			return fault.Field("closes_at", "the form's closing date has passed")
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
		if err := s.recountOptions(t, owner, id, d); err != nil {
			return err
		}
		return recount(t, owner, &f, form.Open)
	})
	return f, err
}

// CloseForm ends the taking of responses, until the form is opened again.
func (s *Store) CloseForm(ctx context.Context, owner, id string, revision int64, now time.Time) (form.Form, error) {
	return s.setStatus(ctx, owner, id, revision, form.Open, form.Closed, now)
}

// ReopenForm takes responses again, to the version that was published last.
func (s *Store) ReopenForm(ctx context.Context, owner, id string, revision int64, now time.Time) (form.Form, error) {
	return s.setStatus(ctx, owner, id, revision, form.Closed, form.Open, now)
}

func (s *Store) setStatus(ctx context.Context, owner, id string, revision int64, from, to form.Status, now time.Time) (form.Form, error) {
	var f form.Form
	err := s.write(ctx, owner, func(t tx) error {
		var err error
		if f, err = lockForm(t, owner, id, revision); err != nil {
			return err
		}
		switch {
		case f.At(now).Status != from:
			return fault.New(fault.FormNotOpen, "The form is not %s.", from)
		case to == form.Open && f.ResponseLimit > 0 && f.ResponseCount >= f.ResponseLimit:
			return fault.Field("response_limit", "the form has all the responses that it may have")
		case to == form.Open && f.At(now).Status != f.Status, to == form.Open && !f.ClosesAt.IsZero() && !now.Before(f.ClosesAt):
			return fault.Field("closes_at", "the form's closing date has passed")
		}
		return moveTo(t, owner, &f, to, now)
	})
	return f, err
}

// moveTo gives a form that is locked another status.
func moveTo(t tx, owner string, f *form.Form, to form.Status, now time.Time) error {
	f.UpdatedAt = at(max(ms(now), ms(f.UpdatedAt)+1))
	if _, err := t.Exec(statusSQL, owner, f.ID, string(to), ms(f.UpdatedAt)); err != nil {
		return err
	}
	return recount(t, owner, f, to)
}

const dueSQL = `SELECT account_id, id FROM form WHERE closes_at > 0 AND closes_at <= $1 AND status = 'open' LIMIT $2`

const dueBatch = 100

// CloseDue closes the forms whose closing date has passed. Nobody could answer
// them any more; this is what lists and counts go by, so who asks for a status has
// them closed first.
func (s *Store) CloseDue(ctx context.Context, now time.Time) error {
	for {
		n, err := s.closeSomeDue(ctx, now)
		if err != nil || n < dueBatch {
			return err
		}
	}
}

func (s *Store) closeSomeDue(ctx context.Context, now time.Time) (int, error) {
	var due [][2]string
	err := s.db.Query(ctx, dueSQL, func(r row) error {
		var f [2]string
		err := r.Scan(&f[0], &f[1])
		due = append(due, f)
		return err
	}, ms(now), dueBatch)
	if err != nil {
		return 0, err
	}
	for _, f := range due {
		err := s.write(ctx, f[0], func(t tx) error {
			locked, err := lockForm(t, f[0], f[1], 0)
			if err != nil || locked.Status != form.Open || locked.At(now).Status == form.Open {
				return err
			}
			return moveTo(t, f[0], &locked, form.Closed, now)
		})
		if err != nil && !errors.Is(err, fault.NotFound) {
			return 0, err
		}
	}
	return len(due), nil
}

// DuplicateForm makes a draft that asks what another one asks; once as in
// CreatePlan.
func (s *Store) DuplicateForm(ctx context.Context, owner, id string, once Once, now time.Time) (form.Form, error) {
	f, err := s.Form(ctx, owner, id)
	if err != nil {
		return f, err
	}
	d, err := s.Draft(ctx, owner, id)
	if err != nil {
		return f, err
	}
	title := f.Title
	if cut := []rune(title); len(cut) > form.MaxTitle-len(copied) {
		title = string(cut[:form.MaxTitle-len(copied)])
	}
	plan := form.Plan{Head: form.Head{Title: title + copied, Description: f.Description, Language: f.Language}, Offer: f.Offer, Definition: d}
	plan.Slug = ""
	return s.CreatePlan(ctx, owner, plan, once, now)
}

// copied ends the title of a copy.
const copied = " (copy)"

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

// PublicForm is a form as respondents see it. Many share it: it is not to be changed.
type PublicForm struct {
	Owner      string
	ID         string
	Status     form.Status
	Version    int64
	Head       form.Head
	Offer      form.Offer
	Definition *form.Definition

	Mark Mark // when this was true, for what is made of it
}

// OpenAt says whether the form takes responses at the moment.
func (p *PublicForm) OpenAt(now time.Time) bool {
	return p.Status == form.Open && (p.Offer.ClosesAt.IsZero() || now.Before(p.Offer.ClosesAt)) && !now.Before(p.Offer.OpensAt)
}

// maxPublic is how many forms are kept ready for respondents, beside what their
// versions ask.
const maxPublic = 10_000

// PublicForm finds a form by its id or slug alone: what was published last.
// Before the first time it is not open and asks nothing.
func (s *Store) PublicForm(ctx context.Context, address string) (*PublicForm, error) {
	if owner, ok := s.owners.of(address); ok {
		p, mark, ok := s.public.Get(owner, address)
		if ok {
			return p, nil
		}
		p, err := s.readPublicForm(ctx, owner, address, mark)
		if !errors.Is(err, fault.NotFound) {
			if err == nil {
				s.public.Put(address, mark, p, 1)
			}
			return p, err
		}
		s.owners.forget(address) // it may have become somebody else's
	}
	if address == "" || len(address) > maxAddress || strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fault.NotFound
	}
	var owner string
	if err := one(s.query(ctx), ownerSQL, []any{address}, &owner); err != nil {
		return nil, err
	}
	p, err := s.readPublicForm(ctx, owner, address, Mark{})
	if err == nil {
		s.owners.keep(address, owner)
	}
	return p, err
}

// addresses remember whose form is at which address, of so many that they need no
// more room than the forms that are kept ready.
type addresses struct {
	owners sync.Map
	n      atomic.Int64
}

func (a *addresses) of(address string) (owner string, ok bool) {
	known, ok := a.owners.Load(address)
	if ok {
		owner = known.(string)
	}
	return owner, ok
}

func (a *addresses) keep(address, owner string) {
	if _, known := a.owners.Swap(address, owner); !known && a.n.Add(1) > maxPublic {
		a.owners.Clear()
		a.n.Store(0)
	}
}

func (a *addresses) forget(address string) {
	if _, known := a.owners.LoadAndDelete(address); known {
		a.n.Add(-1)
	}
}

const maxAddress = 64

// readPublicForm reads a form whose owner is known, so that the database knows on
// which machine to look.
func (s *Store) readPublicForm(ctx context.Context, owner, address string, mark Mark) (*PublicForm, error) {
	p := &PublicForm{Mark: mark}
	var status string
	var opens, closes int64
	err := one(s.query(ctx), publicSQL, []any{address, owner}, &p.Owner, &p.ID, &status, &p.Version, &p.Head.Title, &p.Head.Description, &p.Head.Language,
		&p.Offer.Slug, &opens, &closes, &p.Offer.ResponseLimit, &p.Offer.Sites)
	if err != nil {
		return nil, err
	}
	p.Offer.OpensAt, p.Offer.ClosesAt = at(opens), at(closes)
	p.Status = form.Status(status)
	if p.Version == 0 {
		p.Definition = &form.Definition{Fields: []*form.Field{}}
		return p, nil
	}
	// A version never changes: what it asks is read and understood once.
	if p.Definition, err = s.Definition(ctx, p.Owner, p.ID, p.Version); err != nil {
		return nil, err
	}
	return p, nil
}
