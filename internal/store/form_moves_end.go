package store

import (
	"context"
	"time"

	"formulary/internal/db"
	"formulary/internal/form"
)

// arrive inserts the form's row into its new account and changes its addresses.
func (s *Store) arrive(ctx context.Context, m Move, batch *moveBatch, now time.Time) error {
	var people []string
	arrived := false
	err := s.changeMove(ctx, m, batch, func(t db.Tx, state *moveState) (err error) {
		if people, arrived = nil, false; state.Stage != stageMove || state.Step < len(movedTables) {
			return nil // another node was faster
		}
		people, arrived, err = s.endMove(t, m, state, batch, now)
		return err
	})
	if err != nil || !arrived {
		return err
	}
	for _, key := range append(people, m.From, m.To, responsesOf(m.From), responsesOf(m.To), webhookOwners, formMailOwners) {
		s.db.Invalidate(key)
	}
	s.mailsAdded()
	return nil
}

// endMove inserts the form's row into its new account and changes its addresses, unless rows were
// left behind by a transaction that was running when the move started: these are moved first.
func (s *Store) endMove(t db.Tx, m Move, state *moveState, batch *moveBatch, now time.Time) (people []string, done bool, err error) {
	for _, table := range movedTables {
		if table.copied {
			continue
		}
		n, _, err := moveRows(t, table, m, state.Pictures, batch)
		if err != nil || n > 0 {
			return nil, false, err
		}
	}
	if err := holdAccounts(t, m.From, m.To); err != nil {
		return nil, false, err
	}
	if people, err = endShares(t, m.From, m.FormID, now); err != nil {
		return nil, false, err
	}
	taken := state.Form
	var last string
	if err := queryOne(t.Query, nextFormSQL, []any{m.To}, &taken.Serial, &last); err != nil {
		return nil, false, err
	}
	if m.FormID < last { // its ID is older than those of forms with lower serials
		if _, err := t.Exec(markUnorderedSQL, m.To, formList); err != nil {
			return nil, false, err
		}
	} else if _, err := t.Exec(lastFormSQL, m.To, m.FormID); err != nil {
		return nil, false, err
	}
	taken.Form.Folder = ""
	if err := insertTaken(t, m.To, taken); err != nil {
		return nil, false, err
	}
	for _, sql := range []string{unfenceWebhooksSQL, unfenceMailsSQL} {
		if _, err := t.Exec(sql, m.To, m.FormID); err != nil {
			return nil, false, err
		}
	}
	// The grants of applications are for the old space.
	if _, err := t.Exec(pauseForeignSQL, m.To, m.FormID, toMillis(now)); err != nil {
		return nil, false, err
	}
	if _, err := t.Exec(moveAddressSQL, m.From, m.FormID, m.To); err != nil {
		return nil, false, err
	}
	for _, sql := range []string{dropInvitesSQL, dropEditorsSQL} {
		if _, err := t.Exec(sql, m.From, m.FormID); err != nil {
			return nil, false, err
		}
	}
	state.Stage, state.Step = stageClean, 0
	return people, true, nil
}

// insertTaken inserts the row of a form that was deleted or taken from another account.
func insertTaken(t db.Tx, owner string, taken trashedForm) error {
	f := taken.Form
	if _, err := t.Exec(restoreFormSQL, owner, f.ID, taken.Serial, f.Title, f.Description, f.Language, string(f.Status), f.Version, f.Revision,
		f.ResponseCount, taken.ResponseSerial, taken.ResponseTick, toMillis(f.CreatedAt), toMillis(f.UpdatedAt), form.SearchKey(f.Title),
		searchKey(form.Header{Title: f.Title, Description: f.Description}), f.Slug, toMillis(f.OpensAt), toMillis(f.ClosesAt), f.ResponseLimit, f.Sites, taken.StoredBytes, taken.OpeningDue, f.Folder, taken.ClosedAt); err != nil {
		return err
	}
	_, err := t.Exec(countFormSQL, owner, string(f.Status), f.Language, 1)
	return err
}
