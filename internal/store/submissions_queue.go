package store

import (
	"sync"
	"sync/atomic"

	"formulary/internal/db"
)

// Submissions that arrive while others are stored share the next transaction: one
// update of each form's counters and one commit for all submissions of an owner. The
// queue is limited in entries and in bytes; when it is full, callers get 503001.
const (
	submissionQueueLength = 4096
	submissionQueueBytes  = 32 << 20 // of answers as JSON; they need several times as much memory
	submissionBatch       = 256
)

// submissionQueue is the write queue of new responses.
type submissionQueue struct {
	start   sync.Once
	stop    sync.RWMutex // locked for writing while closing
	ended   bool
	shards  []*db.Batcher[*pendingSubmission]
	entries atomic.Int64
	bytes   atomic.Int64
	total   atomic.Int64 // that were ever accepted
}

// reserve counts a submission of n bytes, unless the queue is full. Each call that
// returns true needs a call of release.
func (in *submissionQueue) reserve(n int64) bool {
	entries, bytes := in.entries.Add(1), in.bytes.Add(n)
	if entries > submissionQueueLength || bytes > submissionQueueBytes {
		in.release(n)
		return false
	}
	in.total.Add(1)
	return true
}

func (in *submissionQueue) release(n int64) {
	in.entries.Add(-1)
	in.bytes.Add(-n)
}

// SubmissionCount returns how many submissions this process has taken on.
func (s *Store) SubmissionCount() int64 { return s.submissions.total.Load() }
