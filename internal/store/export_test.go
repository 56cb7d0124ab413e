package store

import (
	"context"
	"time"

	"formulary/internal/db"
)

// MigrateTo migrates an empty database to an earlier schema.
func (s *Store) MigrateTo(ctx context.Context, version int) error {
	_, err := s.migrateTo(ctx, version)
	return err
}

// Schemas returns the number of schema versions.
func Schemas() int { return len(migrations()) }

// Exec runs any statement, to prepare data that no method creates any more.
func (s *Store) Exec(ctx context.Context, sql string, args ...any) error {
	return s.db.Write(ctx, func(t db.Tx) error {
		_, err := t.Exec(sql, args...)
		return err
	})
}

// Rows runs any query and returns its rows as text.
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

// Addresses returns the number of cached form addresses.
func (s *Store) Addresses() int64 { return s.owners.n.Load() }

// ClusterCacheLife is the maximum age of a cached value in a cluster.
const ClusterCacheLife = clusterCacheLife

// DeleteAccountOnly is DeleteUser interrupted before it deletes the data.
func (s *Store) DeleteAccountOnly(ctx context.Context, owner string, now time.Time) error {
	return s.deleteAccount(ctx, owner, now)
}

// AddOwnerMail puts a mail to the owners of a space into the queue.
func (s *Store) AddOwnerMail(ctx context.Context, space string, m Mail) error {
	return s.db.Write(ctx, func(t db.Tx) error { return addOwnerMail(t, space, m, time.Now()) })
}

// Listen starts listening for changes of other nodes.
func (s *Store) Listen() { s.db.Generation("") }

// MaxAttempts is the limit of stored attempts. SetAttemptRows sets their estimated
// number.
const MaxAttempts = maxAttempts

func (s *Store) SetAttemptRows(n int64) { s.attempts.n.Store(n) }

// SubmissionQueueBytes is the size of the submission queue. ReserveQueue and
// ReleaseQueue act like a submission of n bytes.
const SubmissionQueueBytes = submissionQueueBytes

func (s *Store) ReserveSubmission(n int64) bool { return s.submissions.reserve(n) }
func (s *Store) ReleaseSubmission(n int64)      { s.submissions.release(n) }

// MaxVisitCounters is the limit of counters of visits in memory, PendingVisits is their
// number, DiscardVisits forgets them, and StoreVisits stores them now.
const MaxVisitCounters = maxVisitCounters

func (s *Store) PendingVisits() int {
	s.visits.mu.Lock()
	defer s.visits.mu.Unlock()
	return len(s.visits.counts)
}

func (s *Store) DiscardVisits() {
	s.visits.mu.Lock()
	defer s.visits.mu.Unlock()
	s.visits.counts = nil
}

func (s *Store) StoreVisits() { s.storeVisits() }

// TrimAudit deletes all but the newest entries of an audit log.
func (s *Store) TrimAudit(ctx context.Context, owner string, keep int64) error {
	return s.trimAudit(ctx, owner, keep)
}

// MoveBatch is what a node remembers between the steps of a move.
type MoveBatch = moveBatch

// StepMove does the smallest part of a move.
func (s *Store) StepMove(ctx context.Context, owner, formID string, batch *MoveBatch, now time.Time) (done bool, err error) {
	batch.limit = 8
	return s.stepMove(ctx, owner, formID, batch, now)
}

// MovedTables lists the tables with rows of a form that move with it.
func MovedTables() (names []string) {
	for _, table := range movedTables {
		names = append(names, table.name)
	}
	return names
}

// MemberBatch is how many members one transaction removes.
const MemberBatch = memberBatch
