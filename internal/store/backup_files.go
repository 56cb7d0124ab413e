package store

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"formulary/internal/fault"
)

// The files of a backup follow its rows: for each a line of JSON and its bytes, and a line
// with their number at the end. Their bytes are not compressed, because most of them are
// already. The rows are older than the files, so no file of a row is missing, unless it was
// deleted meanwhile.

const backupBuffer = 256 << 10

// backupObject is the line before the bytes of an object.
type backupObject struct {
	Object string `json:"object,omitempty"`
	Size   int64  `json:"size,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	End    bool   `json:"end,omitempty"`
	Files  int64  `json:"files,omitempty"`
}

// backupFiles writes all objects.
func (s *Store) backupFiles(ctx context.Context, to io.Writer) error {
	out := bufio.NewWriterSize(to, backupBuffer)
	var files int64
	err := s.EachObject(ctx, func(o StoredObject) error {
		content, err := s.objects.Open(ctx, o.Object, 0, -1)
		if errors.Is(err, fault.NotFound) {
			return nil // deleted since the row was read; "files check" reports those that are lost
		}
		if err != nil {
			return err
		}
		defer content.Close()
		files++
		if err := writeLine(out, backupObject{Object: o.Object, Size: o.Size, SHA256: o.SHA256}); err != nil {
			return err
		}
		n, err := io.Copy(out, io.LimitReader(content, o.Size))
		if err == nil && n < o.Size {
			err = fmt.Errorf("file %s has %d bytes instead of %d; run \"formulary files check\"", o.ID, n, o.Size)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("back up files: %w", err)
	}
	if err := writeLine(out, backupObject{End: true, Files: files}); err != nil {
		return err
	}
	return out.Flush()
}

func writeLine(out io.Writer, line backupObject) error {
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	_, err = out.Write(append(text, '\n'))
	return err
}

var errNoPlaceForFiles = errors.New("the backup contains files, and there is no place for them")

// restoreFiles reads the objects that follow the rows. rows is what is left of those.
func (s *Store) restoreFiles(ctx context.Context, rows io.Reader, source *bufio.Reader) error {
	if s.objects == nil {
		return errNoPlaceForFiles
	}
	if _, err := io.Copy(io.Discard, rows); err != nil {
		return fmt.Errorf("the backup is incomplete or damaged: %w", err)
	}
	for files := int64(0); ; files++ {
		text, err := source.ReadSlice('\n')
		if err != nil {
			return fmt.Errorf("the backup is incomplete: %w", err)
		}
		var line backupObject
		if err := json.Unmarshal(text, &line); err != nil {
			return fmt.Errorf("the backup is damaged: %w", err)
		}
		if line.End {
			if line.Files != files {
				return fmt.Errorf("the backup is incomplete: expected %d files, found %d", line.Files, files)
			}
			return nil
		}
		if err := s.restoreObject(ctx, line, source); err != nil {
			return err
		}
	}
}

func (s *Store) restoreObject(ctx context.Context, line backupObject, source io.Reader) error {
	hash := sha256.New()
	content := io.TeeReader(io.LimitReader(source, line.Size), hash)
	if err := s.objects.Put(ctx, line.Object, content, line.Size); err != nil {
		return fmt.Errorf("restore file: %w", err)
	}
	if sum := hex.EncodeToString(hash.Sum(nil)); line.SHA256 != "" && sum != line.SHA256 {
		return fmt.Errorf("the backup is damaged: a file has the hash %s instead of %s", sum, line.SHA256)
	}
	return nil
}
