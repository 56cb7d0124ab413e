package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/form"
)

const formColumns = `id, title, description, language, status, version, revision, response_count, created_at, updated_at,
	slug, opens_at, closes_at, response_limit, sites`

func scanForm(r row) (form.Form, error) {
	var f form.Form
	var status string
	var created, updated, opens, closes int64
	err := r.Scan(&f.ID, &f.Title, &f.Description, &f.Language, &status,
		&f.Version, &f.Revision, &f.ResponseCount, &created, &updated,
		&f.Slug, &opens, &closes, &f.ResponseLimit, &f.Sites)
	f.Status, f.CreatedAt, f.UpdatedAt, f.OpensAt, f.ClosesAt = form.Status(status), at(created), at(updated), at(opens), at(closes)
	return f, err
}

const formSQL = `SELECT ` + formColumns + ` FROM form WHERE account_id = $1 AND id = $2`

// Form returns one form of the owner.
func (s *Store) Form(ctx context.Context, owner, id string) (form.Form, error) {
	return readForm(s.query(ctx), owner, id)
}

// FormDraft returns one form of the owner and the definition being worked on.
func (s *Store) FormDraft(ctx context.Context, owner, id string) (form.Form, *form.Definition, error) {
	if _, ok := account.ParseID(account.FormPrefix, id); !ok {
		return form.Form{}, nil, fault.NotFound
	}
	f, err := form.Form{}, error(fault.NotFound)
	var text string
	var drafted bool
	if e := s.db.Ask(ctx, question{formSQL, []any{owner, id}, func(r row) error {
		f, err = scanForm(r)
		return err
	}}, into(&drafted, draftSQL, []any{owner, id}, &text)); e != nil || err != nil {
		return f, nil, cmp.Or(e, err)
	}
	if !drafted {
		return f, noDraft(), nil
	}
	d, err := parseDefinition(text)
	return f, d, err
}

func readForm(q querier, owner, id string) (form.Form, error) {
	if _, ok := account.ParseID(account.FormPrefix, id); !ok {
		return form.Form{}, fault.NotFound
	}
	f, err := form.Form{}, error(fault.NotFound)
	if e := q(formSQL, func(r row) error {
		f, err = scanForm(r)
		return err
	}, owner, id); e != nil {
		return f, e
	}
	return f, err
}

const (
	nextFormSQL = `UPDATE account SET form_serial = form_serial + 1 WHERE id = $1 RETURNING form_serial, form_last_id`
	lastFormSQL = `UPDATE account SET form_last_id = $2 WHERE id = $1`

	insertFormSQL = `INSERT INTO form
		(account_id, id, serial, title, description, language, status, created_at, updated_at, title_key, search_key,
		 slug, opens_at, closes_at, response_limit, sites)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10, $11, $12, $13, $14, $15)`
	addressFormSQL = `INSERT INTO form_address (address, account_id, form_id) VALUES ($1, $2, $3)`
	countFormSQL   = `INSERT INTO form_count (account_id, status, language, n) VALUES ($1, $2, $3, $4)
		ON CONFLICT (account_id, status, language) DO UPDATE SET n = form_count.n + excluded.n`
)

// formList names the forms of an account in list_block.
const formList = "forms"

// CreateForm adds a draft that is offered to everybody, with what it asks if that
// is known; once as in CreatePlan.
func (s *Store) CreateForm(ctx context.Context, owner string, head form.Head, d *form.Definition, once Once, now time.Time) (form.Form, error) {
	return s.CreatePlan(ctx, owner, form.Plan{Head: head, Offer: form.Offer{Sites: form.AnySite}, Definition: d}, once, now)
}

// CreatePlan adds a draft. With a key in once, the same request asked again
// returns the form that the first one made.
func (s *Store) CreatePlan(ctx context.Context, owner string, plan form.Plan, once Once, now time.Time) (form.Form, error) {
	var made form.Form
	err := s.write(ctx, owner, func(t tx) error {
		var serial int64
		var last string
		// This also makes creations in one account wait for each other.
		if err := one(t.Query, nextFormSQL, []any{owner}, &serial, &last); err != nil {
			return err
		}
		id, created := account.NextID(account.FormPrefix, now, last)
		if earlier, err := once.claim(t, owner, id, now); err != nil {
			return err
		} else if earlier != "" {
			if err := rankMiss(t, owner, formList, serial); err != nil {
				return err
			}
			made, err = readForm(t.Query, owner, earlier)
			return notFoundAs(err, fault.New(fault.NoResource, "What this Idempotency-Key made has been deleted since."))
		}
		made = form.Form{
			ID: id, Title: plan.Title, Description: plan.Description, Language: plan.Language,
			Status: form.Draft, Revision: 1, CreatedAt: created, UpdatedAt: created, Offer: plan.Offer,
		}
		if _, err := t.Exec(lastFormSQL, owner, id); err != nil {
			return err
		}
		if _, err := t.Exec(insertFormSQL, owner, id, serial, plan.Title, plan.Description, plan.Language,
			string(form.Draft), ms(created), form.Fold(plan.Title), searchKey(plan.Head),
			plan.Slug, ms(plan.OpensAt), ms(plan.ClosesAt), plan.ResponseLimit, plan.Sites); err != nil {
			return err
		}
		if _, err := t.Exec(countFormSQL, owner, string(form.Draft), plan.Language, 1); err != nil {
			return err
		}
		if _, err := t.Exec(addressFormSQL, id, owner, id); err != nil {
			return err
		}
		if err := moveSlug(t, owner, id, "", plan.Slug); err != nil {
			return err
		}
		if plan.Definition == nil {
			return nil
		}
		return saveDraft(t, owner, id, plan.Definition)
	})
	return made, err
}

const (
	dropSlugSQL  = `DELETE FROM form_address WHERE address = $1 AND account_id = $2 AND form_id = $3`
	claimSlugSQL = addressFormSQL + ` ON CONFLICT (address) DO NOTHING`
)

// moveSlug gives a form another readable address; one that somebody has is taken.
func moveSlug(t tx, owner, id, from, to string) error {
	if from == to {
		return nil
	}
	if from != "" {
		if _, err := t.Exec(dropSlugSQL, from, owner, id); err != nil {
			return err
		}
	}
	if to == "" {
		return nil
	}
	n, err := t.Exec(claimSlugSQL, to, owner, id)
	if err == nil && n == 0 {
		err = fault.Field("slug", "%q is taken by another form", to)
	}
	return err
}

func searchKey(h form.Head) string { return form.Fold(h.Title + "\n" + h.Description) }

const (
	lockFormSQL   = `UPDATE form SET revision = revision + 1 WHERE account_id = $1 AND id = $2 RETURNING ` + formColumns
	updateFormSQL = `UPDATE form SET title = $3, description = $4, language = $5, updated_at = $6, title_key = $7, search_key = $8,
		slug = $9, opens_at = $10, closes_at = $11, response_limit = $12, sites = $13
		WHERE account_id = $1 AND id = $2`
)

// ChangeForm applies change to a form's plan; the version that is published stays
// as it is. A revision other than zero must still be the form's, or the answer is
// 409001.
func (s *Store) ChangeForm(ctx context.Context, owner, id string, revision int64, change func(*form.Plan) error, now time.Time) (form.Form, error) {
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
		before, err := json.Marshal(d)
		if err != nil {
			return err
		}
		head := form.Head{Title: f.Title, Description: f.Description, Language: f.Language}
		plan := form.Plan{Head: head, Offer: f.Offer, Definition: d}
		if err := change(&plan); err != nil {
			return err
		}
		after, err := json.Marshal(plan.Definition)
		if err != nil {
			return err
		}
		asksOther := string(before) != string(after)
		if !asksOther && plan.Head == head && plan.Offer == f.Offer {
			return errUnchanged
		}
		if asksOther {
			if err := saveDraft(t, owner, id, plan.Definition); err != nil {
				return err
			}
		}
		if plan.Language != f.Language {
			if _, err := t.Exec(countFormSQL, owner, string(f.Status), f.Language, -1); err != nil {
				return err
			}
			if _, err := t.Exec(countFormSQL, owner, string(f.Status), plan.Language, 1); err != nil {
				return err
			}
		}
		if err := moveSlug(t, owner, id, f.Slug, plan.Slug); err != nil {
			return err
		}
		f.Title, f.Description, f.Language, f.Offer = plan.Title, plan.Description, plan.Language, plan.Offer
		f.UpdatedAt = at(max(ms(now), ms(f.UpdatedAt)+1)) // it moved, also within one millisecond
		_, err = t.Exec(updateFormSQL, owner, id, f.Title, f.Description, f.Language, ms(f.UpdatedAt), form.Fold(f.Title), searchKey(plan.Head),
			f.Slug, ms(f.OpensAt), ms(f.ClosesAt), f.ResponseLimit, f.Sites)
		if err == nil && f.Status == form.Open && f.ResponseLimit > 0 && f.ResponseCount >= f.ResponseLimit {
			err = moveTo(t, owner, &f, form.Closed, now) // it has all that it may have now
		}
		return err
	})
	if err == errUnchanged {
		f.Revision-- // the count was taken back with the rest
		err = nil
	}
	return f, err
}

// errUnchanged takes a change back that changes nothing.
var errUnchanged = errors.New("nothing changes")

// lockForm counts the revision up, which also keeps others from the row until
// this transaction ends.
func lockForm(t tx, owner, id string, revision int64) (form.Form, error) {
	f, err := form.Form{}, error(fault.NotFound)
	if _, ok := account.ParseID(account.FormPrefix, id); !ok {
		return f, err
	}
	if e := t.Query(lockFormSQL, func(r row) error {
		f, err = scanForm(r)
		return err
	}, owner, id); e != nil {
		return f, e
	}
	if err == nil && revision != 0 && f.Revision != revision+1 {
		return f, fault.New(fault.Changed, "The form was changed meanwhile. Read it again, then repeat the change.")
	}
	return f, err
}

const dropAddressesSQL = `DELETE FROM form_address WHERE account_id = $1 AND form_id = $2`

// ofFormSQL removes what hangs on a form.
var ofFormSQL = []string{
	dropAddressesSQL,
	formTrashSQL,
	`DELETE FROM form_draft WHERE account_id = $1 AND form_id = $2`,
	`DELETE FROM form_version WHERE account_id = $1 AND form_id = $2`,
	`DELETE FROM response WHERE account_id = $1 AND form_id = $2`,
	`DELETE FROM form_summary WHERE account_id = $1 AND form_id = $2`,
	`DELETE FROM option_count WHERE account_id = $1 AND form_id = $2`,
	`DELETE FROM list_block WHERE account_id = $1 AND list = $2`,
}

// FormSort is an order of the list of forms, as the API spells it.
type FormSort string

// NewestFirst is the order when none is asked for.
const NewestFirst FormSort = "-created_at"

const filteredFormsSQL = `SELECT ` + formColumns + ` FROM form WHERE account_id = $1` + formFilter + ` ORDER BY `

const formFilter = ` AND ($2 = '' OR status = $2) AND ($3 = '' OR language = $3) AND ($4 = '' OR search_key LIKE $4 ESCAPE '\')`

// Ids sort by creation, so they stand for created_at and break ties.
var formSorts = map[FormSort]string{
	"created_at":  filteredFormsSQL + `id LIMIT $5 OFFSET $6`,
	"-created_at": filteredFormsSQL + `id DESC LIMIT $5 OFFSET $6`,
	"updated_at":  filteredFormsSQL + `updated_at, id LIMIT $5 OFFSET $6`,
	"-updated_at": filteredFormsSQL + `updated_at DESC, id DESC LIMIT $5 OFFSET $6`,
	"title":       filteredFormsSQL + `title_key, id LIMIT $5 OFFSET $6`,
	"-title":      filteredFormsSQL + `title_key DESC, id DESC LIMIT $5 OFFSET $6`,
}

// FormFilter chooses forms; empty fields choose all.
type FormFilter struct {
	Status   string
	Language string
	Search   string
}

const (
	countFormsSQL = `SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM form_count
		WHERE account_id = $1 AND ($2 = '' OR status = $2) AND ($3 = '' OR language = $3)`
	searchedFormsSQL = `SELECT COUNT(*) FROM form WHERE account_id = $1` + formFilter

	newestFormsSQL = `SELECT ` + formColumns + ` FROM form WHERE account_id = $1 ORDER BY id DESC LIMIT $2 OFFSET $3`
	formSerialSQL  = `SELECT form_serial FROM account WHERE id = $1`
	formAtSQL      = `SELECT id FROM form WHERE account_id = $1 AND serial <= $2 ORDER BY serial DESC LIMIT 1 OFFSET $3`
	formsFromSQL   = `SELECT ` + formColumns + ` FROM form WHERE account_id = $1 AND id <= $2 ORDER BY id DESC LIMIT $3`
)

// Forms returns a page of the owner's forms and how many there are in all. In
// the usual order and without a filter every page costs about the same.
func (s *Store) Forms(ctx context.Context, owner string, filter FormFilter, sort FormSort, limit, offset int64) ([]form.Form, int64, error) {
	var forms []form.Form
	var total int64
	collect := func(r row) error {
		f, err := scanForm(r)
		forms = append(forms, f)
		return err
	}
	pattern := ""
	count := question{countFormsSQL, []any{owner, filter.Status, filter.Language}, func(r row) error {
		err := r.Scan(&total)
		forms = make([]form.Form, 0, max(0, min(limit, total-offset)))
		return err
	}}
	if filter.Search != "" {
		pattern = "%" + likeEscape.Replace(form.Fold(filter.Search)) + "%"
		count.sql, count.args = searchedFormsSQL, append(count.args, pattern)
	}
	var err error
	switch {
	case filter != (FormFilter{}) || sort != NewestFirst:
		args := []any{owner, filter.Status, filter.Language, pattern, limit, offset}
		err = s.db.Ask(ctx, count, question{formSorts[sort], args, collect})
	case offset < rankBlock:
		err = s.db.Ask(ctx, count, question{newestFormsSQL, []any{owner, limit, offset}, collect})
	default:
		err = s.db.Read(ctx, func(t tx) error {
			if err := t.Query(count.sql, count.scan, count.args...); err != nil || offset >= total {
				return err
			}
			return farForms(t, owner, limit, offset, collect)
		})
	}
	return forms, total, err
}

// farForms reads a page far down the list.
func farForms(t tx, owner string, limit, offset int64, collect func(row) error) error {
	var top int64
	if err := one(t.Query, formSerialSQL, []any{owner}, &top); err != nil {
		return err
	}
	serial, skip, found, err := rankSeek(t, owner, formList, top, offset)
	if err != nil || !found {
		return err
	}
	var first string
	if err := one(t.Query, formAtSQL, []any{owner, serial, skip}, &first); err != nil {
		return err
	}
	return t.Query(formsFromSQL, collect, owner, first, limit)
}

var likeEscape = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)
