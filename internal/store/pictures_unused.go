package store

import (
	"context"
	"time"

	"formulary/internal/db"
)

// unusedPicture is how long a picture stays that no form and no theme uses.
const unusedPicture = 30 * 24 * time.Hour

const (
	// A picture is examined in one hour of every 30 days, because finding its uses reads all
	// definitions of its owner.
	examinedPicturesSQL = `SELECT account_id, id FROM picture WHERE created_at < $1 AND (created_at / 3600000) % 720 = $2 AND id > $3 ORDER BY id LIMIT $4`
	// Versions stay for their responses, and drafts and versions of a deleted form until it
	// cannot be restored.
	dropUnusedPictureSQL = `DELETE FROM picture WHERE account_id = $1 AND id = $2
		AND NOT EXISTS (SELECT 1 FROM form_draft WHERE account_id = $1 AND definition LIKE $3)
		AND NOT EXISTS (SELECT 1 FROM form_version WHERE account_id = $1 AND definition LIKE $3)
		AND NOT EXISTS (SELECT 1 FROM theme WHERE account_id = $1 AND design LIKE $3) RETURNING object, ''`
)

// dropUnusedPictures deletes pictures that no form and no theme uses.
func (s *Store) dropUnusedPictures(ctx context.Context, now time.Time) error {
	last := ""
	for {
		var owners, ids []string
		err := s.db.Query(ctx, examinedPicturesSQL, func(r db.Row) error {
			var owner, id string
			err := r.Scan(&owner, &id)
			owners, ids = append(owners, owner), append(ids, id)
			return err
		}, toMillis(now.Add(-unusedPicture)), toMillis(now)/3600000%720, last, cleanupBatch)
		if err != nil || len(ids) == 0 {
			return err
		}
		for i, owner := range owners {
			err := s.db.Write(ctx, func(t db.Tx) error {
				_, err := dropFiles(t, now, dropUnusedPictureSQL, owner, ids[i], `%"`+ids[i]+`"%`)
				return err
			})
			if err != nil {
				return err
			}
		}
		last = ids[len(ids)-1]
	}
}
