package blob_test

import (
	"bytes"
	"io"
	"path/filepath"
	"testing"
	"time"

	"formulary/internal/blob"
	"formulary/internal/blob/blobtest"
)

// place is a store and the folder in which its bytes end up.
type place struct {
	blob.Store
	t      *testing.T
	config blob.Config
	folder string
}

// eachStore runs a test with a folder and with a real S3 server.
func eachStore(t *testing.T, test func(t *testing.T, p place)) {
	t.Helper()
	t.Run("folder", func(t *testing.T) {
		t.Parallel()
		test(t, openTemp(t))
	})
	t.Run("S3", func(t *testing.T) {
		t.Parallel()
		test(t, openServer(t))
	})
}

func openTemp(t *testing.T) place {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "files")
	return open(t, blob.Config{URL: dir}, dir)
}

func openServer(t *testing.T) place {
	t.Helper()
	s := blobtest.StartS3(t)
	return open(t, s.Config(), s.Folder())
}

func open(t *testing.T, c blob.Config, folder string) place {
	t.Helper()
	store, err := blob.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	return place{store, t, c, folder}
}

// put stores bytes through a reader that cannot seek.
func (p place) put(content []byte) string {
	p.t.Helper()
	key := blob.NewKey()
	if err := p.Put(p.t.Context(), key, io.MultiReader(bytes.NewReader(content)), int64(len(content))); err != nil {
		p.t.Fatal(err)
	}
	return key
}

func (p place) read(key string, offset, length int64) []byte {
	p.t.Helper()
	r, err := p.Open(p.t.Context(), key, offset, length)
	if err != nil {
		p.t.Fatal(err)
	}
	defer r.Close()
	content, err := io.ReadAll(r)
	if err != nil {
		p.t.Fatal(err)
	}
	return content
}

func (p place) all() map[string]int64 {
	p.t.Helper()
	sizes := map[string]int64{}
	for object, err := range p.All(p.t.Context()) {
		if err != nil {
			p.t.Fatal(err)
		}
		if time.Since(object.Modified).Abs() > time.Hour {
			p.t.Errorf("%s was modified at %v", object.Key, object.Modified)
		}
		sizes[object.Key] = object.Size
	}
	return sizes
}

// mustBeEmpty checks that not even a part of an object was left.
func (p place) mustBeEmpty() {
	p.t.Helper()
	if all := p.all(); len(all) > 0 {
		p.t.Errorf("there are objects: %v", all)
	}
	if files := blobtest.Files(p.t, p.folder); len(files) > 0 {
		p.t.Errorf("there are files: %v", files)
	}
	if p.config.Temp != "" {
		if files := blobtest.Files(p.t, p.config.Temp); len(files) > 0 {
			p.t.Errorf("there are temporary files: %v", files)
		}
	}
}

func random(t *testing.T, size int64) []byte {
	t.Helper()
	content, err := io.ReadAll(blobtest.Random(1, size))
	if err != nil {
		t.Fatal(err)
	}
	return content
}
