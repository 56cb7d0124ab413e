package store_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// Failed attempts add up across nodes, and are deleted once they no longer count.
func TestFailedAttempts(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, storage storetest.Storage) {
		otherProcess := storetest.Open(t, storage)
		now := time.Now()
		var all sync.WaitGroup
		for i := range 20 {
			by := []*store.Store{s, otherProcess}[i%2]
			all.Go(func() {
				if err := by.SaveAttempt(ctx, "l", "k", time.Minute, now); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		list, err := otherProcess.Attempts(ctx, now)
		want := []store.Attempt{{Limiter: "l", Key: "k", Until: now.Add(20 * time.Minute).Truncate(time.Millisecond)}}
		if diff := cmp.Diff(want, list); err != nil || diff != "" {
			t.Errorf("20 attempts of a minute each (-want +got):\n%s (%v)", diff, err)
		}
		// A later attempt counts from now, not from the end of the previous one.
		later := now.Add(time.Hour)
		if err := s.SaveAttempt(ctx, "l", "k", time.Minute, later); err != nil {
			t.Fatal(err)
		}
		if list, err := s.Attempts(ctx, later); err != nil || len(list) != 1 || list[0].Until.UnixMilli() != later.Add(time.Minute).UnixMilli() {
			t.Errorf("an attempt after an hour: %v (%v)", list, err)
		}
		if err := s.Cleanup(ctx, later.Add(2*time.Minute), time.Hour); err != nil {
			t.Fatal(err)
		}
		if n := tableRows(t, s, "guess"); n != "0" {
			t.Errorf("%s attempts left", n)
		}
		// Above the limit, nothing is stored.
		s.SetAttemptRows(store.MaxAttempts)
		if err := s.SaveAttempt(ctx, "l", "flood", time.Minute, now); err != nil {
			t.Fatal(err)
		}
		if n := tableRows(t, s, "guess"); n != "0" {
			t.Errorf("%s attempts stored above the limit", n)
		}
	})
}
