package file

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"formulary/internal/export"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/media"
	"formulary/internal/store"
)

// archive writes files into a zip file while it is sent. Its memory does not depend on their
// number and size: 64-bit sizes follow each file.
type archive struct {
	*splitZip
	files   *Service
	ctx     context.Context
	owner   string
	buffer  []byte   // for copying
	missing []string // what could not be included, and why
	more    int      // files that are missing beyond maxMissing
}

const (
	copyBuffer = 64 << 10
	// maxMissing is how many missing files an archive lists by name.
	maxMissing = 10_000
)

func (s *Service) newArchive(ctx context.Context, out io.Writer, owner string) *archive {
	return &archive{splitZip: newSplitZip(out), files: s, ctx: ctx, owner: owner, buffer: make([]byte, copyBuffer)}
}

// Archive writes a zip file with a table of the responses and all their files.
func (s *Service) Archive(ctx context.Context, out io.Writer, owner string, table export.Table, each func(func(form.Response) error) error) error {
	a := s.newArchive(ctx, out, owner)
	defer a.close()
	entry, err := a.create(&zip.FileHeader{Name: "responses.csv", Method: zip.Deflate})
	if err != nil {
		return err
	}
	table.Format, table.FilePath = "csv", archivePaths
	if err := table.Responses(entry, each); err != nil {
		return err
	}
	if err := each(a.addFiles); err != nil {
		return err
	}
	return a.complete()
}

// ArchiveResponse writes a zip file with the files of one response.
func (s *Service) ArchiveResponse(ctx context.Context, out io.Writer, owner string, r form.Response) error {
	a := s.newArchive(ctx, out, owner)
	defer a.close()
	if err := a.addFiles(r); err != nil {
		return err
	}
	return a.complete()
}

// complete lists what is missing, and ends the archive.
func (a *archive) complete() error {
	if len(a.missing) > 0 {
		entry, err := a.create(&zip.FileHeader{Name: "not included.txt", Method: zip.Deflate})
		if err != nil {
			return err
		}
		if a.more > 0 {
			a.missing = append(a.missing, fmt.Sprintf("and %d more", a.more))
		}
		if _, err := io.WriteString(entry, strings.Join(a.missing, "\r\n")+"\r\n"); err != nil {
			return err
		}
	}
	return a.finish()
}

// archivePaths returns the names of an answer's files in an archive. Equal names get a number.
func archivePaths(r form.Response, key string, files []form.File) []string {
	paths := make([]string, len(files))
	folder := "files/" + r.ID + "/" + media.FileName(key) + "/"
	for i, f := range files {
		plain := media.FileName(f.Name)
		extension := path.Ext(plain)
		for n := 1; ; n++ {
			name := plain
			if n > 1 {
				name = fmt.Sprintf("%s (%d)%s", strings.TrimSuffix(plain, extension), n, extension)
			}
			paths[i] = folder + name
			// Some file systems do not distinguish capitals.
			if !slices.ContainsFunc(paths[:i], func(other string) bool { return strings.EqualFold(other, paths[i]) }) {
				break
			}
		}
	}
	return paths
}

// addFiles adds the files of a response.
func (a *archive) addFiles(r form.Response) error {
	rows, err := a.files.Store.FilesOf(a.ctx, a.owner, r)
	if err != nil || len(rows) == 0 {
		return err
	}
	answers, err := r.Answers()
	if err != nil {
		return err
	}
	for key, answer := range answers {
		files := form.FilesOf(answer)
		paths := archivePaths(r, key, files)
		for i, f := range files {
			row, ok := rows[f.ID]
			if !ok {
				continue // deleted meanwhile
			}
			if err := a.add(paths[i], row); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds one file.
func (a *archive) add(name string, f store.File) error {
	if err := a.files.Readable(f); err != nil {
		a.lacks(name, fault.Wrap(err).Message)
		return nil
	}
	content, err := a.files.Blobs.Open(a.ctx, f.Object, 0, -1)
	if isMissing(err) {
		a.lacks(name, "the file is missing in the storage")
		return nil
	}
	if err != nil {
		return err
	}
	defer content.Close()
	header := &zip.FileHeader{Name: name, Method: zip.Store, Modified: f.CreatedAt}
	if strings.HasPrefix(f.Type, "text/") { // the others are compressed already, or too large for it to pay
		header.Method = zip.Deflate
	}
	entry, err := a.create(header)
	if err != nil {
		return err
	}
	// Without WriteTo, which would allocate a buffer for each file.
	_, err = io.CopyBuffer(entry, struct{ io.Reader }{content}, a.buffer)
	return err
}

// lacks notes that a file is not included.
func (a *archive) lacks(name, reason string) {
	if len(a.missing) >= maxMissing {
		a.more++
		return
	}
	a.missing = append(a.missing, name+": "+reason)
}
