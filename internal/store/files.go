package store

import (
	"context"
	"time"

	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
)

// File is the row of a file that a respondent uploaded. Its bytes are in an object of the
// file storage.
type File struct {
	form.File
	FormID     string
	FieldID    string
	ResponseID string // empty until a response claims the file
	SHA256     string // in hexadecimal
	Object     string
	Thumbnail  string // object; empty: none was needed yet
	Client     string // tells the clients of a form apart until a response claims the file
	CreatedAt  time.Time
	ExpiresAt  time.Time // zero once claimed
	Scan       ScanState
	Signature  string // of the malware that was found
}

// ScanState is what is known about malware in a file.
type ScanState string

const (
	NotScanned ScanState = "not_scanned"
	Clean      ScanState = "clean"
	Infected   ScanState = "infected"
	// TooLargeToScan is final until RescanFiles: the scanner refuses files of this size.
	TooLargeToScan ScanState = "too_large"
)

// UnclaimedTTL is how long an uploaded file waits for its response.
const UnclaimedTTL = 24 * time.Hour

const (
	fileColumns = `form_id, id, field_id, response_id, name, size, type, sha256, object, thumbnail, created_at, expires_at, scan, signature`
	addFileSQL  = `INSERT INTO file (account_id, form_id, id, field_id, name, size, type, sha256, object, client, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`
	fileSQL = `SELECT ` + fileColumns + ` FROM file WHERE account_id = $1 AND form_id = $2 AND id = $3`
	// Files of deleted responses and forms cannot be read, even while they can be restored.
	claimedFileSQL = `SELECT ` + fileColumns + ` FROM file WHERE account_id = $1 AND form_id = $2 AND id = $3
		AND EXISTS (SELECT 1 FROM response WHERE account_id = $1 AND form_id = $2 AND id = file.response_id)
		AND EXISTS (SELECT 1 FROM form WHERE account_id = $1 AND id = $2)`
	filesOfResponseSQL = `SELECT ` + fileColumns + ` FROM file WHERE account_id = $1 AND form_id = $2 AND response_id = $3 ORDER BY id`
	claimFileSQL       = `UPDATE file SET response_id = $4, expires_at = 0, client = '' WHERE account_id = $1 AND form_id = $2 AND id = $3
		AND response_id = '' AND expires_at > $5`
	setThumbnailSQL = `UPDATE file SET thumbnail = $4 WHERE account_id = $1 AND form_id = $2 AND id = $3 AND thumbnail = ''`
	// Claimed files are counted with their responses.
	unclaimedStoredSQL = `SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM file WHERE account_id = $1 AND response_id = ''`
)

func scanFile(r db.Row, f *File) error {
	var created, expires int64
	var scan string
	err := r.Scan(&f.FormID, &f.ID, &f.FieldID, &f.ResponseID, &f.Name, &f.Size, &f.Type, &f.SHA256, &f.Object, &f.Thumbnail, &created, &expires, &scan, &f.Signature)
	f.CreatedAt, f.ExpiresAt, f.Scan = fromMillis(created), fromMillis(expires), ScanState(scan)
	return err
}

func readFile(q querier, sql string, args ...any) (File, error) {
	var f File
	found := false
	err := q(sql, func(r db.Row) error {
		found = true
		return scanFile(r, &f)
	}, args...)
	return f, errorWhen(err, !found, fault.NotFound)
}

// AddFile stores the row of an uploaded file, whose object exists.
func (s *Store) AddFile(ctx context.Context, owner string, f File) (err error) {
	defer wrap(&err, "add file")
	ctx = forRespondents(ctx, owner)
	defer func() {
		if err == nil {
			s.uploads.add(f.FormID, f.Size)
		}
	}()
	return s.db.Write(ctx, func(t db.Tx) error {
		// The lock makes a deletion of the form find the row.
		if err := checkAffected(t.Exec(dropCountSQL, owner, f.FormID, 0, 0)); err != nil {
			return err
		}
		if err := allowClientUpload(t.Query, owner, f.FormID, f.Client); err != nil {
			return err
		}
		_, err := t.Exec(addFileSQL, owner, f.FormID, f.ID, f.FieldID, f.Name, f.Size, f.Type, f.SHA256, f.Object, f.Client,
			toMillis(f.CreatedAt), toMillis(f.CreatedAt.Add(UnclaimedTTL)))
		return err
	})
}

func areFileIDs(formID, fileID string) bool {
	_, okForm := id.Parse(id.Form, formID)
	_, ok := id.Parse(id.File, fileID)
	return ok && okForm
}

// fileKey identifies a row of files.
type fileKey struct{ owner, formID, id string }

const (
	filesBytes = 4 << 20 // size of the cache of files
	fileSize   = 1 << 10 // of an entry, about
)

// File returns a file of a response. It is cached: players and downloads that continue ask for
// one file many times.
func (s *Store) File(ctx context.Context, owner, formID, fileID string) (_ File, err error) {
	defer wrap(&err, "read file")
	if !areFileIDs(formID, fileID) {
		return File{}, fault.NotFound
	}
	key := fileKey{owner, formID, fileID}
	f, generation, ok := s.files.Get(owner, key)
	if ok {
		return f, nil
	}
	f, err = readFile(s.query(ctx), claimedFileSQL, owner, formID, fileID)
	if err == nil {
		s.files.Put(key, generation, f, fileSize)
	}
	return f, err
}

// Upload returns a file that waits for its response, so that a page can show it.
func (s *Store) Upload(ctx context.Context, owner, formID, fileID string, now time.Time) (_ File, err error) {
	defer wrap(&err, "read upload")
	if !areFileIDs(formID, fileID) {
		return File{}, fault.NotFound
	}
	f, err := readFile(s.query(forRespondents(ctx, owner)), fileSQL, owner, formID, fileID)
	if err == nil && (f.ResponseID != "" || !now.Before(f.ExpiresAt)) {
		return File{}, fault.NotFound
	}
	return f, err
}

// SetThumbnail stores the object of a file's thumbnail. fault.NotFound: the file has one, or
// does not exist any more.
func (s *Store) SetThumbnail(ctx context.Context, owner string, f File, object string) (err error) {
	defer wrap(&err, "set thumbnail")
	return s.write(ctx, responsesOf(owner), func(t db.Tx) error {
		return checkAffected(t.Exec(setThumbnailSQL, owner, f.FormID, f.ID, object))
	})
}

// FilesOf returns the files of a response by ID.
func (s *Store) FilesOf(ctx context.Context, owner string, r form.Response) (_ map[string]File, err error) {
	defer wrap(&err, "read files of response")
	list := map[string]File{}
	if !hasFiles(r) {
		return list, nil
	}
	err = s.db.Query(ctx, filesOfResponseSQL, func(row db.Row) error {
		var f File
		err := scanFile(row, &f)
		list[f.ID] = f
		return err
	}, owner, r.FormID, r.ID)
	return list, err
}
