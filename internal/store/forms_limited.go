package store

import (
	"context"
	"encoding/json"
	"slices"
	"sort"
	"sync"

	"formulary/internal/db"
	"formulary/internal/form"
)

// A limited list is that of somebody who may use some forms of a space only, of which they know the
// IDs. Reading them one by one costs the same for each page, so the IDs that a filter leaves are
// cached, and a page reads only its own forms.

// limitedList identifies such a list.
type limitedList struct {
	owner string
	FormFilter
	sort FormSort
}

// formListBytes limits the cache of lists.
const formListBytes = 16 << 20

// limitedForms is Forms for a filter with Only.
func (s *Store) limitedForms(ctx context.Context, list limitedList, page Page) ([]form.Form, int64, error) {
	ids, generation, ok := s.formLists.Get(list.owner, list)
	if !ok {
		var err error
		if ids, err = s.sharedIDs(ctx, list, generation); err != nil {
			return nil, 0, err
		}
	}
	from := min(page.Offset, int64(len(ids)))
	wanted := ids[from:min(from+page.Limit, int64(len(ids)))]
	forms, err := s.formsByID(ctx, list.owner, wanted)
	return forms, int64(len(ids)), err
}

// listRead is a list that is being read.
type listRead struct {
	list       limitedList
	generation Generation
}

// sharedIDs reads and caches the IDs of a list. Callers that need it at the same time share one
// read, which does not end with any of them. Whoever knows of a change since it started has another
// generation.
func (s *Store) sharedIDs(ctx context.Context, list limitedList, generation Generation) ([]string, error) {
	if !generation.known {
		return s.limitedIDs(ctx, list)
	}
	this := listRead{list, generation}
	read, _ := s.listReads.LoadOrStore(this, sync.OnceValues(func() ([]string, error) {
		defer s.listReads.Delete(this)
		ids, err := s.limitedIDs(context.WithoutCancel(ctx), list)
		if err == nil && list.Search == "" {
			s.formLists.Put(list, generation, ids, int64(len(list.Only)+40*len(ids)+100))
		}
		return ids, err
	}))
	return read.(func() ([]string, error))()
}

// limitedIDs reads the IDs of all forms in a list, in order.
func (s *Store) limitedIDs(ctx context.Context, list limitedList) ([]string, error) {
	sql := `SELECT id FROM ` + s.db.Listed("form", "id", "$6") + ` AND account_id = $1` + formFilter + ` ORDER BY ` + formSorts[list.sort]
	var ids []string
	err := s.db.Query(ctx, sql, func(r db.Row) error {
		var formID string
		err := r.Scan(&formID)
		ids = append(ids, formID)
		return err
	}, list.owner, list.Status, list.Language, form.SearchKey(list.Search), list.Folder, list.Only)
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
