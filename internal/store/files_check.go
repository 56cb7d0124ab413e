package store

import (
	"context"
	"encoding/json"
	"slices"

	"formulary/internal/db"
	"formulary/internal/fault"
)

const (
	// An object is in use if a row has it, and also while it waits to be deleted.
	knownObjectSQL = `SELECT object FROM file WHERE object = $1 UNION ALL SELECT thumbnail FROM file WHERE thumbnail = $1 AND thumbnail <> ''
		UNION ALL SELECT object FROM picture WHERE object = $1 UNION ALL SELECT object FROM file_garbage WHERE object = $1`
	allFilesSQL = `SELECT account_id, form_id, id, object, size, sha256, response_id FROM file
		WHERE account_id > $1 OR account_id = $1 AND (form_id > $2 OR form_id = $2 AND id > $3)
		ORDER BY account_id, form_id, id LIMIT $4`
	allPicturesSQL = `SELECT account_id, id, object, size, sha256 FROM picture WHERE id > $1 ORDER BY id LIMIT $2`
	dropUploadSQL  = `DELETE FROM file WHERE account_id = $1 AND form_id = $2 AND id = $3 AND response_id = '' RETURNING object, thumbnail`
)

// KnownObjects returns which of the objects are in use.
func (s *Store) KnownObjects(ctx context.Context, objects []string) (_ map[string]bool, err error) {
	defer wrap(&err, "look up objects")
	known := map[string]bool{}
	for _, object := range objects {
		err := s.db.Query(ctx, knownObjectSQL, func(db.Row) error {
			known[object] = true
			return nil
		}, object)
		if err != nil {
			return nil, err
		}
	}
	return known, nil
}

// StoredObject is an object that a row has.
type StoredObject struct {
	Owner, FormID, ID string // FormID is empty for a picture
	ResponseID        string
	Object            string
	Size              int64
	SHA256            string // empty: not known
}

// objectBatch is how many rows EachObject reads at a time.
const objectBatch = 500

// EachObject calls fn with the objects of all files and pictures, without those that are
// stored meanwhile. Thumbnails are not among them: they can be made again.
func (s *Store) EachObject(ctx context.Context, fn func(StoredObject) error) (err error) {
	defer wrap(&err, "list objects")
	var last StoredObject
	for {
		var batch []StoredObject
		err := s.db.Query(ctx, allFilesSQL, func(r db.Row) error {
			var o StoredObject
			err := r.Scan(&o.Owner, &o.FormID, &o.ID, &o.Object, &o.Size, &o.SHA256, &o.ResponseID)
			batch = append(batch, o)
			return err
		}, last.Owner, last.FormID, last.ID, objectBatch)
		if err != nil {
			return err
		}
		for _, o := range batch {
			if err := fn(o); err != nil {
				return err
			}
		}
		if len(batch) < objectBatch {
			break
		}
		last = batch[len(batch)-1]
	}
	return s.eachPicture(ctx, fn)
}

func (s *Store) eachPicture(ctx context.Context, fn func(StoredObject) error) error {
	last := ""
	for {
		var batch []StoredObject
		err := s.db.Query(ctx, allPicturesSQL, func(r db.Row) error {
			var o StoredObject
			err := r.Scan(&o.Owner, &o.ID, &o.Object, &o.Size, &o.SHA256)
			batch = append(batch, o)
			return err
		}, last, objectBatch)
		if err != nil {
			return err
		}
		for _, o := range batch {
			if err := fn(o); err != nil {
				return err
			}
		}
		if len(batch) < objectBatch {
			return nil
		}
		last = batch[len(batch)-1].ID
	}
}

// DropUpload deletes an upload that no response has claimed.
func (s *Store) DropUpload(ctx context.Context, o StoredObject) (err error) {
	defer wrap(&err, "drop upload")
	return s.db.Write(ctx, func(t db.Tx) error {
		_, err := t.Exec(dropUploadSQL, o.Owner, o.FormID, o.ID)
		return err
	})
}

// FileMove says that files are being moved, or were moved. The zero value: they never were.
type FileMove struct {
	From    string   `json:"from"`
	To      string   `json:"to"`
	Earlier []string `json:"earlier,omitempty"` // where files were before the last move
}

// Next returns the move that follows this one.
func (m FileMove) Next(from, to string) FileMove {
	next := FileMove{From: from, To: to}
	for _, place := range append(slices.Clone(m.Earlier), m.From, m.To) {
		if place != "" && place != from && place != to && !slices.Contains(next.Earlier, place) {
			next.Earlier = append(next.Earlier, place)
		}
	}
	return next
}

const fileMoveSetting = "file_move"

// FileMove returns the last move of files.
func (s *Store) FileMove(ctx context.Context) (m FileMove, err error) {
	defer wrap(&err, "read move of files")
	var text string
	if err := queryOne(s.query(ctx), settingSQL, []any{fileMoveSetting}, &text); err != nil {
		return m, replaceNotFound(err, nil)
	}
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return m, fault.Wrap(err)
	}
	return m, nil
}

// SetFileMove notes a move of files, which all nodes follow.
func (s *Store) SetFileMove(ctx context.Context, m FileMove) (err error) {
	defer wrap(&err, "note move of files")
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, func(t db.Tx) error {
		_, err := t.Exec(setSettingSQL, fileMoveSetting, string(text))
		return err
	})
}
