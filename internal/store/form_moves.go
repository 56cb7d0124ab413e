package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
)

// Moving a form to another space. docs/decisions/moving-forms.md explains the steps:
//
//  1. StartMove deletes the form's row, after which nothing can change the form.
//  2. ContinueMove moves all rows of the form to the other account, in batches.
//  3. Its last transaction inserts the form's row there and changes the form's addresses.
//
// In between, both accounts have a row in form_move, and cannot be deleted. Any node can continue
// at any time: a row of the form is in exactly one of the accounts.

const (
	startMoveSQL = `INSERT INTO form_move (account_id, form_id, to_id, started_at, state) VALUES ($1, $2, $3, $4, $5)`
	moveSQL      = `SELECT to_id, started_at, state FROM form_move WHERE account_id = $1 AND form_id = $2 AND to_id <> $1`
	// One node at a time moves rows of a form.
	holdMoveSQL = `UPDATE form_move SET started_at = started_at WHERE account_id = $1 AND form_id = $2 AND to_id <> $1 RETURNING to_id, started_at, state`
	setMoveSQL  = `UPDATE form_move SET state = $3 WHERE account_id = $1 AND form_id = $2`
	endMoveSQL  = `DELETE FROM form_move WHERE account_id = $1 AND form_id = $2`
	// allMovesSQL reads all accounts. It is for background work only.
	allMovesSQL     = `SELECT account_id, form_id FROM form_move WHERE to_id <> account_id ORDER BY started_at`
	isMovingSQL     = `SELECT COUNT(*) FROM form_move WHERE account_id = $1 AND form_id = $2`
	countMovesSQL   = `SELECT COUNT(*) FROM form_move WHERE account_id = $1`
	movingFormSQL   = `SELECT m.form_id FROM form_address a JOIN form_move m ON m.account_id = a.account_id AND m.form_id = a.form_id WHERE a.address = $1 AND a.account_id = $2 AND m.account_id = $2`
	trashOfFormSQL  = `SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM trash WHERE account_id = $1 AND form_id = $2`
	moveAddressSQL  = `UPDATE form_address SET account_id = $3 WHERE account_id = $1 AND form_id = $2`
	dropInvitesSQL  = `DELETE FROM invitation WHERE account_id = $1 AND form_id = $2`
	dropEditorsSQL  = `DELETE FROM form_editor WHERE account_id = $1 AND form_id = $2`
	pauseForeignSQL = `UPDATE webhook SET status = CASE WHEN status = 'active' THEN 'paused' ELSE status END,
		app_id = '', grant_id = '', person_id = '', updated_at = $3 WHERE account_id = $1 AND form_id = $2 AND grant_id <> ''`
	// A position that differs refuses what dispatchers and readers of mails commit that have begun
	// before. No position ends with this character.
	fenceWebhooksSQL   = `UPDATE webhook SET position = position || '~' WHERE account_id = $1 AND form_id = $2`
	fenceMailsSQL      = `UPDATE form_mail SET position = position || '~', digest_position = digest_position || '~' WHERE account_id = $1 AND form_id = $2`
	unfenceWebhooksSQL = `UPDATE webhook SET position = SUBSTR(position, 1, LENGTH(position) - 1) WHERE account_id = $1 AND form_id = $2`
	unfenceMailsSQL    = `UPDATE form_mail SET position = SUBSTR(position, 1, LENGTH(position) - 1),
		digest_position = SUBSTR(digest_position, 1, LENGTH(digest_position) - 1) WHERE account_id = $1 AND form_id = $2`
	// The level of a list whose members are not in the order of their serials; see rankSeek.
	markUnorderedSQL = `INSERT INTO list_block (account_id, list, level, block, missing) VALUES ($1, $2, 0, 0, 1)
		ON CONFLICT (account_id, list, level, block) DO UPDATE SET missing = list_block.missing + 1`
	isUnorderedSQL = `SELECT COUNT(*) FROM list_block WHERE account_id = $1 AND list = $2 AND level = 0`
)

// Move is a form on its way to another space.
type Move struct {
	FormID, From, To string
	StartedAt        time.Time
	Form             form.Form
	Moved            int64 // responses so far
}

// moveState is what form_move stores of a move.
type moveState struct {
	Form     trashedForm
	Step     int // in moveSteps
	Moved    int64
	Pictures map[string]string // IDs of copies, by that of the original
}

// errMoving is for respondents, and for all others who would change a form that is being moved.
func errMoving() error { return fault.DatabaseUnavailable(errors.New("the form is being moved")) }

var errAccountMoves = fault.New(fault.Conflict, "A form is being moved to or from this space. Try again in a minute.")

// StartMove begins to move a form to the space of another account. Until ContinueMove has
// completed it, nobody can use the form.
func (s *Store) StartMove(ctx context.Context, owner, formID, to string, now time.Time) (err error) {
	defer wrap(&err, "start move of form")
	if to == owner {
		return fault.New(fault.Conflict, "The form is in this space already.")
	}
	f, err := s.Form(ctx, owner, formID)
	if err != nil {
		return err
	}
	var stored, trash int64
	found := false
	if err := s.db.QueryBatch(ctx, scanInto(&found, storedOfFormSQL, []any{owner, f.ID}, &stored), scanInto(&found, trashOfFormSQL, []any{owner, f.ID}, &trash)); err != nil {
		return err
	}
	if err := s.reserve(ctx, to, stored+trash); err != nil {
		return err
	}
	defer s.db.Invalidate(to)
	return s.write(ctx, owner, func(t db.Tx) error {
		if err := holdAccounts(t, owner, to); err != nil {
			return err
		}
		if err := s.quotas.allowForm(t, to); err != nil {
			return err
		}
		if err := recordMove(ctx, t, owner, f, to); err != nil {
			return err
		}
		state := moveState{}
		if state.Form, err = takeForm(t, owner, formID); err != nil {
			return err
		}
		for _, sql := range []string{fenceWebhooksSQL, fenceMailsSQL} {
			if _, err := t.Exec(sql, owner, formID); err != nil {
				return err
			}
		}
		text, err := json.Marshal(state)
		if err != nil {
			return err
		}
		if _, err := t.Exec(startMoveSQL, owner, formID, to, toMillis(now), string(text)); err != nil {
			return err
		}
		_, err = t.Exec(startMoveSQL, to, formID, to, toMillis(now), "")
		return err
	})
}

const storedOfFormSQL = `SELECT stored_bytes FROM form WHERE account_id = $1 AND id = $2`

// holdAccounts locks the rows of two accounts, so that neither is deleted: shared spaces first, as
// wherever members change.
func holdAccounts(t db.Tx, a, b string) error {
	first, second := min(a, b), max(a, b)
	var shared int64
	if err := queryOne(t.Query, isSharedSpaceSQL, []any{second}, &shared); err != nil {
		return err
	}
	if shared > 0 {
		if err := queryOne(t.Query, isSharedSpaceSQL, []any{first}, &shared); err != nil {
			return err
		}
		if shared == 0 {
			first, second = second, first
		}
	}
	for _, owner := range []string{first, second} {
		if err := checkAffected(t.Exec(holdAccountSQL, owner)); err != nil {
			return err
		}
	}
	return nil
}

// takeForm removes the row of a form from its account, and returns it.
func takeForm(t db.Tx, owner, formID string) (taken trashedForm, err error) {
	if taken.Form, err = lockForm(t, owner, formID, 0); err != nil {
		return taken, err
	}
	if err := queryOne(t.Query, formSerialsSQL, []any{owner, formID}, &taken.Serial, &taken.ResponseSerial, &taken.ResponseTick, &taken.StoredBytes, &taken.OpeningDue); err != nil {
		return taken, err
	}
	if _, err := t.Exec(deleteFormSQL, owner, formID); err != nil {
		return taken, err
	}
	if _, err := t.Exec(countFormSQL, owner, string(taken.Form.Status), taken.Form.Language, -1); err != nil {
		return taken, err
	}
	return taken, rankMiss(t, owner, formList, taken.Serial)
}

// Move returns the move of a form out of an account. fault.NotFound: it is not being moved.
func (s *Store) Move(ctx context.Context, owner, formID string) (m Move, err error) {
	defer wrap(&err, "read move of form")
	if _, ok := id.Parse(id.Form, formID); !ok {
		return m, fault.NotFound
	}
	m, _, err = readMove(s.query(ctx), moveSQL, owner, formID)
	return m, err
}

func readMove(q querier, sql, owner, formID string) (m Move, state moveState, err error) {
	m.FormID, m.From = formID, owner
	var started int64
	var text string
	if err := queryOne(q, sql, []any{owner, formID}, &m.To, &started, &text); err != nil {
		return m, state, err
	}
	err = json.Unmarshal([]byte(text), &state)
	m.StartedAt, m.Form, m.Moved = fromMillis(started), state.Form.Form, state.Moved
	return m, state, err
}

// IsMoved reports whether a form that an account does not have is on its way to or from it, or
// has been moved to another one.
func (s *Store) IsMoved(ctx context.Context, owner, formID string) bool {
	var n int64
	if err := queryOne(s.query(ctx), isMovingSQL, []any{owner, formID}, &n); err != nil || n > 0 {
		return n > 0
	}
	var now string
	err := queryOne(s.query(ctx), ownerSQL, []any{formID}, &now)
	return err == nil && now != owner
}

// movingError returns the error for a submission that failed because its form has left its account:
// what was missing is there again in a moment.
func (s *Store) movingError(ctx context.Context, f *PublicForm, err error) error {
	if err == nil {
		return nil
	}
	switch fault.Wrap(err).Code {
	case fault.FormNotOpen, fault.NotFoundInAccount, fault.Invalid:
		if s.IsMoved(ctx, f.Owner, f.ID) {
			return errMoving()
		}
	}
	return err
}

// checkNoMoves returns an error if an account cannot be deleted because of a move. Its row must be
// locked.
func checkNoMoves(t db.Tx, owner string) error {
	var n int64
	if err := queryOne(t.Query, countMovesSQL, []any{owner}, &n); err != nil {
		return err
	}
	if n > 0 {
		return errAccountMoves
	}
	return nil
}

// ContinueMoves continues the moves of all forms, such as those that were interrupted.
func (s *Store) ContinueMoves(ctx context.Context, now time.Time) (err error) {
	defer wrap(&err, "continue moves of forms")
	var moves []Move
	if err := s.db.Query(ctx, allMovesSQL, func(r db.Row) error {
		var m Move
		err := r.Scan(&m.From, &m.FormID)
		moves = append(moves, m)
		return err
	}); err != nil {
		return err
	}
	for _, m := range moves {
		if e := s.ContinueMove(ctx, m.From, m.FormID, now); e != nil {
			err = e // the others may succeed
		}
	}
	return err
}

// ContinueMove moves the rows of a form until the form is in its new space, or ctx ends.
func (s *Store) ContinueMove(ctx context.Context, owner, formID string, now time.Time) (err error) {
	defer wrap(&err, "move form")
	batch := moveBatch{limit: minMoveBatch}
	for {
		done, err := s.stepMove(ctx, owner, formID, &batch, now)
		if err != nil || done {
			return replaceNotFound(err, nil) // another node has completed it
		}
	}
}
