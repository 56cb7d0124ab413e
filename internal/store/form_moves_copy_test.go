package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// changeWhileCopied changes responses of which some are copied and some are not: new, edited,
// marked, deleted and restored ones.
func (m *moveTest) changeWhileCopied() {
	m.Helper()
	must := func(_ any, err error) {
		m.Helper()
		if err != nil {
			m.Fatal(err)
		}
	}
	owner, formID, now := m.ada.ID, m.form.ID, time.Now()
	for i := range 3 {
		r, err := m.s.SubmitResponse(ctx, m.submission(300+i))
		must(r, err)
		m.ids = append(m.ids, r.ID)
	}
	for _, i := range []int{4, 19} {
		must(m.s.UpdateResponse(ctx, owner, store.ResponseKey{FormID: formID, ID: m.ids[i]}, func(*form.Definition, map[string]any) (map[string]any, error) {
			return map[string]any{"n": float64(1000)}, nil
		}, now))
	}
	must(m.s.MarkResponses(ctx, owner, formID, []string{m.ids[5], m.ids[8], m.ids[18]}, store.MarkChange{Add: []string{"New"}, Remove: []string{"Urgent"}}))
	must(m.s.DeleteResponsesWithUndo(ctx, owner, formID, []string{m.ids[3], m.ids[17]}, now))
	must(m.s.RestoreResponses(ctx, owner, formID, m.ids[:1], now))
	must(m.s.AddNote(ctx, owner, store.ResponseKey{FormID: formID, ID: m.ids[10]}, store.NewNote{Author: owner, Text: "Late"}, now))
}

// A form that is deleted while it is copied stays in its space, where it can be restored.
func TestDeleteWhileCopied(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		m := newMoveTest(t, s)
		var batch store.MoveBatch
		for round := range 2 {
			before := m.rows()
			if err := s.StartMove(ctx, m.ada.ID, m.form.ID, m.space, time.Now()); err != nil {
				t.Fatal(err)
			}
			for range 5 - round {
				if _, err := s.StepMove(ctx, m.ada.ID, m.form.ID, &batch, time.Now()); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.DeleteForm(ctx, m.ada.ID, m.form.ID, 0, time.Now()); err != nil {
				t.Fatal(err)
			}
			if err := s.ContinueMoves(ctx, time.Now()); err != nil {
				t.Fatal(err)
			}
			if _, err := s.RestoreForm(ctx, m.ada.ID, m.form.ID, time.Now()); err != nil {
				t.Fatal(err)
			}
			after := m.rows()
			for table, rows := range before {
				if table != "audit" && fmt.Sprint(rows) != fmt.Sprint(after[table]) {
					t.Errorf("round %d: rows of %s before and after:\n%v\n%v", round, table, rows, after[table])
				}
			}
		}
		if _, err := s.DeleteSpace(ctx, m.space, time.Now()); err != nil {
			t.Errorf("the move has not ended: %v", err)
		}
	})
}

// Moves that are queued take turns, a form that waits is in use, and each counts for the quota.
func TestQueuedMoves(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, storage storetest.Storage) {
		ada := addUser(t, s, "ada@example.com")
		space := addSpace(t, s, "Team", ada)
		const n = 20
		s.SetQuotas(store.Quotas{Forms: n})
		defer s.SetQuotas(store.Quotas{})
		other := addUser(t, s, "bob@example.com")
		last := openForm(t, s, other.ID, small)
		var forms []*store.PublicForm
		for i := range n {
			forms = append(forms, openForm(t, s, ada.ID, small))
			if _, err := submit(s, forms[i], i); err != nil {
				t.Fatal(err)
			}
		}
		for _, p := range forms {
			if err := s.StartMove(ctx, ada.ID, p.ID, space, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.StartMove(ctx, other.ID, last.ID, space, time.Now()); fault.Wrap(err).Code != fault.QuotaReached {
			t.Errorf("more than the quota: %v", err)
		}
		for i, p := range forms {
			if _, err := submit(s, p, i); err != nil {
				t.Fatalf("a form that waits: %v", err)
			}
		}
		nodes := []*store.Store{s, storetest.Open(t, storage)}
		results := make(chan error)
		for _, node := range nodes {
			go func() { results <- node.ContinueMoves(ctx, time.Now()) }()
		}
		for range nodes {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
		for _, p := range forms {
			if f, err := s.Form(ctx, space, p.ID); err != nil || f.ResponseCount != 2 {
				t.Errorf("%s has %d responses, %v", p.ID, f.ResponseCount, err)
			}
		}
	})
}

// A move that takes too long for its request is reported to those who continue moves.
func TestInterruptedMove(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		ada := addUser(t, s, "ada@example.com")
		p := openForm(t, s, ada.ID, small)
		if err := s.StartMove(ctx, ada.ID, p.ID, addSpace(t, s, "Team", ada), time.Now()); err != nil {
			t.Fatal(err)
		}
		request, cancel := context.WithCancel(ctx)
		cancel()
		if err := s.ContinueMove(request, ada.ID, p.ID, time.Now()); err == nil {
			t.Error("the request has ended, and the move has not")
		}
		select {
		case <-s.WaitingMoves():
		default:
			t.Error("nobody knows that the move is not complete")
		}
	})
}
