package store

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"formulary/internal/db"
	"formulary/internal/form"
)

// Objects is the storage of the bytes of files.
type Objects interface {
	Put(ctx context.Context, key string, r io.Reader, size int64) error
	Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error)
	Delete(ctx context.Context, key string) error
}

// SetObjects sets where the bytes of files are, so that deleting a file deletes them. Call it
// before the store is shared. Without it, a later run of Cleanup deletes them.
func (s *Store) SetObjects(o Objects) { s.objects = o }

const (
	addGarbageSQL      = `INSERT INTO file_garbage (account_id, created_at, object) VALUES ($1, $2, $3)`
	garbageSQL         = `SELECT object FROM file_garbage WHERE account_id = $1 LIMIT $2`
	dropGarbageSQL     = `DELETE FROM file_garbage WHERE account_id = $1 AND object = $2`
	garbageAccountsSQL = `SELECT DISTINCT account_id FROM file_garbage LIMIT $1`
	expiredFilesSQL    = `SELECT account_id, form_id, id FROM file WHERE response_id = '' AND expires_at < $1 LIMIT $2`
)

// Statements that delete rows and return their objects, for dropFiles.
const (
	dropFileSQL          = `DELETE FROM file WHERE account_id = $1 AND form_id = $2 AND id = $3 AND response_id = $4 RETURNING object, thumbnail`
	dropExpiredFileSQL   = `DELETE FROM file WHERE account_id = $1 AND form_id = $2 AND id = $3 AND response_id = '' AND expires_at < $4 RETURNING object, thumbnail`
	dropResponseFilesSQL = `DELETE FROM file WHERE account_id = $1 AND form_id = $2 AND response_id = $3 RETURNING object, thumbnail`
	dropFormFilesSQL     = `DELETE FROM file WHERE account_id = $1 AND form_id = $2 AND id IN
		(SELECT id FROM file WHERE account_id = $1 AND form_id = $2 LIMIT $3) RETURNING object, thumbnail`
	dropAccountFilesSQL = `DELETE FROM file WHERE account_id = $1 AND (form_id, id) IN
		(SELECT form_id, id FROM file WHERE account_id = $1 LIMIT $2) RETURNING object, thumbnail`
	dropAccountPicturesSQL = `DELETE FROM picture WHERE account_id = $1 AND id IN
		(SELECT id FROM picture WHERE account_id = $1 LIMIT $2) RETURNING object, ''`
)

// dropFiles deletes rows and notes that their objects are to be deleted. The first argument
// of the statement is the owner.
func dropFiles(t db.Tx, now time.Time, sql string, args ...any) (int64, error) {
	var objects [][]any
	var n int64
	err := t.Query(sql, func(r db.Row) error {
		var object, thumbnail string
		err := r.Scan(&object, &thumbnail)
		objects = append(objects, []any{object})
		if thumbnail != "" {
			objects = append(objects, []any{thumbnail})
		}
		n++
		return err
	}, args...)
	if err != nil || n == 0 {
		return 0, err
	}
	return n, t.ExecEach(addGarbageSQL, []any{args[0], toMillis(now)}, objects)
}

// hasFiles reports whether answers may contain files. It is a fast test for the many that do
// not.
func hasFiles(r form.Response) bool { return strings.Contains(r.JSON, `"fil_`) }

// dropFilesOf deletes the files of responses.
func dropFilesOf(t db.Tx, owner string, now time.Time, list []form.Response) error {
	for _, r := range list {
		if !hasFiles(r) {
			continue
		}
		if _, err := dropFiles(t, now, dropResponseFilesSQL, owner, r.FormID, r.ID); err != nil {
			return err
		}
	}
	return nil
}

const (
	garbageBatch   = 200
	garbageWorkers = 8
)

// sweep deletes the objects that an owner does not need any more. What fails now is tried
// again by Cleanup.
func (s *Store) sweep(ctx context.Context, owner string) error {
	if s.objects == nil {
		return nil
	}
	ctx = attributed(ctx, owner)
	for {
		var objects []string
		err := s.db.Query(ctx, garbageSQL, func(r db.Row) error {
			var object string
			err := r.Scan(&object)
			objects = append(objects, object)
			return err
		}, owner, garbageBatch)
		if err != nil || len(objects) == 0 {
			return err
		}
		deleted, failed := s.deleteObjects(ctx, objects)
		if len(deleted) > 0 {
			err = s.db.Write(ctx, func(t db.Tx) error {
				for _, object := range deleted {
					if _, err := t.Exec(dropGarbageSQL, owner, object); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err = errors.Join(failed, err); err != nil || len(objects) < garbageBatch {
			return err
		}
	}
}

// sweepNow is sweep after a deletion, which is done even if the caller has gone or an object
// cannot be deleted yet.
func (s *Store) sweepNow(ctx context.Context, owner string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sweepTimeout)
	defer cancel()
	s.sweep(ctx, owner) // SweepFiles tries again and reports errors
}

const sweepTimeout = 30 * time.Second

// deleteObjects deletes objects and returns those that do not exist any more.
func (s *Store) deleteObjects(ctx context.Context, objects []string) (deleted []string, failed error) {
	var mu sync.Mutex
	var workers sync.WaitGroup
	next := make(chan string)
	for range min(garbageWorkers, len(objects)) {
		workers.Go(func() {
			for object := range next {
				err := s.objects.Delete(ctx, object)
				mu.Lock()
				if err == nil {
					deleted = append(deleted, object)
				} else {
					failed = err // one is enough to report
				}
				mu.Unlock()
			}
		})
	}
	for _, object := range objects {
		next <- object
	}
	close(next)
	workers.Wait()
	return deleted, failed
}

// SweepFiles deletes uploads that have expired, pictures that nothing uses, and the objects of all deleted files.
func (s *Store) SweepFiles(ctx context.Context, now time.Time) (err error) {
	defer wrap(&err, "sweep files")
	if err := s.dropExpiredFiles(ctx, now); err != nil {
		return err
	}
	if err := s.dropUnusedPictures(ctx, now); err != nil {
		return err
	}
	var owners []string
	err = s.db.Query(ctx, garbageAccountsSQL, func(r db.Row) error {
		var owner string
		err := r.Scan(&owner)
		owners = append(owners, owner)
		return err
	}, cleanupBatch)
	for _, owner := range owners {
		err = errors.Join(err, s.sweep(ctx, owner))
	}
	return err
}

// dropExpiredFiles deletes the rows of uploads that no response has claimed.
func (s *Store) dropExpiredFiles(ctx context.Context, now time.Time) error {
	type key struct{ owner, formID, id string }
	for {
		var expired []key
		err := s.db.Query(ctx, expiredFilesSQL, func(r db.Row) error {
			var k key
			err := r.Scan(&k.owner, &k.formID, &k.id)
			expired = append(expired, k)
			return err
		}, toMillis(now), cleanupBatch)
		if err != nil {
			return err
		}
		for _, k := range expired {
			err := s.db.Write(ctx, func(t db.Tx) error {
				_, err := dropFiles(t, now, dropExpiredFileSQL, k.owner, k.formID, k.id, toMillis(now))
				return err
			})
			if err != nil {
				return err
			}
		}
		if len(expired) < cleanupBatch {
			return nil
		}
	}
}
