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

	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/form"
)

const (
	draftSQL     = `SELECT definition FROM form_draft WHERE account_id = $1 AND form_id = $2`
	saveDraftSQL = `INSERT INTO form_draft (account_id, form_id, definition) VALUES ($1, $2, $3)
		ON CONFLICT (account_id, form_id) DO UPDATE SET definition = excluded.definition`
	publishSQL = `UPDATE form SET version = version + 1, revision = revision + 1, status = 'open', updated_at = $3
		WHERE account_id = $1 AND id = $2 RETURNING version`
	bumpRevisionSQL     = `UPDATE form SET revision = revision + 1 WHERE account_id = $1 AND id = $2`
	publishedVersionSQL = `SELECT title, description, language, definition FROM form_version WHERE account_id = $1 AND form_id = $2 AND version = $3`
	insertVersionSQL    = `INSERT INTO form_version (account_id, form_id, version, title, description, language, definition, published_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`
	statusSQL = `UPDATE form SET status = $3, updated_at = $4 WHERE account_id = $1 AND id = $2`
	publicSQL = `SELECT f.account_id, f.id, f.status, f.version, COALESCE(v.title, f.title), COALESCE(v.description, f.description),
		COALESCE(v.language, f.language), f.slug, f.opens_at, f.closes_at, f.response_limit, f.sites
		FROM form_address a JOIN form f ON f.account_id = a.account_id AND f.id = a.form_id
		LEFT JOIN form_version v ON v.account_id = f.account_id AND v.form_id = f.id AND v.version = f.version
		WHERE a.address = $1 AND a.account_id = $2 AND f.account_id = $2 AND a.released_at = 0`
	ownerSQL = `SELECT account_id FROM form_address WHERE address = $1 AND released_at = 0`
)

// Draft is the definition that the owner is working on.
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

// noDraft is the draft of a form that asks nothing yet.
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

// Publish makes the draft the version that respondents see, and opens the form; once as
// in CreateFormFrom. A draft that is the same as the published version makes no new one, and
// still opens a closed form. The draft is read and encoded before the transaction.
func (s *Store) Publish(ctx context.Context, owner string, target FormRevision, once IdempotencyKey, now time.Time) (_ form.Form, err error) {
	defer wrap(&err, "publish form")
	return retryConflict(target.Revision, func() (form.Form, error) {
		f, d, err := s.FormDraft(ctx, owner, target.ID)
		if err != nil {
			return f, err
		}
		// Options with a limit are counted from the summary. Bringing it up to date here
		// leaves little of that to the transaction.
		if d.HasOptionLimits() {
			if _, err := s.Summary(ctx, owner, target.ID); err != nil {
				return f, err
			}
		}
		draft, err := encodeDraft(d)
		if err != nil {
			return f, err
		}
		if err := s.reserve(ctx, owner, int64(len(draft))); err != nil && !s.isRepeated(ctx, owner, once) {
			if same, lookup := isPublished(s.query(ctx), owner, f, draft); lookup != nil || !same {
				return f, err
			}
		}
		return s.publish(ctx, owner, publication{read: f, revision: target.Revision, definition: d, text: draft, once: once}, now)
	})
}

// publication is a draft on its way to becoming a version.
type publication struct {
	read       form.Form // as it was when the draft was read
	revision   int64     // that the caller insists on; 0: any
	definition *form.Definition
	text       string
	once       IdempotencyKey
}

func (s *Store) publish(ctx context.Context, owner string, p publication, now time.Time) (form.Form, error) {
	var f form.Form
	err := s.write(ctx, owner, func(t db.Tx) error {
		id := p.read.ID
		// Before the key is claimed, for a form that is not there has none.
		if _, err := readForm(t.Query, owner, id); err != nil {
			return err
		}
		earlier, err := p.once.claim(t, owner, id, now)
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
			return fault.InvalidField("fields", "a form without a question cannot be published")
		case f.ResponseLimit > 0 && f.ResponseCount >= f.ResponseLimit:
			return fault.InvalidField("response_limit", "the form has all the responses that it may have")
		case !f.ClosesAt.IsZero() && !now.Before(f.ClosesAt):
			return fault.InvalidField("closes_at", "the form's closing date has passed")
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
			if _, err := t.Exec(bumpRevisionSQL, owner, id); err != nil {
				return err
			}
			return setStatusIn(t, owner, &f, form.Open, now)
		}
		if err := s.quotas.allowVersion(f.Version); err != nil {
			return err
		}
		return s.addVersion(t, owner, &f, p, now)
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
	return recount(t, owner, f, form.Open)
}

// isPublished says whether the form's newest version is exactly its draft.
func isPublished(q querier, owner string, f form.Form, draft string) (bool, error) {
	if f.Version == 0 {
		return false, nil
	}
	var title, description, language, definition string
	err := queryOne(q, publishedVersionSQL, []any{owner, f.ID, f.Version}, &title, &description, &language, &definition)
	same := title == f.Title && description == f.Description && language == f.Language && definition == draft
	return err == nil && same, replaceNotFound(err, nil)
}

// CloseForm ends the taking of responses, until the form is opened again.
func (s *Store) CloseForm(ctx context.Context, owner, id string, revision int64, now time.Time) (_ form.Form, err error) {
	defer wrap(&err, "close form")
	return s.setStatus(ctx, owner, FormRevision{ID: id, Revision: revision}, form.Closed, now)
}

// ReopenForm takes responses again, to the version that was published last.
func (s *Store) ReopenForm(ctx context.Context, owner, id string, revision int64, now time.Time) (_ form.Form, err error) {
	defer wrap(&err, "reopen form")
	return s.setStatus(ctx, owner, FormRevision{ID: id, Revision: revision}, form.Open, now)
}

// setStatus closes a form that is open, or opens one that is closed.
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
			return fault.New(fault.FormNotOpen, "The form is not %s.", from)
		case to == form.Open && f.ResponseLimit > 0 && f.ResponseCount >= f.ResponseLimit:
			return fault.InvalidField("response_limit", "the form has all the responses that it may have")
		case to == form.Open && f.At(now).Status != f.Status, to == form.Open && !f.ClosesAt.IsZero() && !now.Before(f.ClosesAt):
			return fault.InvalidField("closes_at", "the form's closing date has passed")
		}
		return setStatusIn(t, owner, &f, to, now)
	})
	return f, err
}

// setStatusIn gives a form that is locked another status.
func setStatusIn(t db.Tx, owner string, f *form.Form, to form.Status, now time.Time) error {
	f.UpdatedAt = fromMillis(max(toMillis(now), toMillis(f.UpdatedAt)+1))
	if _, err := t.Exec(statusSQL, owner, f.ID, string(to), toMillis(f.UpdatedAt)); err != nil {
		return err
	}
	return recount(t, owner, f, to)
}

// DuplicateForm makes a draft that asks what another one asks; once as in
// CreateFormFrom.
func (s *Store) DuplicateForm(ctx context.Context, owner, id string, once IdempotencyKey, now time.Time) (_ form.Form, err error) {
	defer wrap(&err, "duplicate form")
	f, err := s.Form(ctx, owner, id)
	if err != nil {
		return f, err
	}
	d, err := s.Draft(ctx, owner, id)
	if err != nil {
		return f, err
	}
	title := f.Title
	if cut := []rune(title); len(cut) > form.MaxTitle-len(copySuffix) {
		title = string(cut[:form.MaxTitle-len(copySuffix)])
	}
	plan := form.FormInput{Header: form.Header{Title: title + copySuffix, Description: f.Description, Language: f.Language}, Availability: f.Availability, Definition: d}
	plan.Slug = ""
	return s.CreateFormFrom(ctx, owner, plan, once, now)
}

// copySuffix ends the title of a copy.
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

// PublicForm is a form as respondents see it. Many share it: it is not to be changed.
type PublicForm struct {
	Owner      string
	ID         string
	Status     form.Status
	Version    int64
	Header     form.Header
	Offer      form.Availability
	Definition *form.Definition

	Mark Generation // when this was true, for what is made of it
}

// IsOpenAt says whether the form takes responses at the moment.
func (p *PublicForm) IsOpenAt(now time.Time) bool {
	return p.Status == form.Open && (p.Offer.ClosesAt.IsZero() || now.Before(p.Offer.ClosesAt)) && !now.Before(p.Offer.OpensAt)
}

// publicBytes is how many bytes of forms are kept ready for respondents, and maxAddresses
// how many addresses of forms are known.
const (
	publicBytes  = 16 << 20
	maxAddresses = 10_000
)

// size estimates what the form takes in memory.
func (p *PublicForm) size() int64 {
	return 1024 + int64(len(p.Header.Title)+len(p.Header.Description)+len(p.Offer.Sites)) + p.Definition.Size()
}

// PublicForm finds a form by its id or slug alone: what was published last.
// Before the first time it is not open and asks nothing.
func (s *Store) PublicForm(ctx context.Context, address string) (_ *PublicForm, err error) {
	defer wrap(&err, "read public form")
	if owner, ok := s.owners.of(address); ok {
		p, mark, ok := s.public.Get(owner, address)
		if ok {
			return p, nil
		}
		p, err := s.readPublicForm(ctx, owner, address, mark)
		if !errors.Is(err, fault.NotFound) {
			if err == nil {
				s.public.Put(address, mark, p, p.size())
			}
			return p, err
		}
		s.owners.forget(address) // it may have become somebody else's
	}
	if address == "" || len(address) > maxAddress || strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fault.NotFound
	}
	var owner string
	if err := queryOne(s.query(ctx), ownerSQL, []any{address}, &owner); err != nil {
		return nil, err
	}
	p, err := s.readPublicForm(ctx, owner, address, Generation{})
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
	if _, known := a.owners.Swap(address, owner); !known && a.n.Add(1) > maxAddresses {
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
func (s *Store) readPublicForm(ctx context.Context, owner, address string, mark Generation) (*PublicForm, error) {
	ctx = forRespondents(ctx, owner)
	p := &PublicForm{Mark: mark}
	var status string
	var opens, closes int64
	err := queryOne(s.query(ctx), publicSQL, []any{address, owner}, &p.Owner, &p.ID, &status, &p.Version, &p.Header.Title, &p.Header.Description, &p.Header.Language,
		&p.Offer.Slug, &opens, &closes, &p.Offer.ResponseLimit, &p.Offer.Sites)
	if err != nil {
		return nil, err
	}
	p.Offer.OpensAt, p.Offer.ClosesAt = fromMillis(opens), fromMillis(closes)
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
