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
//  1. StartMove stores that the form is to be moved. The form stays in use.
//  2. Rows of the largest tables are copied to the other account, in batches.
//  3. The form's row is deleted, after which nothing can change the form. What has changed since
//     it was copied is copied again, and the rows of all other tables are moved.
//  4. One transaction inserts the form's row there and changes the form's addresses.
//  5. The originals of the copied rows are deleted.
//
// Until the end, both accounts have a row in form_move, and cannot be deleted. Any node can continue
// at any time.

const (
	startMoveSQL = `INSERT INTO form_move (account_id, form_id, to_id, started_at, state) VALUES ($1, $2, $3, $4, $5)`
	moveSQL      = `SELECT to_id, started_at, state FROM form_move WHERE account_id = $1 AND form_id = $2 AND to_id <> $1`
	// One node at a time moves rows of a form.
	holdMoveSQL = `UPDATE form_move SET started_at = started_at WHERE account_id = $1 AND form_id = $2 AND to_id <> $1 RETURNING to_id, started_at, state`
	setMoveSQL  = `UPDATE form_move SET state = $3 WHERE account_id = $1 AND form_id = $2`
	endMoveSQL  = `DELETE FROM form_move WHERE account_id = $1 AND form_id = $2`
	// allMovesSQL reads all accounts. It is for background work only.
	allMovesSQL      = `SELECT account_id, form_id FROM form_move WHERE to_id <> account_id ORDER BY started_at`
	isMovingSQL      = `SELECT COUNT(*) FROM form_move WHERE account_id = $1 AND form_id = $2`
	isAwaySQL        = isMovingSQL + ` AND NOT EXISTS (SELECT 1 FROM form WHERE account_id = $1 AND id = $2)`
	countArrivalsSQL = `SELECT COUNT(*) FROM form_move WHERE account_id = $1 AND to_id = $1`
	countMovesSQL    = `SELECT COUNT(*) FROM form_move WHERE account_id = $1`
	movingFormSQL    = `SELECT m.form_id FROM form_address a JOIN form_move m ON m.account_id = a.account_id AND m.form_id = a.form_id WHERE a.address = $1 AND a.account_id = $2 AND m.account_id = $2`
	trashOfFormSQL   = `SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM trash WHERE account_id = $1 AND form_id = $2`
	moveAddressSQL   = `UPDATE form_address SET account_id = $3 WHERE account_id = $1 AND form_id = $2`
	dropInvitesSQL   = `DELETE FROM invitation WHERE account_id = $1 AND form_id = $2`
	dropEditorsSQL   = `DELETE FROM form_editor WHERE account_id = $1 AND form_id = $2`
	pauseForeignSQL  = `UPDATE webhook SET status = CASE WHEN status = 'active' THEN 'paused' ELSE status END,
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
	Away             bool  // the form is in neither of the spaces
}

// moveStage is what happens next in a move.
type moveStage int

const (
	stageCopy   moveStage = iota // the form is in use
	stageMove                    // the form is in neither of the spaces
	stageClean                   // the form is in its new space
	stageCancel                  // the form was deleted, and its copied rows are
)

// moveState is what form_move stores of a move.
type moveState struct {
	Stage    moveStage
	Step     int         // in copiedTables or movedTables
	After    rowKey      // of the last row that was copied or compared
	Form     trashedForm // since stageMove
	Moved    int64
	Pictures map[string]string // IDs of copies, by that of the original
}

// errMoving is for respondents, and for all others who would change a form that is being moved.
func errMoving() error { return fault.DatabaseUnavailable(errors.New("the form is being moved")) }

var errFormMoves = fault.New(fault.Conflict, "The form is being moved already. Try again in a minute.")

var errAccountMoves = fault.New(fault.Conflict, "A form is being moved to or from this space. Try again in a minute.")

// StartMove begins to move a form to the space of another account. ContinueMove completes it. The
// form stays in use until all its responses are copied.
func (s *Store) StartMove(ctx context.Context, owner, formID, to string, now time.Time) error {
	return Manager{store: s}.StartMove(ctx, owner, formID, to, now)
}

// StartMove is Store.StartMove.
func (m Manager) StartMove(ctx context.Context, owner, formID, to string, now time.Time) (err error) {
	defer wrap(&err, "start move of form")
	s := m.store
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
	return s.write(ctx, owner, func(t db.Tx) error {
		if err := holdAccounts(t, owner, to); err != nil {
			return err
		}
		if err := m.checkMove(t, owner, to); err != nil {
			return err
		}
		state := moveState{}
		if state.Form.Form, err = lockForm(t, owner, formID, 0); err != nil {
			return err
		}
		var moving, arriving int64
		if err := queryOne(t.Query, isMovingSQL, []any{owner, formID}, &moving); err != nil || moving > 0 {
			return errorWhen(err, moving > 0, errFormMoves)
		}
		if err := queryOne(t.Query, countArrivalsSQL, []any{to}, &arriving); err != nil {
			return err
		}
		if err := s.quotas.allowForms(t, to, 1+arriving); err != nil {
			return err
		}
		if err := recordMove(ctx, t, owner, f, to); err != nil {
			return err
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

// leaveAccount deletes the form's row, after which nothing can change the form, and stores it with
// the move. If the form was deleted, the move is canceled.
func (s *Store) leaveAccount(ctx context.Context, m Move) error {
	return s.write(ctx, m.From, func(t db.Tx) error {
		m, state, err := readMove(t.Query, holdMoveSQL, m.From, m.FormID)
		if err != nil || state.Stage != stageCopy { // another node was faster
			return err
		}
		state.Stage, state.Step, state.After = stageMove, 0, rowKey{}
		if state.Form, err = takeForm(t, m.From, m.FormID); isMissing(err) {
			state.Stage = stageCancel
			return writeMove(t, m, state)
		} else if err != nil {
			return err
		}
		for _, sql := range []string{fenceWebhooksSQL, fenceMailsSQL} {
			if _, err := t.Exec(sql, m.From, m.FormID); err != nil {
				return err
			}
		}
		return writeMove(t, m, state)
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
	if err := queryOne(t.Query, formSerialsSQL, []any{owner, formID}, &taken.Serial, &taken.ResponseSerial, &taken.ResponseTick, &taken.StoredBytes, &taken.OpeningDue, &taken.ClosedAt); err != nil {
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
	m.StartedAt, m.Form, m.Moved, m.Away = fromMillis(started), state.Form.Form, state.Moved, state.Stage == stageMove
	return m, state, err
}

// IsMoved reports whether a form that an account does not have is on its way to or from it, or
// has been moved to another one.
func (s *Store) IsMoved(ctx context.Context, owner, formID string) bool {
	var n int64
	if err := queryOne(s.query(ctx), isAwaySQL, []any{owner, formID}, &n); err != nil || n > 0 {
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

// moveTurn is how long one move is continued if there are others.
const moveTurn = time.Second

// ContinueMoves continues the moves of all forms, such as those that were interrupted. They take
// turns, so that a small form does not wait for a large one.
func (s *Store) ContinueMoves(ctx context.Context, now time.Time) (err error) {
	defer wrap(&err, "continue moves of forms")
	for {
		moves, err := s.allMoves(ctx)
		if err != nil {
			return err
		}
		left := false
		for _, m := range moves {
			turn, cancel := context.WithTimeout(ctx, moveTurn)
			e := s.ContinueMove(turn, m.From, m.FormID, now)
			cancel()
			switch {
			case e == nil:
			case turn.Err() != nil && ctx.Err() == nil:
				left = true
			default:
				err = e // the others may succeed
			}
		}
		if !left || ctx.Err() != nil {
			return err
		}
	}
}

func (s *Store) allMoves(ctx context.Context) (moves []Move, err error) {
	err = s.db.Query(ctx, allMovesSQL, func(r db.Row) error {
		var m Move
		err := r.Scan(&m.From, &m.FormID)
		moves = append(moves, m)
		return err
	})
	return moves, err
}

// moveGrace is how long a move goes on after its context has ended, if nobody can use the form.
const moveGrace = 5 * time.Second

// ContinueMove continues a move until the form is in its new space and the originals of its rows
// are deleted, or ctx ends.
func (s *Store) ContinueMove(ctx context.Context, owner, formID string, now time.Time) (err error) {
	err = s.continueMove(ctx, owner, formID, now, func(done bool, _ moveStage) bool { return done })
	if err != nil && ctx.Err() != nil {
		select {
		case s.moves <- struct{}{}:
		default:
		}
	}
	return err
}

// PrepareMove is the part of ContinueMove that the form is in use for. After it, the form is in
// neither of the spaces.
func (s *Store) PrepareMove(ctx context.Context, owner, formID string, now time.Time) error {
	return s.continueMove(ctx, owner, formID, now, func(done bool, stage moveStage) bool { return done || stage == stageMove })
}

// continueMove does steps of a move until one of them is the last.
func (s *Store) continueMove(ctx context.Context, owner, formID string, now time.Time, isLast func(done bool, stage moveStage) bool) (err error) {
	defer wrap(&err, "move form")
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(moveGrace, cancel) })()
	batch := &moveBatch{limit: minMoveBatch}
	for {
		current := ctx
		if batch.stage == stageMove {
			current = longer
		}
		done, err := s.stepMove(current, owner, formID, batch, now)
		if err != nil || isLast(done, batch.stage) {
			return replaceNotFound(err, nil) // another node has completed it
		}
		if err := batch.pause(ctx); err != nil {
			return err
		}
	}
}

// WaitingMoves receives a value when a move was interrupted, so that ContinueMoves has work.
func (s *Store) WaitingMoves() <-chan struct{} { return s.moves }
