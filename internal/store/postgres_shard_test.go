package store_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// Concurrent submissions to forms of several owners are stored in one transaction per
// owner, so that each uses one shard.
func TestOneTransactionPerOwner(t *testing.T) {
	t.Parallel()
	storage := storetest.Postgres(t)
	s := storetest.Open(t, storage)
	const owners, each = 40, 6 // more owners than shards
	var forms []*store.PublicForm
	for i := range owners {
		forms = append(forms, openForm(t, s, addUser(t, s, fmt.Sprintf("owner%d@example.com", i)).ID, small))
	}
	release := blockWrites(t, storage)
	var come, all sync.WaitGroup
	come.Add(owners * each)
	for i := range owners * each {
		all.Go(func() {
			come.Done()
			if _, err := submit(s, forms[i%owners], i); err != nil {
				t.Error(err)
			}
		})
	}
	come.Wait()
	release()
	all.Wait()
	rows, err := s.Rows(ctx, 2, `SELECT CAST(COUNT(*) AS TEXT), CAST(COALESCE(MAX(n), 0) AS TEXT) FROM
		(SELECT COUNT(DISTINCT account_id) AS n FROM response GROUP BY CAST(xmin AS TEXT)) AS transactions`)
	if err != nil || rows[0][1] != "1" {
		t.Errorf("a transaction has responses to %v owners (%v)", rows, err)
	}
}

// Listing forms by status closes expired forms of the own account only, without reading
// other accounts.
func TestCloseExpiredFormsOf(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		now := time.Now()
		due := func(email string) (owner, id string) {
			owner = addUser(t, s, email).ID
			id = openForm(t, s, owner, small).ID
			updateForm(t, s, owner, id, func(f *form.FormInput) { f.ClosesAt = now.Add(time.Hour) })
			return owner, id
		}
		ada, _ := due("ada@example.com")
		bob, _ := due("bob@example.com")
		if err := s.CloseExpiredFormsOf(ctx, ada, now.Add(2*time.Hour)); err != nil {
			t.Fatal(err)
		}
		for owner, want := range map[string]int64{ada: 1, bob: 0} {
			if _, n, err := s.Forms(ctx, owner, store.FormFilter{Status: "closed"}, store.NewestFirst, store.Page{Limit: 1}); err != nil || n != want {
				t.Errorf("%d forms of %s are closed, want %d (%v)", n, owner, want, err)
			}
		}
	})
}

// The submission queue is limited in bytes: when it is full, callers are told to retry.
func TestSubmissionQueueCountsBytes(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		f := openForm(t, s, owner, textForm)
		if !s.ReserveSubmission(store.SubmissionQueueBytes - 100) {
			t.Fatal("the empty queue rejects a submission")
		}
		_, err := addText(t, s, f, strings.Repeat("x", 200))
		if e := fault.Wrap(err); e.Code != fault.DatabaseUnreachable || e.RetryAfter == 0 {
			t.Errorf("submission to a full queue: %v", err)
		}
		if _, err := addText(t, s, f, "short"); err != nil {
			t.Errorf("submission to the remaining space: %v", err)
		}
		s.ReleaseSubmission(store.SubmissionQueueBytes - 100)
		if _, err := addText(t, s, f, strings.Repeat("x", 200)); err != nil {
			t.Errorf("submission to an empty queue: %v", err)
		}
	})
}
