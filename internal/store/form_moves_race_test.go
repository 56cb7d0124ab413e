package store_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// Every acknowledged submission exists after a move, and none is stored twice.
func TestSubmitWhileMoving(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, storage storetest.Storage) {
		ada := addUser(t, s, "ada@example.com")
		space := addSpace(t, s, "Team", ada)
		p := openForm(t, s, ada.ID, small)
		nodes := []*store.Store{s, storetest.Open(t, storage)}
		stop := make(chan struct{})
		var mu sync.Mutex
		var stored []string
		var work sync.WaitGroup
		for w := range 4 {
			work.Go(func() {
				for n := 0; ; n++ {
					select {
					case <-stop:
						return
					default:
					}
					p, err := nodes[w%2].PublicForm(ctx, p.ID)
					if err == nil {
						var r form.Response
						if r, err = submit(nodes[w%2], p, n); err == nil {
							mu.Lock()
							stored = append(stored, r.ID)
							mu.Unlock()
						}
					}
					if err != nil && fault.Wrap(err).Code != fault.DatabaseUnreachable {
						t.Errorf("submit: %v", err)
						return
					}
				}
			})
		}
		count := func() int {
			mu.Lock()
			defer mu.Unlock()
			return len(stored)
		}
		waitFor := func(more int) {
			for n := count() + more; count() < n && !t.Failed(); {
				time.Sleep(time.Millisecond)
			}
		}
		owners := []string{ada.ID, space, ada.ID, space}
		for i, from := range owners[:3] {
			waitFor(20)
			if err := nodes[i%2].StartMove(ctx, from, p.ID, owners[i+1], time.Now()); err != nil {
				t.Fatal(err)
			}
			var movers sync.WaitGroup
			for _, node := range nodes { // both nodes at the same time
				movers.Go(func() {
					if err := node.ContinueMove(ctx, from, p.ID, time.Now()); err != nil {
						t.Error(err)
					}
				})
			}
			movers.Wait()
		}
		waitFor(20)
		close(stop)
		work.Wait()
		found := map[string]bool{}
		result, err := s.Feed(ctx, space, p.ID, store.ResponseFilter{}, store.FeedPage{Limit: int64(len(stored) + 10)})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range result.Responses {
			found[r.ID] = true
		}
		for _, id := range stored {
			if !found[id] {
				t.Errorf("%s was acknowledged and is missing", id)
			}
		}
		if f, err := s.Form(ctx, space, p.ID); err != nil || f.ResponseCount != int64(len(stored)) || len(found) != len(stored) {
			t.Errorf("%d responses, %d found, %d acknowledged, %v", f.ResponseCount, len(found), len(stored), err)
		}
	})
}

// Of a move and a deletion at the same time, one wins.
func TestMoveBesideDeletion(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, storage storetest.Storage) {
		other := storetest.Open(t, storage)
		for round := range 6 {
			ada := addUser(t, s, fmt.Sprintf("ada%d@example.com", round))
			space := addSpace(t, s, "Team", ada)
			p := openForm(t, s, ada.ID, small)
			r, err := submit(s, p, 1)
			if err != nil {
				t.Fatal(err)
			}
			var moved, deleted error
			var both sync.WaitGroup
			both.Go(func() {
				if moved = s.StartMove(ctx, ada.ID, p.ID, space, time.Now()); moved == nil {
					moved = s.ContinueMove(ctx, ada.ID, p.ID, time.Now())
				}
			})
			both.Go(func() {
				if round%2 == 0 {
					deleted = other.DeleteForm(ctx, ada.ID, p.ID, 0, time.Now())
				} else {
					_, deleted = other.DeleteSpace(ctx, space, time.Now())
				}
			})
			both.Wait()
			inSpace, errSpace := s.Response(ctx, space, p.ID, r.ID)
			own, errOwn := s.Response(ctx, ada.ID, p.ID, r.ID)
			switch {
			case moved == nil && deleted == nil && round%2 == 1:
				// The space was deleted after the form had arrived in it.
				if errSpace == nil || errOwn == nil {
					t.Errorf("round %d: the form is there after the deletion of its space", round)
				}
			case moved == nil && deleted == nil:
				// The form was deleted while it was copied.
				if _, err := s.RestoreForm(ctx, ada.ID, p.ID, time.Now()); err != nil || errSpace == nil || errOwn == nil {
					t.Errorf("round %d: %v, %v, %v", round, err, errSpace, errOwn)
				}
				if own, err = s.Response(ctx, ada.ID, p.ID, r.ID); err != nil || own.ID != r.ID {
					t.Errorf("round %d: after restoring the form: %v", round, err)
				}
			case moved == nil:
				if deleted == nil || errSpace != nil || inSpace.ID != r.ID || !errors.Is(errOwn, fault.NotFound) {
					t.Errorf("round %d: moved, but %v, %v, %v", round, deleted, errSpace, errOwn)
				}
			default:
				if deleted != nil || errSpace == nil || (errOwn == nil) != (round%2 == 1) || errOwn == nil && own.ID != r.ID {
					t.Errorf("round %d: not moved (%v), but %v, %v, %v", round, moved, deleted, errSpace, errOwn)
				}
			}
		}
	})
}
