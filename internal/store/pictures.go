package store

import (
	"context"
	"time"

	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
)

// Picture is a picture of an owner, such as a logo. Anyone may see it who knows its ID.
type Picture struct {
	ID            string
	Name          string
	Size          int64
	Type          string
	Object        string
	SHA256        string // in hexadecimal
	Width, Height int64
	CreatedAt     time.Time
}

const (
	addPictureSQL = `INSERT INTO picture (account_id, id, name, size, type, object, sha256, width, height, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`
	pictureSQL        = `SELECT id, name, size, type, object, width, height, created_at FROM picture WHERE id = $1`
	ownPictureSQL     = `SELECT 1 FROM picture WHERE account_id = $1 AND id = $2`
	picturesStoredSQL = `SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM picture WHERE account_id = $1`
)

// ReservePicture counts the bytes of a picture against the account's storage.
func (s *Store) ReservePicture(ctx context.Context, owner string, n int64) (err error) {
	defer wrap(&err, "reserve storage")
	return s.reserve(ctx, owner, n)
}

// AddPicture stores the row of a picture, whose object exists.
func (s *Store) AddPicture(ctx context.Context, owner string, p Picture) (err error) {
	defer wrap(&err, "add picture")
	return s.db.Write(ctx, func(t db.Tx) error {
		// The account may be in deletion.
		if err := checkAffected(t.Exec(holdAccountSQL, owner)); err != nil {
			return err
		}
		_, err := t.Exec(addPictureSQL, owner, p.ID, p.Name, p.Size, p.Type, p.Object, p.SHA256, p.Width, p.Height, toMillis(p.CreatedAt))
		return err
	})
}

// Picture returns a picture of any owner.
func (s *Store) Picture(ctx context.Context, pictureID string) (_ Picture, err error) {
	defer wrap(&err, "read picture")
	if _, ok := id.Parse(id.File, pictureID); !ok {
		return Picture{}, fault.NotFound
	}
	var p Picture
	var created int64
	err = queryOne(s.query(ctx), pictureSQL, []any{pictureID}, &p.ID, &p.Name, &p.Size, &p.Type, &p.Object, &p.Width, &p.Height, &created)
	p.CreatedAt = fromMillis(created)
	return p, err
}

// checkPictures reports pictures that the owner does not have.
func (s *Store) checkPictures(ctx context.Context, owner string, uses []form.PictureUse) error {
	found := map[string]*bool{}
	var statements []db.Statement
	for _, use := range uses {
		if found[use.ID] == nil {
			found[use.ID] = new(bool)
			statements = append(statements, scanInto(found[use.ID], ownPictureSQL, []any{owner, use.ID}, new(int64)))
		}
	}
	if statements == nil {
		return nil
	}
	if err := s.db.QueryBatch(ctx, statements...); err != nil {
		return err
	}
	return form.CheckPictures(uses, func(id string) bool { return *found[id] })
}
