package store

import (
	"context"

	"formulary/internal/fault"
	"formulary/internal/form"
)

const (
	takeOptionSQL = `INSERT INTO option_count (account_id, form_id, field_id, value, n) VALUES ($1, $2, $3, $4, 1)
		ON CONFLICT (account_id, form_id, field_id, value) DO UPDATE SET n = option_count.n + 1 WHERE option_count.n < $5`
	giveOptionSQL = `UPDATE option_count SET n = n - 1 WHERE account_id = $1 AND form_id = $2 AND field_id = $3 AND value = $4 AND n > 0`
	setOptionSQL  = `INSERT INTO option_count (account_id, form_id, field_id, value, n) VALUES ($1, $2, $3, $4, $5)`
	dropCountsSQL = `DELETE FROM option_count WHERE account_id = $1 AND form_id = $2`
	optionsSQL    = `SELECT field_id, value, n FROM option_count WHERE account_id = $1 AND form_id = $2`
)

// takeOptions counts options that have a cap; one that is full is refused.
func takeOptions(t tx, owner, formID string, chosen []form.Choice) error {
	for _, c := range chosen {
		if c.Cap == 0 {
			continue
		}
		n, err := t.Exec(takeOptionSQL, owner, formID, c.FieldID, c.Value, c.Cap)
		if err != nil {
			return err
		}
		if n == 0 {
			p := form.ErrFull.(*form.Problem)
			return fault.Fields(fault.Detail{Field: c.Key, Message: p.Error(), Format: p.Format})
		}
	}
	return nil
}

// giveOptions takes back what a response counted for.
func giveOptions(t tx, owner, formID string, chosen []form.Choice) error {
	for _, c := range chosen {
		if _, err := t.Exec(giveOptionSQL, owner, formID, c.FieldID, c.Value); err != nil {
			return err
		}
	}
	return nil
}

// recountOptions counts the options that the definition caps among all responses
// there are. The form is locked meanwhile. Without caps it costs nothing.
func recountOptions(t tx, owner, formID string, d *form.Definition) error {
	if _, err := t.Exec(dropCountsSQL, owner, formID); err != nil {
		return err
	}
	if !d.HasCaps() {
		return nil
	}
	capped := map[[2]string]int64{}
	for _, f := range d.Fields {
		for _, o := range f.Options {
			if o.Cap > 0 {
				capped[[2]string{f.ID, o.Value}] = 0
			}
		}
	}
	var known definitions
	if err := eachResponse(t.Query, owner, formID, func(r form.Response) error {
		asked, err := known.of(t.Query, owner, formID, r.Version)
		if err != nil {
			return err
		}
		answers, err := r.Answers()
		for _, c := range asked.Choices(answers) {
			if _, ok := capped[[2]string{c.FieldID, c.Value}]; ok {
				capped[[2]string{c.FieldID, c.Value}]++
			}
		}
		return err
	}); err != nil {
		return err
	}
	for option, n := range capped {
		if _, err := t.Exec(setOptionSQL, owner, formID, option[0], option[1], n); err != nil {
			return err
		}
	}
	return nil
}

// FullOptions are the options of a form, by field id and value, that have been
// chosen as often as they may.
func (s *Store) FullOptions(ctx context.Context, p PublicForm) (map[[2]string]bool, error) {
	if !p.Definition.HasCaps() {
		return nil, nil
	}
	caps := map[[2]string]int64{}
	for _, f := range p.Definition.Fields {
		for _, o := range f.Options {
			if o.Cap > 0 {
				caps[[2]string{f.ID, o.Value}] = int64(o.Cap)
			}
		}
	}
	full := map[[2]string]bool{}
	err := s.db.Query(ctx, optionsSQL, func(r row) error {
		var option [2]string
		var n int64
		err := r.Scan(&option[0], &option[1], &n)
		if most := caps[option]; most > 0 && n >= most {
			full[option] = true
		}
		return err
	}, p.Owner, p.ID)
	return full, err
}
