package store

import (
	"context"
	"errors"
	"testing"

	"formulary/internal/db"
	"formulary/internal/fault"
)

// unavailableDB rejects a batch and is unavailable afterwards.
type leaving struct {
	db.DB
	writes int
}

func (l *leaving) Write(context.Context, func(db.Tx) error) error {
	if l.writes++; l.writes == 1 {
		return errDuplicate
	}
	return fault.DatabaseUnavailable(errors.New("gone"))
}

func (l *leaving) Invalidate(string) {}

// A batch whose members are retried separately asks an unavailable database once, not
// once per member.
func TestBatchWhileAway(t *testing.T) {
	gone := &leaving{}
	s := &Store{db: gone}
	batch := make([]*pendingSubmission, 100)
	for i := range batch {
		batch[i] = &pendingSubmission{Submission: Submission{Form: &PublicForm{}}, Waiter: db.NewWaiter()}
	}
	s.storeBatch(batch)
	if gone.writes != 2 {
		t.Errorf("asked %d times", gone.writes)
	}
	for _, w := range batch {
		if fault.Wrap(w.err).Code != fault.DatabaseUnreachable {
			t.Fatalf("told: %v", w.err)
		}
	}
}
