package blob_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"formulary/internal/blob"
	"formulary/internal/blob/blobtest"
	"formulary/internal/fault"
)

func TestObjects(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, p place) {
		want := map[string]int64{}
		// Around the size of the buffers, and in several parts of a connection.
		for _, size := range []int64{0, 1, 1000, 64<<10 - 1, 64 << 10, 64<<10 + 1, 3<<20 + 17} {
			content := random(t, size)
			key := p.put(content)
			want[key] = size
			if got := p.read(key, 0, -1); !bytes.Equal(got, content) {
				t.Errorf("%d of %d bytes were read, or other ones", len(got), size)
			}
		}
		if all := p.all(); !maps.Equal(all, want) {
			t.Errorf("all objects: %v, not %v", all, want)
		}
		for key := range p.All(t.Context()) {
			if err := p.Delete(t.Context(), key.Key); err != nil {
				t.Fatal(err)
			}
		}
		p.mustBeEmpty()
	})
}

func TestRanges(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, p place) {
		content := random(t, 200_000)
		size := int64(len(content))
		key := p.put(content)
		for _, r := range [][2]int64{{0, 1}, {0, 0}, {5, 10}, {size - 1, 1}, {size - 1, 5}, {0, size}, {0, size + 1}, {100_000, -1}, {size, -1}, {size, 1}, {size + 5, -1}} {
			from := min(r[0], size)
			to := size
			if r[1] >= 0 {
				to = min(from+r[1], size)
			}
			if got := p.read(key, r[0], r[1]); !bytes.Equal(got, content[from:to]) {
				t.Errorf("%d bytes from %d: %d bytes, or other ones", r[1], r[0], len(got))
			}
		}
		if got := p.read(p.put(nil), 0, 10); len(got) != 0 {
			t.Errorf("an empty object has %d bytes", len(got))
		}
	})
}

// TestServeContent: objects can be served with everything that http.ServeContent does.
func TestServeContent(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, p place) {
		content := random(t, 3<<20)
		key := p.put(content)
		serve := func(rangeHeader string) *httptest.ResponseRecorder {
			r, err := p.Open(t.Context(), key, 0, -1)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			seeker, ok := r.(io.ReadSeeker)
			if !ok {
				t.Fatalf("%T cannot seek", r)
			}
			request := httptest.NewRequest(http.MethodGet, "/", nil)
			if rangeHeader != "" {
				request.Header.Set("Range", rangeHeader)
			}
			response := httptest.NewRecorder()
			response.Header().Set("Content-Type", "application/octet-stream")
			http.ServeContent(response, request, "", time.Time{}, seeker)
			return response
		}
		if r := serve(""); r.Code != http.StatusOK || !bytes.Equal(r.Body.Bytes(), content) {
			t.Errorf("all: %d, %d bytes", r.Code, r.Body.Len())
		}
		if r := serve("bytes=1000000-1000099"); r.Code != http.StatusPartialContent || !bytes.Equal(r.Body.Bytes(), content[1_000_000:1_000_100]) {
			t.Errorf("a range: %d, %d bytes", r.Code, r.Body.Len())
		}
		if r := serve("bytes=-10"); r.Code != http.StatusPartialContent || !bytes.Equal(r.Body.Bytes(), content[len(content)-10:]) {
			t.Errorf("the end: %d, %d bytes", r.Code, r.Body.Len())
		}
		if r := serve("bytes=0-9,100-109"); r.Code != http.StatusPartialContent || !bytes.Contains(r.Body.Bytes(), content[100:110]) {
			t.Errorf("two ranges: %d, %d bytes", r.Code, r.Body.Len())
		}
		if r := serve("bytes=9999999-"); r.Code != http.StatusRequestedRangeNotSatisfiable {
			t.Errorf("behind the end: %d", r.Code)
		}
	})
}

// TestFolderFile: net/http sends files without copying them through this process.
func TestFolderFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := open(t, blob.Config{URL: dir}, dir)
	r, err := p.Open(t.Context(), p.put([]byte("text")), 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	file, ok := r.(*os.File)
	if !ok {
		t.Fatalf("%T is not a file", r)
	}
	if info, err := file.Stat(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has the mode %v, %v", info.Mode(), err)
	}
}

func TestMissingObjects(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, p place) {
		for _, r := range [][2]int64{{0, -1}, {0, 10}, {0, 0}, {5, -1}} {
			if _, err := p.Open(t.Context(), blob.NewKey(), r[0], r[1]); !errors.Is(err, fault.NotFound) {
				t.Errorf("an object that does not exist, %v: %v", r, err)
			}
		}
		if err := p.Delete(t.Context(), blob.NewKey()); err != nil {
			t.Errorf("delete an object that does not exist: %v", err)
		}
	})
}

func TestInvalidKeys(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, p place) {
		valid := blob.NewKey()
		for _, key := range []string{"", "a", "../" + valid[3:], valid + ".part", "/" + valid, valid[:3] + "../" + valid[6:], strings.ToUpper("ab" + valid[2:]), valid[:20] + "\x00" + valid[21:], valid + "/"} {
			_, openErr := p.Open(t.Context(), key, 0, -1)
			for operation, err := range map[string]error{
				"put":    p.Put(t.Context(), key, strings.NewReader("x"), 1),
				"open":   openErr,
				"delete": p.Delete(t.Context(), key),
			} {
				if err == nil {
					t.Errorf("%s %q: no error", operation, key)
				}
			}
		}
		p.mustBeEmpty()
	})
}

// TestConcurrentObjects: nothing is mixed up when many are stored at the same time.
func TestConcurrentObjects(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, p place) {
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				key, sum := blob.NewKey(), sha256.New()
				size := int64(i) * 20_000
				if err := p.Put(t.Context(), key, io.TeeReader(blobtest.Random(byte(i), size), sum), size); err != nil {
					t.Error(err)
					return
				}
				r, err := p.Open(t.Context(), key, 0, -1)
				if err != nil {
					t.Error(err)
					return
				}
				defer r.Close()
				stored := sha256.New()
				if n, err := io.Copy(stored, r); err != nil || n != size || !bytes.Equal(stored.Sum(nil), sum.Sum(nil)) {
					t.Errorf("object %d: %d bytes, %v", i, n, err)
				}
			})
		}
		wg.Wait()
	})
}

func TestWrongLengthsAndFailingReaders(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, p place) {
		failure := errors.New("the client went away")
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		for _, size := range []int64{10, 200_000} {
			content := random(t, size)
			plain := func() io.Reader { return io.MultiReader(bytes.NewReader(content)) }
			for name, c := range map[string]struct {
				ctx  context.Context
				r    io.Reader
				size int64
				want error
			}{
				"too short":          {t.Context(), plain(), size + 1, nil},
				"too long":           {t.Context(), plain(), size - 1, nil},
				"longer than none":   {t.Context(), plain(), 0, nil},
				"a file too short":   {t.Context(), bytes.NewReader(content), size + 1, nil},
				"a file too long":    {t.Context(), bytes.NewReader(content), size - 1, nil},
				"fails at the end":   {t.Context(), io.MultiReader(plain(), iotest.ErrReader(failure)), size, failure},
				"fails":              {t.Context(), io.MultiReader(plain(), iotest.ErrReader(failure)), -1, failure},
				"cut":                {t.Context(), io.MultiReader(plain(), iotest.ErrReader(io.ErrUnexpectedEOF)), -1, io.ErrUnexpectedEOF},
				"too large":          {t.Context(), io.MultiReader(plain(), iotest.ErrReader(fault.New(fault.TooLarge, "Too large."))), -1, fault.New(fault.TooLarge, "")},
				"the caller gave up": {canceled, plain(), size, context.Canceled},
			} {
				err := p.Put(c.ctx, blob.NewKey(), c.r, c.size)
				switch {
				case err == nil:
					t.Errorf("%s, %d bytes: no error", name, size)
				case c.want != nil && !errors.Is(err, c.want):
					t.Errorf("%s, %d bytes: %v", name, size, err)
				case errors.Is(err, fault.StorageUnavailable(nil)):
					t.Errorf("%s, %d bytes: the storage is said to fail: %v", name, size, err)
				}
			}
		}
		p.mustBeEmpty()
	})
}

// TestUnknownSize: the size is not needed.
func TestUnknownSize(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, p place) {
		for _, size := range []int64{0, 10, 64 << 10, 1 << 20} {
			content, key := random(t, size), blob.NewKey()
			if err := p.Put(t.Context(), key, io.MultiReader(bytes.NewReader(content)), -1); err != nil {
				t.Fatal(err)
			}
			if got := p.read(key, 0, -1); !bytes.Equal(got, content) {
				t.Errorf("%d of %d bytes were read, or other ones", len(got), size)
			}
		}
	})
}

// TestForeignFiles: what is in a folder or bucket besides objects is neither listed nor
// removed.
func TestForeignFiles(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, p place) {
		key := p.put([]byte("text"))
		foreign := filepath.Join(p.folder, "readme.txt")
		if err := os.WriteFile(foreign, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if all := p.all(); !maps.Equal(all, map[string]int64{key: 4}) {
			t.Errorf("all objects: %v", all)
		}
		if _, err := os.Stat(foreign); err != nil {
			t.Error(err)
		}
	})
}

// TestAllStops: a caller can stop early, or give up.
func TestAllStops(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, p place) {
		p.put([]byte("one"))
		p.put([]byte("two"))
		count := 0
		for range p.All(t.Context()) {
			count++
			break
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var last error
		for _, err := range p.All(ctx) {
			last = err
		}
		if count != 1 || !errors.Is(last, context.Canceled) {
			t.Errorf("%d objects, then %v", count, last)
		}
	})
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	for i, c := range []blob.Config{
		{},
		{URL: "ftp://host/files"},
		{URL: "s3://"},
		{URL: "s3://bucket"}, // no credentials
		{URL: "s3://bucket?endpoint=ftp://host", Key: "k", Secret: "s"},
		{URL: "s3://bucket?endpoint=http://host/path", Key: "k", Secret: "s"},
		{URL: "s3://bucket?zone=1", Key: "k", Secret: "s"},
		{URL: "/dev/null/files"},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			if _, err := blob.Open(c); err == nil {
				t.Errorf("%+v: no error", c)
			}
		})
	}
	for _, url := range []string{"s3://bucket", "s3://bucket/a/b?region=eu-central-1", "s3://bucket?endpoint=host:9000", "s3://bucket?endpoint=https://host"} {
		if _, err := blob.Open(blob.Config{URL: url, Key: "k", Secret: "s"}); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
}
