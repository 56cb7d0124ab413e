package store

import (
	"cmp"
	"context"
	"time"

	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
)

const formColumns = `id, title, description, language, status, version, revision, response_count, created_at, updated_at,
	slug, opens_at, closes_at, response_limit, sites, folder`

func scanForm(r db.Row) (form.Form, error) {
	var f form.Form
	var status string
	var created, updated, opens, closes int64
	err := r.Scan(&f.ID, &f.Title, &f.Description, &f.Language, &status,
		&f.Version, &f.Revision, &f.ResponseCount, &created, &updated,
		&f.Slug, &opens, &closes, &f.ResponseLimit, &f.Sites, &f.Folder)
	f.Status, f.CreatedAt, f.UpdatedAt, f.OpensAt, f.ClosesAt = form.Status(status), fromMillis(created), fromMillis(updated), fromMillis(opens), fromMillis(closes)
	return f, err
}

const formSQL = `SELECT ` + formColumns + ` FROM form WHERE account_id = $1 AND id = $2`

// Form returns one form of the owner.
func (s *Store) Form(ctx context.Context, owner, formID string) (_ form.Form, err error) {
	defer wrap(&err, "read form")
	return readForm(s.query(ctx), owner, formID)
}

// FormDraft returns one form of the owner with its draft.
func (s *Store) FormDraft(ctx context.Context, owner, formID string) (_ form.Form, _ *form.Definition, err error) {
	defer wrap(&err, "read form draft")
	if _, ok := id.Parse(id.Form, formID); !ok {
		return form.Form{}, nil, fault.NotFound
	}
	f, err := form.Form{}, error(fault.NotFound)
	var text string
	var hasDraft bool
	if e := s.db.QueryBatch(ctx, db.Statement{SQL: formSQL, Args: []any{owner, formID}, Scan: func(r db.Row) error {
		f, err = scanForm(r)
		return err
	}}, scanInto(&hasDraft, draftSQL, []any{owner, formID}, &text)); e != nil || err != nil {
		return f, nil, cmp.Or(e, err)
	}
	if !hasDraft {
		return f, noDraft(), nil
	}
	d, err := parseDefinition(text)
	return f, d, err
}

func readForm(q querier, owner, formID string) (form.Form, error) {
	if _, ok := id.Parse(id.Form, formID); !ok {
		return form.Form{}, fault.NotFound
	}
	f, err := form.Form{}, error(fault.NotFound)
	if e := q(formSQL, func(r db.Row) error {
		f, err = scanForm(r)
		return err
	}, owner, formID); e != nil {
		return f, e
	}
	return f, err
}

const (
	nextFormSQL = `UPDATE account SET form_serial = form_serial + 1 WHERE id = $1 RETURNING form_serial, form_last_id`
	lastFormSQL = `UPDATE account SET form_last_id = $2 WHERE id = $1`

	insertFormSQL = `INSERT INTO form
		(account_id, id, serial, title, description, language, status, created_at, updated_at, title_key, search_key,
		 slug, opens_at, closes_at, response_limit, sites, stored_bytes, folder)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`
	addressFormSQL = `INSERT INTO form_address (address, account_id, form_id) VALUES ($1, $2, $3)`
	countFormSQL   = `INSERT INTO form_count (account_id, status, language, n) VALUES ($1, $2, $3, $4)
		ON CONFLICT (account_id, status, language) DO UPDATE SET n = form_count.n + excluded.n`
)

// formList is the name of the list of an account's forms in list_block.
const formList = "forms"

// CreateForm adds a draft that any site may embed. d may be nil.
func (s *Store) CreateForm(ctx context.Context, owner string, head form.Header, d *form.Definition, now time.Time) (form.Form, error) {
	input := form.FormInput{Header: head, Availability: form.Availability{Sites: form.AnySite}, Definition: d}
	return s.CreateFormFrom(ctx, owner, input, IdempotencyKey{}, now)
}

// CreateFormFrom adds a draft. With an idempotency key, a repeated request returns the
// form that the first one created.
func (s *Store) CreateFormFrom(ctx context.Context, owner string, input form.FormInput, key IdempotencyKey, now time.Time) (_ form.Form, err error) {
	defer wrap(&err, "create form")
	var result form.Form
	var draft, design string
	if input.Definition != nil {
		var err error
		if draft, err = encodeDraft(input.Definition); err != nil {
			return result, err
		}
		if design, err = encodeDesign(input.Definition); err != nil {
			return result, err
		}
	}
	if err := s.reserve(ctx, owner, int64(len(draft))); err != nil && !s.isRepeated(ctx, owner, key) {
		return result, err
	}
	err = s.write(ctx, owner, func(t db.Tx) error {
		var serial int64
		var last string
		// This locks the account's row, so forms of an account are created one at a
		// time.
		if err := queryOne(t.Query, nextFormSQL, []any{owner}, &serial, &last); err != nil {
			return err
		}
		formID, created := id.Next(id.Form, now, last)
		if earlier, err := key.claim(t, owner, formID, now); err != nil {
			return err
		} else if earlier != "" {
			if err := rankMiss(t, owner, formList, serial); err != nil {
				return err
			}
			result, err = readForm(t.Query, owner, earlier)
			return replaceNotFound(err, fault.New(fault.NotFoundInAccount, "The object created with this Idempotency-Key has been deleted."))
		}
		if err := s.quotas.allowForms(t, owner, 1); err != nil {
			return err
		}
		result = form.Form{
			ID: formID, Title: input.Title, Description: input.Description, Language: input.Language,
			Status: form.Draft, Revision: 1, CreatedAt: created, UpdatedAt: created, Folder: input.Folder, Availability: input.Availability,
		}
		if _, err := t.Exec(lastFormSQL, owner, formID); err != nil {
			return err
		}
		if _, err := t.Exec(insertFormSQL, owner, formID, serial, input.Title, input.Description, input.Language,
			string(form.Draft), toMillis(created), form.SearchKey(input.Title), searchKey(input.Header),
			input.Slug, toMillis(input.OpensAt), toMillis(input.ClosesAt), input.ResponseLimit, input.Sites, len(draft), input.Folder); err != nil {
			return err
		}
		if _, err := t.Exec(countFormSQL, owner, string(form.Draft), input.Language, 1); err != nil {
			return err
		}
		if _, err := t.Exec(addressFormSQL, formID, owner, formID); err != nil {
			return err
		}
		if err := checkSlug(t, owner, formID, input.Slug, now); err != nil {
			return err
		}
		if input.RetentionDays > 0 {
			if _, err := t.Exec(setRetentionSQL, owner, formID, input.RetentionDays, toMillis(now), toMillis(now.Add(retentionNotice))); err != nil {
				return err
			}
		}
		if input.Definition == nil {
			return nil
		}
		_, err := t.Exec(saveDraftSQL, owner, formID, draft, design)
		return err
	})
	return result, err
}

func searchKey(h form.Header) string { return form.SearchKey(h.Title + "\n" + h.Description) }

// ofFormSQL deletes the rows that belong to a form.
var ofFormSQL = []string{
	formTrashSQL,
	dropFormInvitationsSQL,
	`DELETE FROM form_draft WHERE account_id = $1 AND form_id = $2`,
	`DELETE FROM form_version WHERE account_id = $1 AND form_id = $2`,
	`DELETE FROM response WHERE account_id = $1 AND form_id = $2`,
	`DELETE FROM form_summary WHERE account_id = $1 AND form_id = $2`,
	`DELETE FROM option_count WHERE account_id = $1 AND form_id = $2`,
	`DELETE FROM list_block WHERE account_id = $1 AND list = $2`,
	`DELETE FROM webhook WHERE account_id = $1 AND form_id = $2`,
	`DELETE FROM form_mail WHERE account_id = $1 AND form_id = $2`,
	`DELETE FROM form_recipient WHERE account_id = $1 AND form_id = $2`,
	`DELETE FROM mail WHERE account_id = $1 AND form_id = $2`,
	`DELETE FROM delivery WHERE account_id = $1 AND form_id = $2`,
	`DELETE FROM form_event WHERE account_id = $1 AND form_id = $2`,
	`DELETE FROM response_tag WHERE account_id = $1 AND form_id = $2`,
	`DELETE FROM response_note WHERE account_id = $1 AND form_id = $2`,
	`DELETE FROM form_mark WHERE account_id = $1 AND form_id = $2`,
	`DELETE FROM form_retention WHERE account_id = $1 AND form_id = $2`,
	`DELETE FROM response_view WHERE account_id = $1 AND form_id = $2`,
	`DELETE FROM response_layout WHERE account_id = $1 AND form_id = $2`,
	`DELETE FROM form_visit WHERE account_id = $1 AND form_id = $2`,
	`DELETE FROM form_editor WHERE account_id = $1 AND form_id = $2`,
}

// FormSort is an order of the list of forms, as in the API.
type FormSort string

// NewestFirst is the default order.
const NewestFirst FormSort = "-created_at"

const filteredFormsSQL = `SELECT ` + formColumns + ` FROM form WHERE account_id = $1` + formFilter + ` ORDER BY `

const formFilter = ` AND ($2 = '' OR status = $2) AND ($3 = '' OR language = $3) AND ($4 = '' OR STRPOS(search_key, $4) > 0)
	AND ($5 = '' OR folder = $5)`

// IDs sort by creation time, so they stand for created_at and break ties.
var formSorts = map[FormSort]string{
	"created_at":  `id`,
	"-created_at": `id DESC`,
	"updated_at":  `updated_at, id`,
	"-updated_at": `updated_at DESC, id DESC`,
	"title":       `title_key, id`,
	"-title":      `title_key DESC, id DESC`,
}

// FormFilter selects forms; empty fields select all.
type FormFilter struct {
	Status   string
	Language string
	Search   string
	Folder   string
	Only     string // IDs of forms, from account.Access.FormList
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

// Forms returns a page of the owner's forms and their total number. In the default
// order and without a filter, every page costs about the same.
func (s *Store) Forms(ctx context.Context, owner string, filter FormFilter, sort FormSort, page Page) (_ []form.Form, _ int64, err error) {
	defer wrap(&err, "list forms")
	if filter.Only != "" {
		return s.limitedForms(ctx, limitedList{owner, filter, sort}, page)
	}
	var forms []form.Form
	var total int64
	collect := func(r db.Row) error {
		f, err := scanForm(r)
		forms = append(forms, f)
		return err
	}
	search := ""
	count := db.Statement{SQL: countFormsSQL, Args: []any{owner, filter.Status, filter.Language}, Scan: func(r db.Row) error {
		err := r.Scan(&total)
		forms = make([]form.Form, 0, max(0, min(page.Limit, total-page.Offset)))
		return err
	}}
	if filter.Search != "" || filter.Folder != "" {
		search = form.SearchKey(filter.Search)
		count.SQL, count.Args = searchedFormsSQL, append(count.Args, search, filter.Folder)
	}
	switch {
	case filter != (FormFilter{}) || sort != NewestFirst:
		args := []any{owner, filter.Status, filter.Language, search, filter.Folder, page.Limit, page.Offset}
		err = s.db.QueryBatch(ctx, count, db.Statement{SQL: filteredFormsSQL + formSorts[sort] + ` LIMIT $6 OFFSET $7`, Args: args, Scan: collect})
	case page.Offset < rankBlock:
		err = s.db.QueryBatch(ctx, count, db.Statement{SQL: newestFormsSQL, Args: []any{owner, page.Limit, page.Offset}, Scan: collect})
	default:
		err = s.db.Read(ctx, func(t db.Tx) error {
			if err := t.Query(count.SQL, count.Scan, count.Args...); err != nil || page.Offset >= total {
				return err
			}
			return deepFormPage(t, owner, page, collect)
		})
	}
	return forms, total, err
}

// deepFormPage reads a page at a large offset.
func deepFormPage(t db.Tx, owner string, page Page, collect func(db.Row) error) error {
	var unordered int64
	if err := queryOne(t.Query, isUnorderedSQL, []any{owner, formList}, &unordered); err != nil {
		return err
	}
	if unordered > 0 { // forms came from other spaces
		return t.Query(newestFormsSQL, collect, owner, page.Limit, page.Offset)
	}
	var top int64
	if err := queryOne(t.Query, formSerialSQL, []any{owner}, &top); err != nil {
		return err
	}
	serial, skip, found, err := rankSeek(t, owner, formList, top, page.Offset)
	if err != nil || !found {
		return err
	}
	var first string
	if err := queryOne(t.Query, formAtSQL, []any{owner, serial, skip}, &first); err != nil {
		return err
	}
	return t.Query(formsFromSQL, collect, owner, first, page.Limit)
}
