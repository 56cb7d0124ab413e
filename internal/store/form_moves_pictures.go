package store

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"formulary/internal/db"
	"formulary/internal/id"
)

const (
	draftsOfFormSQL   = `SELECT definition FROM form_draft WHERE account_id = $1 AND form_id = $2`
	versionsOfFormSQL = `SELECT definition FROM form_version WHERE account_id = $1 AND form_id = $2`
	isUsedByOthersSQL = `SELECT 1 FROM form_draft WHERE account_id = $1 AND form_id <> $2 AND definition LIKE $3
		UNION ALL SELECT 1 FROM form_version WHERE account_id = $1 AND form_id <> $2 AND definition LIKE $3
		UNION ALL SELECT 1 FROM theme WHERE account_id = $1 AND design LIKE $3 LIMIT 1`
	givePictureSQL = `UPDATE picture SET account_id = $3 WHERE account_id = $1 AND id = $2`
	wholePicSQL    = `SELECT name, size, type, object, sha256, width, height FROM picture WHERE account_id = $1 AND id = $2`
)

// movePictures moves the pictures of a form that no other form of the account uses, and copies
// the others. The IDs of copies are stored with the move, and replace those in the definitions.
func (s *Store) movePictures(ctx context.Context, m Move) error {
	used := map[string]bool{}
	for _, sql := range []string{draftsOfFormSQL, versionsOfFormSQL} {
		if err := s.db.Query(ctx, sql, func(r db.Row) error {
			var definition string
			err := r.Scan(&definition)
			for _, quoted := range pictureInJSON.FindAllString(definition, -1) {
				used[strings.Trim(quoted, `"`)] = true
			}
			return err
		}, m.From, m.FormID); err != nil {
			return err
		}
	}
	copies := map[string]Picture{}
	var own []string
	for _, picture := range slices.Sorted(maps.Keys(used)) {
		var one int64
		err := queryOne(s.query(ctx), isUsedByOthersSQL, []any{m.From, m.FormID, `%"` + picture + `"%`}, &one)
		if isMissing(err) {
			own = append(own, picture)
			continue
		}
		if err != nil {
			return err
		}
		copied, err := s.copyPicture(ctx, m.From, picture)
		if isMissing(err) {
			continue // of another account, or deleted
		}
		if err != nil {
			return fmt.Errorf("copy picture: %w", err)
		}
		copies[picture] = copied
	}
	return s.db.Write(ctx, func(t db.Tx) error {
		now, state, err := readMove(t.Query, holdMoveSQL, m.From, m.FormID)
		if err != nil || state.Pictures != nil { // another node was faster; the copies have no row and are swept
			return err
		}
		for _, picture := range own {
			if _, err := t.Exec(givePictureSQL, now.From, picture, now.To); err != nil {
				return err
			}
		}
		state.Pictures = map[string]string{}
		for original, p := range copies {
			state.Pictures[original] = p.ID
			if _, err := t.Exec(addPictureSQL, now.To, p.ID, p.Name, p.Size, p.Type, p.Object, p.SHA256, p.Width, p.Height, toMillis(p.CreatedAt)); err != nil {
				return err
			}
		}
		return writeMove(t, now, state)
	})
}

// copyPicture copies the bytes of a picture. Its row is for the caller to insert: objects without
// one are deleted later.
func (s *Store) copyPicture(ctx context.Context, owner, pictureID string) (p Picture, err error) {
	var object string
	if err := queryOne(s.query(ctx), wholePicSQL, []any{owner, pictureID}, &p.Name, &p.Size, &p.Type, &object, &p.SHA256, &p.Width, &p.Height); err != nil {
		return p, err
	}
	if s.objects == nil {
		return p, errors.New("this process has no access to files")
	}
	p.CreatedAt = time.Now()
	var random [20]byte // as for other objects
	rand.Read(random[:])
	key := hex.EncodeToString(random[:])
	p.ID, p.Object = id.New(id.File, p.CreatedAt), key[:2]+"/"+key[2:]
	content, err := s.objects.Open(ctx, object, 0, -1)
	if err != nil {
		return p, err
	}
	defer content.Close()
	return p, s.objects.Put(ctx, p.Object, content, p.Size)
}
