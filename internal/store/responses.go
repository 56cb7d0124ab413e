package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"formulary/internal/account"
	"formulary/internal/fault"
	"formulary/internal/form"
)

const (
	nextResponseSQL = `UPDATE form SET response_serial = response_serial + 1, response_count = response_count + 1
		WHERE account_id = $1 AND id = $2 AND status = 'open' AND version = $3 RETURNING response_serial`
	insertResponseSQL = `INSERT INTO response (account_id, form_id, id, serial, version, submitted_at, answers)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`
	responseColumns = `id, version, serial, submitted_at, answers`
	responseSQL     = `SELECT ` + responseColumns + ` FROM response WHERE account_id = $1 AND form_id = $2 AND id = $3`
	responsesSQL    = `SELECT ` + responseColumns + ` FROM response
		WHERE account_id = $1 AND form_id = $2 AND serial > $3 ORDER BY serial LIMIT $4`
	countResponsesSQL  = `SELECT response_count, response_serial FROM form WHERE account_id = $1 AND id = $2`
	newestResponsesSQL = `SELECT ` + responseColumns + ` FROM response
		WHERE account_id = $1 AND form_id = $2 AND serial <= $3 ORDER BY serial DESC LIMIT $4 OFFSET $5`
	deleteResponseSQL = `DELETE FROM response WHERE account_id = $1 AND form_id = $2 AND id = $3 RETURNING serial`
	dropCountSQL      = `UPDATE form SET response_count = response_count - 1 WHERE account_id = $1 AND id = $2`
)

// AddResponse stores answers that were checked against the version. It returns
// when they are on disk. With a key in once, the same answers sent again are the
// response that the first sending made.
func (s *Store) AddResponse(ctx context.Context, owner, formID string, version int64, answers map[string]any, once Once, now time.Time) (form.Response, error) {
	text, err := json.Marshal(answers)
	if err != nil {
		return form.Response{}, err
	}
	r := form.Response{ID: account.NewID(account.ResponsePrefix, now), FormID: formID, Version: version, SubmittedAt: at(ms(now)), Answers: answers}
	err = s.db.Write(ctx, func(t tx) error {
		if earlier, err := once.claim(t, owner, r.ID, now); err != nil {
			return err
		} else if earlier != "" {
			r, err = readResponse(t.Query, owner, formID, earlier)
			return err
		}
		if err := one(t.Query, nextResponseSQL, []any{owner, formID, version}, &r.Serial); err != nil {
			return notFoundAs(err, errNotOpen)
		}
		_, err := t.Exec(insertResponseSQL, owner, formID, r.ID, r.Serial, version, ms(now), string(text))
		return err
	})
	s.db.Bump(responsesOf(owner))
	return r, err
}

func scanResponse(r row, formID string) (form.Response, error) {
	out := form.Response{FormID: formID}
	var submitted int64
	var text string
	if err := r.Scan(&out.ID, &out.Version, &out.Serial, &submitted, &text); err != nil {
		return out, err
	}
	out.SubmittedAt = at(submitted)
	if err := json.Unmarshal([]byte(text), &out.Answers); err != nil {
		return out, fmt.Errorf("answers of %s: %w", out.ID, err)
	}
	return out, nil
}

// Response returns one response to a form of the owner.
func (s *Store) Response(ctx context.Context, owner, formID, id string) (form.Response, error) {
	return readResponse(s.query(ctx), owner, formID, id)
}

func readResponse(q querier, owner, formID, id string) (form.Response, error) {
	out, err := form.Response{}, error(fault.NotFound)
	_, okForm := account.ParseID(account.FormPrefix, formID)
	if _, ok := account.ParseID(account.ResponsePrefix, id); !ok || !okForm {
		return out, err
	}
	if e := q(responseSQL, func(r row) error {
		out, err = scanResponse(r, formID)
		return err
	}, owner, formID, id); e != nil {
		return out, e
	}
	return out, err
}

// ResponsesAfter returns responses in the order in which they were stored, from
// the one after the serial on. It costs the same at any depth.
func (s *Store) ResponsesAfter(ctx context.Context, owner, formID string, serial, limit int64) ([]form.Response, error) {
	var list []form.Response
	err := s.db.Query(ctx, responsesSQL, func(r row) error {
		out, err := scanResponse(r, formID)
		list = append(list, out)
		return err
	}, owner, formID, serial, limit)
	return list, err
}

// Responses returns a page of a form's responses, the newest first, and how many
// there are in all. Every page costs about the same.
func (s *Store) Responses(ctx context.Context, owner, formID string, limit, offset int64) ([]form.Response, int64, error) {
	var list []form.Response
	var total int64
	if _, ok := account.ParseID(account.FormPrefix, formID); !ok {
		return nil, 0, fault.NotFound
	}
	err := s.db.Read(ctx, func(t tx) error {
		list = nil
		var top int64
		if err := one(t.Query, countResponsesSQL, []any{owner, formID}, &total, &top); err != nil || offset >= total {
			return err
		}
		serial, skip, found, err := rankSeek(t, owner, formID, top, offset)
		if err != nil || !found {
			return err
		}
		return t.Query(newestResponsesSQL, func(r row) error {
			out, err := scanResponse(r, formID)
			list = append(list, out)
			return err
		}, owner, formID, serial, limit, skip)
	})
	return list, total, err
}

// DeleteResponse removes one response.
func (s *Store) DeleteResponse(ctx context.Context, owner, formID, id string) error {
	_, okForm := account.ParseID(account.FormPrefix, formID)
	if _, ok := account.ParseID(account.ResponsePrefix, id); !ok || !okForm {
		return fault.NotFound
	}
	return s.write(ctx, responsesOf(owner), func(t tx) error {
		// The form's row first, as everywhere: two that wait for each other
		// would wait for ever.
		if err := changed(t.Exec(dropCountSQL, owner, formID)); err != nil {
			return err
		}
		var serial int64
		if err := one(t.Query, deleteResponseSQL, []any{owner, formID, id}, &serial); err != nil {
			return err
		}
		return rankMiss(t, owner, formID, serial)
	})
}
