package store

import (
	"context"
	"math"
	"slices"

	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/form"
)

const (
	takeOptionSQL = `INSERT INTO option_count (account_id, form_id, field_id, value, n) VALUES ($1, $2, $3, $4, 1)
		ON CONFLICT (account_id, form_id, field_id, value) DO UPDATE SET n = option_count.n + 1 WHERE option_count.n < $5`
	giveOptionSQL = `UPDATE option_count SET n = n - 1 WHERE account_id = $1 AND form_id = $2 AND field_id = $3 AND value = $4 AND n > 0`
	setOptionSQL  = `INSERT INTO option_count (account_id, form_id, field_id, value, n) VALUES ($1, $2, $3, $4, $5)`
	dropCountsSQL = `DELETE FROM option_count WHERE account_id = $1 AND form_id = $2`
	publishedSQL  = `SELECT version FROM form WHERE account_id = $1 AND id = $2`
	optionsSQL    = `SELECT field_id, value, n FROM option_count WHERE account_id = $1 AND form_id = $2`
)

// option identifies an option by field ID and option value.
type option [2]string

// optionLimits returns the option limits of a definition.
func optionLimits(d *form.Definition) map[option]int64 {
	if !d.HasOptionLimits() {
		return nil
	}
	limits := map[option]int64{}
	for _, f := range d.Fields {
		for _, o := range f.Options {
			if o.Cap > 0 {
				limits[option{f.ID, o.Value}] = int64(o.Cap)
			}
		}
	}
	return limits
}

// claimOptions counts selected options that have a limit, and fails if one reached it.
// The limits of the live version apply, whichever version was answered.
func claimOptions(t db.Tx, owner, formID string, limits map[option]int64, chosen []form.Selection) error {
	for _, c := range chosen {
		limit := limits[option{c.FieldID, c.Value}]
		if limit == 0 {
			continue
		}
		n, err := t.Exec(takeOptionSQL, owner, formID, c.FieldID, c.Value, limit)
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.InvalidFields(fault.DetailOf(c.Key, form.ErrOptionLimitReached))
		}
	}
	return nil
}

// releaseOptions undoes claimOptions.
func releaseOptions(t db.Tx, owner, formID string, chosen []form.Selection) error {
	for _, c := range chosen {
		if _, err := t.Exec(giveOptionSQL, owner, formID, c.FieldID, c.Value); err != nil {
			return err
		}
	}
	return nil
}

// optionChange describes which responses change the counts of options.
type optionChange struct {
	removed, added []form.Response
	enforceLimits  bool // fail if a limit would be exceeded
}

// updateOptionCounts releases the options selected in some responses and claims those
// selected in others. An option that both selected keeps its count.
func (s *Store) updateOptionCounts(t db.Tx, owner, formID string, change optionChange) error {
	if len(change.removed)+len(change.added) == 0 {
		return nil
	}
	var version int64
	if err := queryOne(t.Query, publishedSQL, []any{owner, formID}, &version); err != nil {
		return err
	}
	published, err := s.definitions.of(t.Query, owner, formID, version)
	if err != nil {
		return err
	}
	limits := optionLimits(published)
	if limits == nil {
		return nil
	}
	if !change.enforceLimits {
		for o := range limits {
			limits[o] = math.MaxInt64
		}
	}
	chosen := func(list []form.Response) (all []form.Selection, err error) {
		for _, r := range list {
			more, err := s.selectedOptions(t, owner, r)
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
		}
		return all, nil
	}
	released, err := chosen(change.removed)
	if err != nil {
		return err
	}
	claimed, err := chosen(change.added)
	if err != nil {
		return err
	}
	for i := 0; i < len(claimed); i++ {
		if same := slices.IndexFunc(released, func(c form.Selection) bool { return c.FieldID == claimed[i].FieldID && c.Value == claimed[i].Value }); same >= 0 {
			released, claimed = slices.Delete(released, same, same+1), slices.Delete(claimed, i, i+1)
			i--
		}
	}
	if err := releaseOptions(t, owner, formID, released); err != nil {
		return err
	}
	return claimOptions(t, owner, formID, limits, claimed)
}

func (s *Store) selectedOptions(t db.Tx, owner string, r form.Response) ([]form.Selection, error) {
	d, err := s.definitions.of(t.Query, owner, r.FormID, r.Version)
	if err != nil {
		return nil, err
	}
	answers, err := r.Answers()
	return d.Selections(answers), err
}

// recountOptions counts the options with limits in all responses. The caller has locked
// the form. It does nothing if there are no limits.
func (s *Store) recountOptions(t db.Tx, owner, formID string, d *form.Definition) error {
	if _, err := t.Exec(dropCountsSQL, owner, formID); err != nil {
		return err
	}
	limits := optionLimits(d)
	if limits == nil {
		return nil
	}
	sum, err := s.updateSummary(t.Query, owner, formID)
	if err != nil {
		return err
	}
	rows := make([][]any, 0, len(limits))
	for o := range limits {
		var n int64
		if stats := sum.Fields[o[0]]; stats != nil {
			n = stats.Counts[o[1]]
		}
		rows = append(rows, []any{o[0], o[1], n})
	}
	return t.ExecEach(setOptionSQL, []any{owner, formID}, rows)
}

// OptionsLeft returns how often each option with a limit can still be chosen, by field ID
// and value.
func (s *Store) OptionsLeft(ctx context.Context, p *PublicForm) (_ map[[2]string]int64, err error) {
	defer wrap(&err, "read option limits")
	limits := optionLimits(p.Definition)
	if limits == nil {
		return nil, nil
	}
	left := make(map[[2]string]int64, len(limits))
	for o, limit := range limits {
		left[o] = limit
	}
	err = s.db.Query(attributed(ctx, p.Owner), optionsSQL, func(r db.Row) error {
		var o option
		var n int64
		err := r.Scan(&o[0], &o[1], &n)
		if limit := limits[o]; limit > 0 {
			left[o] = max(0, limit-n)
		}
		return err
	}, p.Owner, p.ID)
	return left, err
}
