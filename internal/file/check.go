package file

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"formulary/internal/store"
)

// Problem is what Check found about one file.
type Problem struct {
	Text     string
	Repaired bool
}

// CheckOptions say what Check does.
type CheckOptions struct {
	Hashes bool // read all bytes and compare their hashes
	Repair bool // delete what no response needs
}

// Checked is the outcome of Check.
type Checked struct {
	Files    int64
	Problems int64
	Left     int64 // problems that could not be repaired
}

var errEmptyPlace = errors.New("nothing was repaired: there are files in the database, and none where FORMULARY_FILES says")

// Check compares rows and objects. report gets what is wrong. Repairing deletes objects that
// have no row and are older than a day, and uploads without bytes that no response has
// claimed; lost bytes of a response cannot be repaired.
func (s *Service) Check(ctx context.Context, o CheckOptions, report func(Problem)) (Checked, error) {
	var sum Checked
	found := func(p Problem) {
		sum.Problems++
		if !p.Repaired {
			sum.Left++
		}
		report(p)
	}
	isEmpty := o.Repair
	if o.Repair {
		for _, err := range s.Blobs.All(ctx) {
			if err != nil {
				return sum, err
			}
			isEmpty = false
			break
		}
	}
	err := s.Store.EachObject(ctx, func(row store.StoredObject) error {
		if isEmpty {
			return errEmptyPlace
		}
		sum.Files++
		problem, err := s.checkObject(ctx, row, o.Hashes)
		if err != nil || problem == "" {
			return err
		}
		p := Problem{Text: describe(row) + ": " + problem}
		if o.Repair && row.FormID != "" && row.ResponseID == "" {
			if err := s.Store.DropUpload(ctx, row); err != nil {
				return err
			}
			p.Repaired = true
		}
		found(p)
		return nil
	})
	if err != nil {
		return sum, err
	}
	err = s.eachOrphan(ctx, s.Now().Add(-orphanAge), func(key string) error {
		p := Problem{Text: "object " + key + " belongs to no file"}
		if o.Repair {
			if err := s.Blobs.Delete(ctx, key); err != nil {
				return err
			}
			p.Repaired = true
		}
		found(p)
		return nil
	})
	return sum, err
}

func describe(row store.StoredObject) string {
	switch {
	case row.FormID == "":
		return "picture " + row.ID
	case row.ResponseID == "":
		return "upload " + row.ID + " to form " + row.FormID
	}
	return "file " + row.ID + " of response " + row.ResponseID + " to form " + row.FormID
}

// checkObject returns what is wrong with the bytes of a file; empty: nothing.
func (s *Service) checkObject(ctx context.Context, row store.StoredObject, withHash bool) (string, error) {
	content, err := s.Blobs.Open(ctx, row.Object, 0, -1)
	if isMissing(err) {
		return "its bytes are missing", nil
	}
	if err != nil {
		return "", err
	}
	defer content.Close()
	size, err := content.(io.Seeker).Seek(0, io.SeekEnd)
	if err != nil {
		return "", err
	}
	if size != row.Size {
		return fmt.Sprintf("it has %d bytes instead of %d", size, row.Size), nil
	}
	if !withHash || row.SHA256 == "" {
		return "", nil
	}
	if _, err := content.(io.Seeker).Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, content); err != nil {
		return "", err
	}
	if hex.EncodeToString(hash.Sum(nil)) != row.SHA256 {
		return "its bytes have changed", nil
	}
	return "", nil
}
