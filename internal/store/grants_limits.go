package store

import (
	"context"
	"strings"

	"formulary/internal/account"
	"formulary/internal/db"
)

// MaxGrantForms is how many forms a grant of some forms can have.
const MaxGrantForms = 1_000

const addGrantFormSQL = `INSERT INTO consent_form (account_id, consent_id, form_id) VALUES ($1, $2, $3)
	ON CONFLICT (account_id, consent_id, form_id) DO NOTHING`

// AddGrantForm adds a form to a grant of some forms.
func (s *Store) AddGrantForm(ctx context.Context, person, grant, formID string) (err error) {
	defer wrap(&err, "add form to grant")
	return s.write(ctx, person, func(t db.Tx) error {
		_, err := t.Exec(addGrantFormSQL, person, grant, formID)
		return err
	})
}

// grantLimits is what the row of a grant says about its limits.
type grantLimits struct {
	space     string // empty: the user's own
	role      string // of the user in the space; empty: they are not in it
	someForms bool
	forms     string // their IDs, separated by commas
	ends      int64
}

// access returns what the grant gives access to. fault.NotFound: the user has left the space.
func (g grantLimits) access(q querier, person string) (account.Access, error) {
	access := account.Access{Space: g.space, Role: account.Role(g.role)}
	if g.space == "" || g.space == person || g.role == "" || access.Role == account.Guest {
		var err error
		if access, err = readAccess(q, person, g.space); err != nil {
			return access, err
		}
	}
	if !g.someForms {
		return access, nil
	}
	return access.Limit(strings.FieldsFunc(g.forms, func(r rune) bool { return r == ',' })), nil
}
