package store

import (
	"context"
	"errors"
	"testing"

	"formulary/internal/db"
	"formulary/internal/fault"
)

// unavailableDB rejects a batch and is unavailable afterwards.
type unavailableDB struct {
	db.DB
	writes int
}

func (l *unavailableDB) Write(context.Context, func(db.Tx) error) error {
	if l.writes++; l.writes == 1 {
		return errDuplicate
	}
	return fault.DatabaseUnavailable(errors.New("gone"))
}

func (l *unavailableDB) Invalidate(string) {}

// A batch whose members are retried separately asks an unavailable database once, not
// once per member.
func TestBatchWhileUnavailable(t *testing.T) {
	fake := &unavailableDB{}
	s := &Store{db: fake}
	batch := make([]*pendingSubmission, 100)
	for i := range batch {
		batch[i] = &pendingSubmission{Submission: Submission{Form: &PublicForm{}}, Waiter: db.NewWaiter()}
	}
	s.storeBatch(batch)
	if fake.writes != 2 {
		t.Errorf("%d writes", fake.writes)
	}
	for _, w := range batch {
		if fault.Wrap(w.err).Code != fault.DatabaseUnreachable {
			t.Fatalf("error of a caller: %v", w.err)
		}
	}
}
