package store

import (
	"cmp"
	"context"
	"sort"

	"formulary/internal/account"
	"formulary/internal/db"
)

// SpaceMenu is what a person can switch between.
type SpaceMenu struct {
	Current Space   // zero: the person's own
	Others  []Space // by name
	More    bool    // there are more than the menu has
}

// menuSpaces is how many spaces the menu has beside the person's own.
const menuSpaces = 12

const (
	// The order of the key needs no sorting, however many spaces there are.
	menuSpacesSQL = `SELECT a.id, a.name, a.email, a.role, a.created_at, m.role FROM membership m JOIN account a ON a.id = m.space_id
		WHERE m.account_id = $1 ORDER BY m.space_id DESC LIMIT $2`
	menuCurrentSQL = `SELECT a.id, a.name, a.email, a.role, a.created_at, m.role FROM membership m JOIN account a ON a.id = m.space_id
		WHERE m.account_id = $1 AND m.space_id = $2`
)

// SpaceMenu returns the newest spaces of others that a person can use, and the current one.
func (s *Store) SpaceMenu(ctx context.Context, person, current string) (menu SpaceMenu, err error) {
	defer wrap(&err, "read menu of spaces")
	read := func(r db.Row) (Space, error) {
		var role string
		space, err := scanSpace(r, &role)
		space.Role = account.Role(role)
		return space, err
	}
	err = s.db.QueryBatch(ctx,
		db.Statement{SQL: menuSpacesSQL, Args: []any{person, menuSpaces + 1}, Scan: func(r db.Row) error {
			space, err := read(r)
			menu.Others = append(menu.Others, space)
			return err
		}},
		db.Statement{SQL: menuCurrentSQL, Args: []any{person, current}, Scan: func(r db.Row) (err error) {
			menu.Current, err = read(r)
			return err
		}})
	if menu.More = len(menu.Others) > menuSpaces; menu.More {
		menu.Others = menu.Others[:menuSpaces]
	}
	sort.Slice(menu.Others, func(i, j int) bool {
		a, b := menu.Others[i], menu.Others[j]
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Key, b.Key)) < 0
	})
	return menu, err
}
