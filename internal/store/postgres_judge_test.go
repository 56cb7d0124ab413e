package store

import (
	"context"
	"errors"
	"os"
	"testing"

	"formulary/internal/fault"
)

// A caller who leaves says nothing about the database, whatever pgx calls it.
func TestCallerOrDatabase(t *testing.T) {
	alive, lost := context.WithCancel(context.Background())
	p := &pgPool{alive: alive}
	here, leave := context.WithCancel(context.Background())
	timeout := fault.Unreachable(os.ErrDeadlineExceeded)
	if err := p.judge(here, timeout); errors.Is(err, context.Canceled) || fault.From(err).Code != fault.DatabaseUnreachable {
		t.Errorf("a database that does not answer: %v", err)
	}
	if err := p.judge(here, fault.NotFound); err != fault.NotFound {
		t.Errorf("an answer: %v", err)
	}
	lost()
	if err := p.judge(here, context.Canceled); fault.From(err).Code != fault.DatabaseUnreachable {
		t.Errorf("a database that was given up: %v", err)
	}
	leave()
	if err := p.judge(here, timeout); !errors.Is(err, context.Canceled) || fault.From(err).Code == fault.DatabaseUnreachable {
		t.Errorf("a caller who left: %v", err)
	}
	if err := p.judge(here, nil); err != nil {
		t.Errorf("just in time: %v", err)
	}
}
