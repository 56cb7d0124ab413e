package store

import (
	"context"
	"encoding/json"

	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
)

// Folder is a name under which an owner keeps forms. It exists while it has forms.
type Folder struct {
	Name  string
	Forms int64
}

// maxFolders limits the list of folders.
const maxFolders = 200

const (
	foldersSQL      = `SELECT folder, COUNT(*) FROM form WHERE account_id = $1` + groupFoldersSQL
	someFoldersSQL  = `SELECT folder, COUNT(*) FROM `
	groupFoldersSQL = ` AND folder <> '' GROUP BY folder ORDER BY folder LIMIT $2`
	setFolderSQL    = `UPDATE form SET folder = $3 WHERE account_id = $1 AND id = $2`
	renameFolderSQL = `UPDATE form SET folder = $3 WHERE account_id = $1 AND folder = $2 AND folder <> ''`

	// Drafts that were saved by earlier versions have no design of their own.
	designSQL = `SELECT design, CASE WHEN design = '' AND LENGTH(definition) <= $3 THEN definition ELSE '' END
		FROM form_draft WHERE account_id = $1 AND form_id = $2`
)

// Folders lists the folders of the owner by name, with the forms that only selects, see FormFilter.
func (s *Store) Folders(ctx context.Context, owner, only string) (_ []Folder, err error) {
	defer wrap(&err, "list folders")
	var list []Folder
	sql, args := foldersSQL, []any{owner, maxFolders}
	if only != "" {
		sql, args = someFoldersSQL+s.db.Listed("form", "id", "$3")+` AND account_id = $1`+groupFoldersSQL, append(args, only)
	}
	err = s.db.Query(ctx, sql, func(r db.Row) error {
		var f Folder
		err := r.Scan(&f.Name, &f.Forms)
		list = append(list, f)
		return err
	}, args...)
	return list, err
}

// SetFolder moves a form to a folder; empty: to none. It is not a change of the form: its
// revision stays.
func (s *Store) SetFolder(ctx context.Context, owner, formID, folder string) (err error) {
	defer wrap(&err, "move form")
	if _, ok := id.Parse(id.Form, formID); !ok {
		return fault.NotFound
	}
	return s.write(ctx, owner, func(t db.Tx) error { return checkAffected(t.Exec(setFolderSQL, owner, formID, folder)) })
}

// RenameFolder moves all forms of a folder to another one; empty: to none.
func (s *Store) RenameFolder(ctx context.Context, owner, from, to string) (err error) {
	defer wrap(&err, "rename folder")
	return s.write(ctx, owner, func(t db.Tx) error { return checkAffected(t.Exec(renameFolderSQL, owner, from, to)) })
}

// maxOldDraft is the largest draft that is parsed only for its design, in bytes.
const maxOldDraft = 32 << 10

// Designs returns the designs of the drafts of forms.
func (s *Store) Designs(ctx context.Context, owner string, forms []string) (_ map[string]form.Design, err error) {
	defer wrap(&err, "read designs")
	list := make(map[string]form.Design, len(forms))
	var statements []db.Statement
	for _, formID := range forms {
		statements = append(statements, db.Statement{SQL: designSQL, Args: []any{owner, formID, maxOldDraft}, Scan: func(r db.Row) error {
			var text, old string
			if err := r.Scan(&text, &old); err != nil {
				return err
			}
			var draft struct{ Design form.Design }
			var err error
			switch {
			case text != "":
				err = json.Unmarshal([]byte(text), &draft.Design)
			case old != "":
				err = json.Unmarshal([]byte(old), &draft)
			}
			list[formID] = draft.Design
			return err
		}})
	}
	if len(statements) == 0 {
		return list, nil
	}
	return list, s.db.QueryBatch(ctx, statements...)
}

// encodeDesign returns the design of a draft as it is stored beside the draft, never empty.
func encodeDesign(d *form.Definition) (string, error) {
	text, err := json.Marshal(d.Design)
	return string(text), err
}
