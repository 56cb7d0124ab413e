package db

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"formulary/internal/fault"
)

// Errors of a server that shuts down are distinguished from errors in a statement.
func TestServerErrors(t *testing.T) {
	for _, c := range []struct {
		code, message string
		away          bool
	}{
		{"XX000", "postmaster was shut down", true}, {"XX000", "cache lookup failed for type 0", false},
		{"57P01", "terminating connection due to administrator command", true}, {"08006", "connection failure", true},
		{"42601", "syntax error", false}, {"53300", "too many connections", true},
	} {
		err := pgError(&pgconn.PgError{Code: c.code, Message: c.message})
		if away := fault.Wrap(err).Code == fault.DatabaseUnreachable; away != c.away {
			t.Errorf("%s %s: %v", c.code, c.message, err)
		}
	}
}

// A canceled request is not reported as an unavailable database, whatever error pgx
// returns.
func TestCallerOrDatabase(t *testing.T) {
	alive, lost := context.WithCancel(context.Background())
	p := &pgPool{alive: alive}
	here, leave := context.WithCancel(context.Background())
	timeout := fault.DatabaseUnavailable(os.ErrDeadlineExceeded)
	if err := p.classifyError(here, timeout); errors.Is(err, context.Canceled) || fault.Wrap(err).Code != fault.DatabaseUnreachable {
		t.Errorf("a database that does not answer: %v", err)
	}
	if err := p.classifyError(here, fault.NotFound); err != fault.NotFound {
		t.Errorf("an answer: %v", err)
	}
	lost()
	if err := p.classifyError(here, context.Canceled); fault.Wrap(err).Code != fault.DatabaseUnreachable {
		t.Errorf("a database that was given up: %v", err)
	}
	leave()
	if err := p.classifyError(here, timeout); !errors.Is(err, context.Canceled) || fault.Wrap(err).Code == fault.DatabaseUnreachable {
		t.Errorf("a caller who left: %v", err)
	}
	if err := p.classifyError(here, nil); err != nil {
		t.Errorf("just in time: %v", err)
	}
}
