package store

import (
	"context"
	"encoding/json"
	"slices"
	"sort"
	"strings"
	"time"

	"formulary/internal/account"
	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/id"
)

// MaxGrantForms is how many forms a grant of some forms can have.
const MaxGrantForms = 1_000

// GrantLimits is what a grant is limited to. The zero value is a grant without limits.
type GrantLimits struct {
	Space     string    // ID of the account that is the space; empty: the user's own
	SomeForms bool      // only Forms, and what is created through the grant
	Forms     []string  // their IDs
	Ends      time.Time // zero: when it is revoked
}

// endedAt is the column of the same name of a new grant. Earlier versions of this program do not
// know limits, so they must take a limited grant as ended.
func (l GrantLimits) endedAt() int64 {
	if l.Space != "" || l.SomeForms || !l.Ends.IsZero() {
		return -1
	}
	return 0
}

// hasEnded reports whether the grant was for a time that is over.
func (l GrantLimits) hasEnded(now time.Time) bool { return !l.Ends.IsZero() && !now.Before(l.Ends) }

// covers reports whether a grant with these limits allows all that one with the other limits would.
func (l GrantLimits) covers(other GrantLimits) bool {
	if l.Space != other.Space || !l.Ends.IsZero() && (other.Ends.IsZero() || other.Ends.After(l.Ends)) {
		return false
	}
	if !l.SomeForms {
		return true
	}
	return other.SomeForms && !slices.ContainsFunc(other.Forms, func(formID string) bool { return !slices.Contains(l.Forms, formID) })
}

// GrantChoice is what a user has chosen for a grant. Store.GrantChoice returns it for limits that
// the user may give.
type GrantChoice struct {
	limits GrantLimits
	Space  Space // empty: the user's own
	Forms  []FormTitle
}

// Limits returns the limits of the grant.
func (c GrantChoice) Limits() GrantLimits { return c.limits }

// FormTitle names a form.
type FormTitle struct{ ID, Title string }

var (
	// ErrForeignSpace is the error for a space that the user is not in.
	ErrForeignSpace = fault.New(fault.Forbidden, "You are not a member of this space. Go back and choose another one.")
	// ErrForeignForm is the error for a form that is not in the space of a grant.
	ErrForeignForm   = fault.New(fault.Forbidden, "These forms are not all in the space you chose. Choose the forms again.")
	errTooManyForms  = fault.New(fault.Forbidden, "An app can have access to %d chosen forms. Choose fewer forms, or all of them.", MaxGrantForms)
	errGrantHasForms = fault.New(fault.QuotaReached, "The grant has reached its limit of %d forms.", MaxGrantForms)
)

// GrantChoice checks that a user may give a grant with these limits. Forms are stored with their
// space and grants with the user, so this is no part of the transaction that stores the grant: a
// form that is deleted or moved in between is not found later.
func (s *Store) GrantChoice(ctx context.Context, person string, limits GrantLimits) (_ GrantChoice, err error) {
	defer wrap(&err, "check grant")
	choice := GrantChoice{limits: limits}
	if limits.Space == person {
		choice.limits.Space = ""
	}
	access, err := s.Access(ctx, person, limits.Space)
	if err != nil {
		return choice, replaceNotFound(err, ErrForeignSpace)
	}
	if choice.limits.Space != "" {
		if choice.Space, err = s.Space(ctx, access.Space); err != nil {
			return choice, replaceNotFound(err, ErrForeignSpace)
		}
	}
	choice.limits.Forms = nil
	if !limits.SomeForms {
		return choice, nil
	}
	forms := slices.Clone(limits.Forms)
	slices.Sort(forms)
	if forms = slices.Compact(forms); len(forms) > MaxGrantForms {
		return choice, errTooManyForms
	}
	choice.limits.Forms = forms
	if choice.Forms, err = s.FormTitles(ctx, access, forms); err == nil && len(choice.Forms) != len(forms) {
		err = ErrForeignForm
	}
	return choice, err
}

// FormTitles returns those of the forms that exist and may be used, by title.
func (s *Store) FormTitles(ctx context.Context, access account.Access, formIDs []string) (list []FormTitle, err error) {
	defer wrap(&err, "read titles of forms")
	var valid []string
	for _, formID := range formIDs {
		if _, ok := id.Parse(id.Form, formID); ok && access.Check(account.FormsRead, formID) == nil {
			valid = append(valid, formID)
		}
	}
	if len(valid) == 0 {
		return nil, nil
	}
	slices.Sort(valid)
	text, err := json.Marshal(slices.Compact(valid))
	if err != nil {
		return nil, err
	}
	sql := `SELECT id, title FROM ` + s.db.Listed("form", "id", "$2") + ` AND account_id = $1`
	err = s.db.Query(ctx, sql, func(r db.Row) error {
		var f FormTitle
		err := r.Scan(&f.ID, &f.Title)
		list = append(list, f)
		return err
	}, access.Space, string(text))
	sort.Slice(list, func(i, j int) bool {
		return strings.ToLower(list[i].Title)+list[i].ID < strings.ToLower(list[j].Title)+list[j].ID
	})
	return list, err
}

const (
	insertGrantFormSQL = `INSERT INTO consent_form (account_id, consent_id, form_id) VALUES ($1, $2, $3)`
	addGrantFormSQL    = insertGrantFormSQL + ` ON CONFLICT (account_id, consent_id, form_id) DO NOTHING`
	holdMembershipSQL  = `UPDATE membership SET role = role WHERE account_id = $1 AND space_id = $2`
)

// holdMembership returns an error unless the user is in the space, and keeps them in it until the
// transaction ends: whoever removes them then finds what the transaction has stored.
func holdMembership(t db.Tx, person, space string) error {
	if space == "" || space == person {
		return nil
	}
	return replaceNotFound(checkAffected(t.Exec(holdMembershipSQL, person, space)), ErrForeignSpace)
}

// insertGrantForms adds the first forms of a grant of some forms.
func insertGrantForms(t db.Tx, person, grant string, forms []string) error {
	rows := make([][]any, len(forms))
	for i, formID := range forms {
		rows[i] = []any{formID}
	}
	return t.ExecEach(insertGrantFormSQL, []any{person, grant}, rows)
}

// AddGrantForm adds a form to a grant of some forms.
func (s *Store) AddGrantForm(ctx context.Context, person, grant, formID string) (err error) {
	defer wrap(&err, "add form to grant")
	return s.write(ctx, person, func(t db.Tx) error {
		_, err := t.Exec(addGrantFormSQL, person, grant, formID)
		return err
	})
}

// CheckGrantForms returns an error if a grant of some forms cannot have another one.
func CheckGrantForms(access account.Access) error {
	if len(access.Forms) >= MaxGrantForms {
		return errGrantHasForms
	}
	return nil
}

// grantLimits is what the row of a grant says about its limits.
type grantLimits struct {
	space     string // empty: the user's own
	role      string // of the user in the space; empty: they are not in it
	someForms bool
	forms     string // their IDs, separated by commas
	ends      int64
}

// limits returns the limits as others know them.
func (g grantLimits) limits() GrantLimits {
	return GrantLimits{Space: g.space, SomeForms: g.someForms, Forms: g.formIDs(), Ends: fromMillis(g.ends)}
}

func (g grantLimits) formIDs() []string {
	return strings.FieldsFunc(g.forms, func(r rune) bool { return r == ',' })
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
	return access.Limit(g.formIDs()), nil
}
