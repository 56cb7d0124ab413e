package store

import (
	"context"
	"time"

	"formulary/internal/db"
)

// MigrateTo brings the schema to an earlier version, for tests of upgrades.
func (s *Store) MigrateTo(ctx context.Context, version int) error {
	_, err := s.migrateTo(ctx, version)
	return err
}

// Schemas is how many versions of the schema there are.
func Schemas() int { return len(migrations()) }

// Exec runs any statement, for tests that prepare what no method makes any more.
func (s *Store) Exec(ctx context.Context, sql string, args ...any) error {
	return s.db.Write(ctx, func(t db.Tx) error {
		_, err := t.Exec(sql, args...)
		return err
	})
}

// Rows reads texts, for such tests.
func (s *Store) Rows(ctx context.Context, columns int, sql string, args ...any) ([][]string, error) {
	var list [][]string
	err := s.query(ctx)(sql, func(r db.Row) error {
		texts, dest := make([]string, columns), make([]any, columns)
		for i := range texts {
			dest[i] = &texts[i]
		}
		list = append(list, texts)
		return r.Scan(dest...)
	}, args...)
	return list, err
}

// Addresses is of how many forms the address is remembered.
func (s *Store) Addresses() int64 { return s.owners.n.Load() }

// ClusterCacheLife is how long what was read is kept without being read again.
const ClusterCacheLife = clusterCacheLife

// DeleteAccountOnly is a DeletePerson that was killed before it removed the data.
func (s *Store) DeleteAccountOnly(ctx context.Context, owner string, now time.Time) error {
	return s.deleteAccount(ctx, owner, now)
}

// Listen begins to listen for changes, as a server does.
func (s *Store) Listen() { s.db.Generation("") }

// MaxAttempts bounds the stored guesses, and SetGuessRows says how many there seem to be.
const MaxAttempts = maxAttempts

func (s *Store) SetAttemptRows(n int64) { s.attempts.n.Store(n) }

// SubmissionQueueBytes is how many bytes the queue of submissions takes; ReserveIntake and
// ReleaseIntake are what a submission of so many bytes does.
const SubmissionQueueBytes = submissionQueueBytes

func (s *Store) ReserveSubmission(n int64) bool { return s.submissions.reserve(n) }
func (s *Store) ReleaseSubmission(n int64)      { s.submissions.release(n) }
