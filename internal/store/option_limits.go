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
	caps := map[option]int64{}
	for _, f := range d.Fields {
		for _, o := range f.Options {
			if o.Cap > 0 {
				caps[option{f.ID, o.Value}] = int64(o.Cap)
			}
		}
	}
	return caps
}

// claimOptions counts selected options that have a limit, and fails if one reached it.
// The limits of the live version apply, whichever version was answered.
func claimOptions(t db.Tx, owner, formID string, caps map[option]int64, chosen []form.Selection) error {
	for _, c := range chosen {
		most := caps[option{c.FieldID, c.Value}]
		if most == 0 {
			continue
		}
		n, err := t.Exec(takeOptionSQL, owner, formID, c.FieldID, c.Value, most)
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
	gone, came    []form.Response
	enforceLimits bool // fail if a limit would be exceeded
}

// updateOptionCounts releases the options selected in some responses and claims those
// selected in others. An option that both selected keeps its count.
func (s *Store) updateOptionCounts(t db.Tx, owner, formID string, change optionChange) error {
	if len(change.gone)+len(change.came) == 0 {
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
	caps := optionLimits(published)
	if caps == nil {
		return nil
	}
	if !change.enforceLimits {
		for o := range caps {
			caps[o] = math.MaxInt64
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
	give, err := chosen(change.gone)
	if err != nil {
		return err
	}
	take, err := chosen(change.came)
	if err != nil {
		return err
	}
	for i := 0; i < len(take); i++ {
		if same := slices.IndexFunc(give, func(c form.Selection) bool { return c.FieldID == take[i].FieldID && c.Value == take[i].Value }); same >= 0 {
			give, take = slices.Delete(give, same, same+1), slices.Delete(take, i, i+1)
			i--
		}
	}
	if err := releaseOptions(t, owner, formID, give); err != nil {
		return err
	}
	return claimOptions(t, owner, formID, caps, take)
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
	caps := optionLimits(d)
	if caps == nil {
		return nil
	}
	sum, err := s.updateSummary(t.Query, owner, formID)
	if err != nil {
		return err
	}
	rows := make([][]any, 0, len(caps))
	for o := range caps {
		var n int64
		if tally := sum.Fields[o[0]]; tally != nil {
			n = tally.Counts[o[1]]
		}
		rows = append(rows, []any{o[0], o[1], n})
	}
	return t.ExecEach(setOptionSQL, []any{owner, formID}, rows)
}

// OptionsAtLimit returns the options of a form that reached their limit, by field ID
// and value.
func (s *Store) OptionsAtLimit(ctx context.Context, p *PublicForm) (_ map[[2]string]bool, err error) {
	defer wrap(&err, "read options at their limit")
	caps := optionLimits(p.Definition)
	if caps == nil {
		return nil, nil
	}
	full := map[[2]string]bool{}
	err = s.db.Query(attributed(ctx, p.Owner), optionsSQL, func(r db.Row) error {
		var o option
		var n int64
		err := r.Scan(&o[0], &o[1], &n)
		if most := caps[o]; most > 0 && n >= most {
			full[o] = true
		}
		return err
	}, p.Owner, p.ID)
	return full, err
}
