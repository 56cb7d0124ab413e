package blob_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"formulary/internal/blob"
	"formulary/internal/blob/blobtest"
	"formulary/internal/fault"
)

// disturbed is a store, and another one for the same objects behind a proxy.
type disturbed struct {
	place
	behind place
	server *blobtest.S3
	proxy  *blobtest.Proxy
}

func openDisturbed(t *testing.T) *disturbed {
	t.Helper()
	server := blobtest.StartS3(t)
	return &disturbed{place: open(t, server.Config(), server.Folder()), server: server, proxy: blobtest.StartProxy(t, server.Address)}
}

// set changes the fault. A server that hangs is given up after a short time then.
func (d *disturbed) set(f blobtest.Fault) {
	d.t.Helper()
	config := d.server.ConfigAt(d.proxy.Address)
	if f.HangSent > 0 || f.HangReceived > 0 {
		config = blob.WithTimeouts(config, time.Second)
	}
	d.behind = open(d.t, config, d.folder)
	d.proxy.Set(f)
}

// mustBeUnavailable checks that an error says so, and not that an object does not exist.
func mustBeUnavailable(t *testing.T, operation string, err error) {
	t.Helper()
	if e := fault.Wrap(err); err == nil || e.Code != fault.DatabaseUnreachable || e.Cause == nil {
		t.Errorf("%s: %v", operation, err)
	}
}

// mustFail checks that no method works or claims that an object does not exist. It
// deletes the second object, unless the fault prevents it.
func (p place) mustFail(first, second string, content []byte) {
	p.t.Helper()
	var wg sync.WaitGroup
	wg.Go(func() {
		err := p.Put(p.t.Context(), blob.NewKey(), io.MultiReader(bytes.NewReader(content)), int64(len(content)))
		mustBeUnavailable(p.t, "put", err)
	})
	wg.Go(func() {
		r, err := p.Open(p.t.Context(), first, 0, -1)
		if err == nil {
			_, err = io.Copy(io.Discard, r)
			r.Close()
		}
		mustBeUnavailable(p.t, "read", err)
	})
	wg.Go(func() {
		mustBeUnavailable(p.t, "delete", p.Delete(p.t.Context(), second))
	})
	wg.Go(func() {
		var last error
		for _, err := range p.All(p.t.Context()) {
			last = err
		}
		mustBeUnavailable(p.t, "list", last)
	})
	wg.Wait()
}

// TestServerFaults: whatever happens to the S3 server, there is a clear error after a
// bounded number of attempts, and nothing is half stored.
func TestServerFaults(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]blobtest.Fault{
		"away":                     {Refuse: true},
		"503":                      {Status: http.StatusServiceUnavailable},
		"500":                      {Status: http.StatusInternalServerError},
		"403":                      {Status: http.StatusForbidden},
		"no answer":                {HangReceived: 1},
		"the answer is cut":        {CutReceived: 100},
		"the request is cut":       {CutSent: 100},
		"the request hangs midway": {HangSent: 300},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := openDisturbed(t)
			content := random(t, 1<<20)
			first, second := d.put(content), d.put(content)
			d.set(f)
			d.behind.mustFail(first, second, content)
			if n := d.proxy.Connections(); n > 4*3 {
				t.Errorf("4 operations made %d connections", n)
			}
			if got := d.read(first, 0, -1); !bytes.Equal(got, content) {
				t.Errorf("afterwards, %d of %d bytes were read", len(got), len(content))
			}
			// If the answer did not arrive, the server may have done what was asked.
			for name, size := range d.server.Files() {
				if size != int64(len(content)) {
					t.Errorf("%s has %d of %d bytes", name, size, len(content))
				}
			}
			if files := blobtest.Files(t, d.behind.config.Temp); len(files) > 0 {
				t.Errorf("there are temporary files: %v", files)
			}
		})
	}
}

// TestUploadFailsMidway: an upload that breaks off is sent again; if that does not help,
// nothing is stored.
func TestUploadFailsMidway(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]blobtest.Fault{
		"cut":   {CutSent: 1 << 20},
		"hangs": {HangSent: 1 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := openDisturbed(t)
			content := random(t, 2<<20)
			d.set(f)
			err := d.behind.Put(t.Context(), blob.NewKey(), io.MultiReader(bytes.NewReader(content)), -1)
			mustBeUnavailable(t, name, err)
			d.mustBeEmpty()
			f.Times = 1
			d.set(f)
			if key := d.behind.put(content); !bytes.Equal(d.read(key, 0, -1), content) {
				t.Error("other bytes were stored")
			}
			if n := d.proxy.Connections(); n < 2 {
				t.Error("the fault did not happen")
			}
		})
	}
}

// TestDownloadFailsMidway: a download that breaks off continues where it stopped; if that
// does not help, the reader fails and does not end early.
func TestDownloadFailsMidway(t *testing.T) {
	t.Parallel()
	d := openDisturbed(t)
	content := random(t, 8<<20)
	key := d.put(content)
	for name, f := range map[string]blobtest.Fault{
		"cut":   {CutReceived: 1 << 20, Times: 2},
		"hangs": {HangReceived: 1 << 20, Times: 2},
	} {
		d.set(f)
		if got := d.behind.read(key, 0, -1); !bytes.Equal(got, content) {
			t.Errorf("%s: %d of %d bytes were read, or other ones", name, len(got), len(content))
		}
		if n := d.proxy.Connections(); n < 3 {
			t.Errorf("%s: only %d connections", name, n)
		}
	}
	d.set(blobtest.Fault{})
	r, err := d.behind.Open(t.Context(), key, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.CopyN(io.Discard, r, 1000); err != nil {
		t.Fatal(err)
	}
	d.proxy.Set(blobtest.Fault{Refuse: true})
	_, err = io.Copy(io.Discard, r)
	mustBeUnavailable(t, "a download from a server that went away", err)
}

// TestUploadsHaveTheirHash: an upload is the object's bytes and their hash, which the server checks.
// With signed chunks in the body, some servers left its last bytes for the next request.
func TestUploadsHaveTheirHash(t *testing.T) {
	t.Parallel()
	var sent, hash string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		sent, hash = string(body), r.Header.Get("X-Amz-Content-Sha256")
		w.Header().Set("ETag", `"1"`)
	}))
	defer server.Close()
	store, err := blob.Open(blob.Config{URL: "s3://files?endpoint=" + server.URL, Key: blobtest.Key, Secret: blobtest.Secret, Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int64{0, 1, 100 << 10} {
		content := random(t, size)
		if err := store.Put(t.Context(), blob.NewKey(), bytes.NewReader(content), size); err != nil {
			t.Fatal(err)
		}
		if want := sha256.Sum256(content); sent != string(content) || hash != hex.EncodeToString(want[:]) {
			t.Errorf("an object of %d bytes was sent as %d bytes with the hash %s", size, len(sent), hash)
		}
	}
}

// TestServerRestarts: connections that a server closed do not make operations fail.
func TestServerRestarts(t *testing.T) {
	t.Parallel()
	server := blobtest.StartS3(t)
	p := open(t, server.Config(), server.Folder())
	key := p.put([]byte("text"))
	server.Stop()
	mustBeUnavailable(t, "put", p.Put(t.Context(), blob.NewKey(), bytes.NewReader([]byte("x")), 1))
	server.Restart()
	if got := p.read(key, 0, -1); string(got) != "text" {
		t.Errorf("%q was read", got)
	}
	p.put([]byte("more"))
}

// TestWrongCredentials: errors of the configuration have the cause for the log.
func TestWrongCredentials(t *testing.T) {
	t.Parallel()
	server := blobtest.StartS3(t)
	wrong := server.Config()
	wrong.Secret = "wrong"
	p := open(t, wrong, server.Folder())
	p.mustFail(blob.NewKey(), blob.NewKey(), []byte("x"))
	missing := server.Config()
	missing.URL = "s3://other" + missing.URL[len("s3://files"):]
	p = open(t, missing, server.Folder())
	mustBeUnavailable(t, "wrong bucket", p.Put(t.Context(), blob.NewKey(), bytes.NewReader([]byte("x")), 1))
	_, err := p.Open(t.Context(), blob.NewKey(), 0, -1)
	mustBeUnavailable(t, "wrong bucket", err)
}

// TestUnusableFolder: errors of the folder are temporary ones, and nothing is half stored.
func TestUnusableFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "files")
	p := open(t, blob.Config{URL: dir}, dir)
	key := blob.NewKey()
	// A file instead of the folder makes writing fail, for root too.
	if err := os.WriteFile(filepath.Join(dir, key[:2]), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	mustBeUnavailable(t, "put", p.Put(t.Context(), key, bytes.NewReader([]byte("x")), 1))
	_, err := p.Open(t.Context(), key, 0, -1)
	mustBeUnavailable(t, "open", err)
	if err := os.Remove(filepath.Join(dir, key[:2])); err != nil {
		t.Fatal(err)
	}
	p.mustBeEmpty()
	if err := p.Put(t.Context(), key, bytes.NewReader([]byte("x")), 1); err != nil {
		t.Error(err)
	}
}

// TestUnfinishedObjects: All removes what crashed processes left, and not what is written
// at the moment.
func TestUnfinishedObjects(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := open(t, blob.Config{URL: dir}, dir)
	key := p.put([]byte("text"))
	recent := filepath.Join(dir, key) + ".part"
	old := filepath.Join(dir, key[:3]+key[4:]+"0.part")
	for _, name := range []string{old, recent} {
		if err := os.WriteFile(name, []byte("te"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	yesterday := time.Now().Add(-25 * time.Hour)
	if err := os.Chtimes(old, yesterday, yesterday); err != nil {
		t.Fatal(err)
	}
	if all := p.all(); len(all) != 1 || all[key] != 4 {
		t.Errorf("all objects: %v", all)
	}
	_, oldErr := os.Stat(old)
	_, recentErr := os.Stat(recent)
	if !errors.Is(oldErr, os.ErrNotExist) || recentErr != nil {
		t.Errorf("the old part: %v; the new one: %v", oldErr, recentErr)
	}
}
