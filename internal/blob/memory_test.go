package blob_test

import (
	"io"
	"runtime"
	"sync"
	"testing"

	"formulary/internal/blob"
	"formulary/internal/blob/blobtest"
)

// TestMemory: memory does not depend on the size of objects, whether it is known or not.
func TestMemory(t *testing.T) {
	// Not parallel: other tests allocate too.
	const size, count = 8 << 20, 4
	for name, p := range map[string]place{"folder": openTemp(t), "S3": openServer(t)} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var wg sync.WaitGroup
		for i := range count {
			wg.Go(func() {
				key := blob.NewKey()
				declared := int64(size)
				if i%2 == 0 {
					declared = -1
				}
				if err := p.Put(t.Context(), key, blobtest.Random(byte(i), size), declared); err != nil {
					t.Error(err)
					return
				}
				r, err := p.Open(t.Context(), key, 0, -1)
				if err != nil {
					t.Error(err)
					return
				}
				defer r.Close()
				if n, err := io.Copy(io.Discard, r); n != size || err != nil {
					t.Errorf("%d bytes, %v", n, err)
				}
			})
		}
		wg.Wait()
		runtime.ReadMemStats(&after)
		if used := (after.TotalAlloc - before.TotalAlloc) / count; used > size/16 {
			t.Errorf("%s: each object of %d MB allocated %d KB", name, size>>20, used>>10)
		}
	}
}
