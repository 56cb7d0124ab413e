package blob

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"formulary/internal/fault"
)

// folder stores each object in a file. An object is written to a file with another name
// first, so that a file with the name of an object is complete.
type folder struct {
	root string

	mu      sync.Mutex
	durable map[string]bool // folders in root whose creation is on the disk
}

const (
	partSuffix = ".part"
	// maxPartAge is how long an unfinished object may go without a write before All
	// removes it.
	maxPartAge = 24 * time.Hour
)

func openFolder(root string) (*folder, error) {
	f := &folder{root: root, durable: map[string]bool{}}
	if err := f.open(); err != nil {
		return nil, fmt.Errorf("open the folder for files: %w", err)
	}
	return f, nil
}

// open creates the root and makes everything in it durable that an earlier process has
// created.
func (f *folder) open() error {
	if err := createFolders(f.root); err != nil {
		return err
	}
	entries, err := os.ReadDir(f.root)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		f.durable[filepath.Join(f.root, entry.Name())] = entry.IsDir()
	}
	return syncFolder(f.root)
}

// createFolders creates a folder and those it is in, and makes the new ones durable.
func createFolders(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(path)
	if parent != path {
		if err := createFolders(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncFolder(parent)
}

func (f *folder) path(key string) string { return filepath.Join(f.root, filepath.FromSlash(key)) }

func (f *folder) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	if err := checkKey(key); err != nil {
		return err
	}
	from := &source{ctx: ctx, r: r, size: size}
	err := f.put(key, from)
	switch {
	case err == nil:
		return nil
	case from.err != nil:
		return from.err
	default:
		return fault.StorageUnavailable(fmt.Errorf("store an object in the folder: %w", err))
	}
}

// put writes the file, syncs it, renames it, and syncs the folder: after each of these
// steps a crash leaves the whole object or none.
func (f *folder) put(key string, from *source) (err error) {
	dir := filepath.Dir(f.path(key))
	part := f.path(key) + "." + rand.Text() + partSuffix // two callers may store the same object
	file, err := f.create(part)
	if errors.Is(err, fs.ErrNotExist) { // the folder was removed
		f.forgetDir(dir)
		file, err = f.create(part)
	}
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(part)
		}
	}()
	err = from.copyTo(file)
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	if err := os.Rename(part, f.path(key)); err != nil {
		return err
	}
	if err := syncFolder(dir); err != nil {
		os.Remove(f.path(key)) // an object that may not survive a crash is not stored
		return err
	}
	return nil
}

// create creates a file, and its folder if this process has not done so.
func (f *folder) create(path string) (*os.File, error) {
	if err := f.createDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// createDir creates a folder for objects. It returns when the folder is durable, even if
// another call has created it.
func (f *folder) createDir(dir string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.durable[dir] {
		return nil
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := syncFolder(f.root); err != nil {
		return err
	}
	f.durable[dir] = true
	return nil
}

func (f *folder) forgetDir(dir string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.durable, dir)
}

func (f *folder) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	file, err := os.Open(f.path(key))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.NotFound
	case err != nil:
		return nil, fault.StorageUnavailable(fmt.Errorf("open an object in the folder: %w", err))
	case offset == 0 && length < 0:
		return file, nil
	}
	if length < 0 {
		length = 1<<63 - 1 - offset
	}
	return section{io.NewSectionReader(file, offset, length), file}, nil
}

// section is a part of a file.
type section struct {
	*io.SectionReader
	io.Closer
}

func (f *folder) Delete(ctx context.Context, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	if err := os.Remove(f.path(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.StorageUnavailable(fmt.Errorf("delete an object in the folder: %w", err))
	}
	return nil
}

func (f *folder) All(ctx context.Context) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		err := filepath.WalkDir(f.root, func(path string, entry fs.DirEntry, err error) error {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil || entry.IsDir() {
				return err
			}
			object, ok, err := f.describe(path, entry)
			if err == nil && ok && !yield(object, nil) {
				return filepath.SkipAll
			}
			return err
		})
		if err != nil {
			yield(Object{}, fault.StorageUnavailable(fmt.Errorf("list the objects in the folder: %w", err)))
		}
	}
}

// describe returns the object in a file. Other files are not objects; it removes old
// unfinished ones.
func (f *folder) describe(path string, entry fs.DirEntry) (object Object, ok bool, err error) {
	name, err := filepath.Rel(f.root, path)
	if err != nil {
		return Object{}, false, err
	}
	key, isPart := strings.CutSuffix(filepath.ToSlash(name), partSuffix)
	if isPart {
		key, _, _ = strings.Cut(key, ".")
	}
	if !isKey(key) {
		return Object{}, false, nil
	}
	info, err := entry.Info()
	switch {
	case errors.Is(err, fs.ErrNotExist): // deleted since the folder was read
		return Object{}, false, nil
	case err != nil:
		return Object{}, false, err
	case isPart && time.Since(info.ModTime()) > maxPartAge:
		return Object{}, false, os.Remove(path)
	case isPart || !info.Mode().IsRegular():
		return Object{}, false, nil
	}
	return Object{Key: key, Size: info.Size(), Modified: info.ModTime()}, true, nil
}
