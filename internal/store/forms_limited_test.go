package store_test

import (
	"encoding/json"
	"sync"
	"testing"
	"time"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// Callers share the reads of a limited list, but whoever has changed a form finds the change.
func TestLimitedListsAreShared(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		var ids []string
		for range 40 {
			f, err := s.CreateForm(ctx, owner, form.Header{Title: "x", Language: "en"}, nil, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, f.ID)
		}
		only, err := json.Marshal(ids)
		if err != nil {
			t.Fatal(err)
		}
		count := func(folder string) int64 {
			_, n, err := s.Forms(ctx, owner, store.FormFilter{Only: string(only), Folder: folder}, store.NewestFirst, store.Page{Limit: 1})
			if err != nil {
				t.Error(err)
			}
			return n
		}
		done := make(chan bool)
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
						count("moved")
					}
				}
			})
		}
		for i, id := range ids {
			if err := s.SetFolder(ctx, owner, id, "moved"); err != nil {
				t.Fatal(err)
			}
			if n := count("moved"); n != int64(i+1) {
				t.Errorf("%d forms of the folder are listed, want %d", n, i+1)
			}
		}
		close(done)
		readers.Wait()
	})
}
