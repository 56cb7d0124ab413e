package store_test

import (
	"sync"
	"testing"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// Close waits for running writes, and later writes get an error.
func TestClose(t *testing.T) {
	storetest.Each(t, func(t *testing.T, storage storetest.Storage) {
		s := storetest.Open(t, storage)
		ada := addUser(t, s, "ada@example.com")
		p := openForm(t, s, ada.ID, small)
		var running sync.WaitGroup
		started := make(chan struct{}, 32)
		for n := range cap(started) {
			running.Go(func() {
				for first := true; ; first = false {
					_, err := submit(s, p, n)
					if n%2 == 0 {
						_, err = s.CreateForm(ctx, ada.ID, form.Header{Title: "x", Language: "en"}, nil, time.Now())
					}
					if err != nil {
						if first || fault.Wrap(err).Code != fault.DatabaseUnreachable {
							t.Error(err)
						}
						return
					}
					if first {
						started <- struct{}{}
					}
				}
			})
		}
		for range cap(started) {
			<-started
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		running.Wait()
		if _, _, err := s.Forms(ctx, ada.ID, store.FormFilter{}, store.NewestFirst, store.Page{Limit: 20}); fault.Wrap(err).Code != fault.DatabaseUnreachable {
			t.Errorf("after Close: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("second Close: %v", err)
		}
	})
}
