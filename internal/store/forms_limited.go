package store

import (
	"context"
	"encoding/json"
	"slices"
	"sort"

	"formulary/internal/db"
	"formulary/internal/form"
)

// A limited list is that of somebody who may use some forms of a space only, of which they know the
// IDs. Reading them one by one costs the same for each page, so the IDs that a filter leaves are
// cached, and a page reads only its own forms.

// limitedList identifies such a list.
type limitedList struct {
	FormFilter
	sort FormSort
}

// formListBytes limits the cache of lists.
const formListBytes = 16 << 20

// limitedForms is Forms for a filter with Only.
func (s *Store) limitedForms(ctx context.Context, owner string, list limitedList, page Page) ([]form.Form, int64, error) {
	ids, generation, ok := s.formLists.Get(owner, list)
	if !ok {
		var err error
		if ids, err = s.limitedIDs(ctx, owner, list); err != nil {
			return nil, 0, err
		}
		if list.Search == "" {
			s.formLists.Put(list, generation, ids, int64(len(list.Only)+40*len(ids)+100))
		}
	}
	from := min(page.Offset, int64(len(ids)))
	wanted := ids[from:min(from+page.Limit, int64(len(ids)))]
	forms, err := s.formsByID(ctx, owner, wanted)
	return forms, int64(len(ids)), err
}

// limitedIDs reads the IDs of all forms in a list, in order.
func (s *Store) limitedIDs(ctx context.Context, owner string, list limitedList) ([]string, error) {
	sql := `SELECT id FROM ` + s.db.Listed("form", "id", "$6") + ` AND account_id = $1` + formFilter + ` ORDER BY ` + formSorts[list.sort]
	var ids []string
	err := s.db.Query(ctx, sql, func(r db.Row) error {
		var formID string
		err := r.Scan(&formID)
		ids = append(ids, formID)
		return err
	}, owner, list.Status, list.Language, form.SearchKey(list.Search), list.Folder, list.Only)
	return ids, err
}

// formsByID reads forms in the order of their IDs in the list, without those that do not exist.
func (s *Store) formsByID(ctx context.Context, owner string, ids []string) ([]form.Form, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	only, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	forms := make([]form.Form, 0, len(ids))
	sql := `SELECT ` + formColumns + ` FROM ` + s.db.Listed("form", "id", "$2") + ` AND account_id = $1`
	err = s.db.Query(ctx, sql, func(r db.Row) error {
		f, err := scanForm(r)
		forms = append(forms, f)
		return err
	}, owner, string(only))
	sort.Slice(forms, func(i, j int) bool { return slices.Index(ids, forms[i].ID) < slices.Index(ids, forms[j].ID) })
	return forms, err
}
