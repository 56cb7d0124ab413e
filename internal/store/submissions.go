package store

import (
	"cmp"
	"context"
	"errors"
	"hash/fnv"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"formulary/internal/account"

	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
)

// Submission is a new response whose answers were validated against a version of the
// form.
type Submission struct {
	Form     *PublicForm
	Answers  map[string]any
	Metadata form.Metadata
	Key      IdempotencyKey // a repeated submission returns the first response; without a hash, the answers must be equal
	At       time.Time
}

const (
	nextResponseSQL = `UPDATE form SET response_serial = response_serial + $3, response_count = response_count + $3,
		response_tick = CASE WHEN response_tick < $5 THEN $5 ELSE response_tick END + $3, stored_bytes = stored_bytes + $6
		WHERE account_id = $1 AND id = $2 AND status = 'open' AND opens_at <= $4 AND (closes_at = 0 OR closes_at > $4)
		AND (response_limit = 0 OR response_count + $3 <= response_limit)`
	nextColumns       = ` version, response_serial, response_tick, CASE WHEN response_count = response_limit THEN 1 ELSE 0 END `
	nextReturnedSQL   = nextResponseSQL + ` RETURNING` + nextColumns
	nextReadSQL       = `SELECT` + nextColumns + `FROM form WHERE account_id = $1 AND id = $2`
	insertResponseSQL = `INSERT INTO response (account_id, form_id, id, serial, version, submitted_at, answers, metadata)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`
)

// pendingSubmission is a submission whose caller is waiting.
type pendingSubmission struct {
	Submission
	text, metadata string
	size           int64 // counted against the account's storage
	response       form.Response
	filled         bool // it reached the form's response limit
	files          []fileClaim
	err            error
	db.Waiter
}

// SubmitResponse stores a submission and returns when it is durable.
func (s *Store) SubmitResponse(ctx context.Context, in Submission) (_ form.Response, err error) {
	defer wrap(&err, "submit response")
	r, err := s.submitResponse(ctx, in)
	return r, s.movingError(ctx, in.Form, err)
}

func (s *Store) submitResponse(ctx context.Context, in Submission) (_ form.Response, err error) {
	w := &pendingSubmission{Submission: in, Waiter: db.NewWaiter()}
	var files answeredFiles
	if in.Form.Definition.HasFiles() {
		a := answerer{owner: in.Form.Owner, formID: in.Form.ID, definition: in.Form.Definition, at: in.At}
		if in.Answers, files, err = s.resolveFiles(ctx, a, in.Answers); err != nil {
			return form.Response{}, err
		}
		w.Answers, w.files = in.Answers, files.claims
	}
	text, err := in.Form.Definition.Encode(in.Answers)
	if err != nil {
		return form.Response{}, err
	}
	if err := in.Form.Definition.CheckSize(text, in.Answers); err != nil {
		return form.Response{}, err
	}
	if w.metadata, err = in.Metadata.Encode(); err != nil {
		return form.Response{}, err
	}
	w.text = string(text)
	if w.Key.Key != "" && w.Key.Hash == "" {
		w.Key.Hash = account.Hash(files.identify(w.text))
	}
	if files.taken {
		// A repeated submission finds its files claimed by the first one.
		r, found, err := s.FindSubmission(ctx, in.Form.Owner, in.Form.ID, w.Key)
		return r, errorWhen(err, !found, fileError(w.files[0].key))
	}
	w.size = responseBytes(in.Answers, w.metadata)
	// Files are counted since they were uploaded.
	if err := s.reserve(forRespondents(ctx, in.Form.Owner), in.Form.Owner, w.size-files.size); err != nil {
		// A repeated submission stores nothing.
		if r, found, lookup := s.FindSubmission(ctx, in.Form.Owner, in.Form.ID, w.Key); found && fault.Wrap(err).Code == fault.QuotaReached {
			return r, lookup
		}
		return form.Response{}, err
	}
	if err := s.openBeforeSubmission(ctx, in.Form, in.At); err != nil {
		return form.Response{}, err
	}
	if err := s.enqueue(ctx, w); err != nil {
		return form.Response{}, err
	}
	return w.response, w.err
}

// enqueue stores a submission in a batch. It does not return early when ctx ends: the
// caller must learn whether the submission is stored.
func (s *Store) enqueue(ctx context.Context, w *pendingSubmission) error {
	s.submissions.start.Do(s.openSubmissions)
	s.submissions.stop.RLock()
	defer s.submissions.stop.RUnlock()
	if s.submissions.ended {
		return fault.DatabaseUnavailable(db.ErrClosed)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	size := int64(len(w.text) + len(w.metadata))
	if !s.submissions.reserve(size) {
		return db.ErrBusy
	}
	defer s.submissions.release(size)
	return s.shardFor(w.Form.Owner).Submit(w)
}

// shardFor returns the same shard for all forms of an owner, so that submissions to one
// form are batched and do not wait for each other's locks.
func (s *Store) shardFor(owner string) *db.Batcher[*pendingSubmission] {
	shards := s.submissions.shards
	if len(shards) == 1 {
		return shards[0]
	}
	h := fnv.New32a()
	h.Write([]byte(owner))
	return shards[h.Sum32()%uint32(len(shards))]
}

func (s *Store) openSubmissions() {
	batching := s.db.Batching()
	s.submissions.shards = make([]*db.Batcher[*pendingSubmission], batching.Shards)
	for i := range s.submissions.shards {
		sums := map[string]*storedSummary{}
		s.submissions.shards[i] = &db.Batcher[*pendingSubmission]{
			MaxWaiting: submissionQueueLength, MaxBatch: submissionBatch, YieldFirst: batching.YieldFirst, Thread: batching.Thread,
			Run:        s.storeBatch,
			AfterBatch: func(batch []*pendingSubmission) { s.countBatch(batch, sums) },
		}
	}
}

func (s *Store) closeSubmissions() {
	s.submissions.start.Do(func() {})
	s.submissions.stop.Lock() // waits for running submissions
	defer s.submissions.stop.Unlock()
	s.submissions.ended = true
	for _, shard := range s.submissions.shards {
		shard.Close()
	}
}

// Limits of the summaries that shards update in memory.
const (
	maxSummaries    = 256     // per shard
	maxSummaryBytes = 4 << 20 // bytes of JSON, of all shards
)

// countBatch adds stored submissions to the summaries, after their callers got the
// result.
func (s *Store) countBatch(batch []*pendingSubmission, sums map[string]*storedSummary) {
	var of string
	var sum *storedSummary
	for _, w := range batch {
		if w.err != nil {
			continue
		}
		if w.Form.ID != of { // the batch is sorted by form
			of, sum = w.Form.ID, sums[w.Form.ID]
		}
		if counted := s.countInTransaction(sum, w); counted != sum {
			sum, sums[of] = counted, counted
		}
	}
	bytes := 0
	for _, sum := range sums {
		if sum != nil {
			bytes += sum.bytes
		}
	}
	if len(sums) > maxSummaries || bytes > maxSummaryBytes/len(s.submissions.shards) {
		clear(sums)
	}
}

var (
	errRetrySingly = errors.New("no batch to join")
	errDuplicate   = errors.New("duplicate submission")
)

// storeBatch stores a batch with one transaction per owner, so that a transaction stays on
// one machine of a sharded database. The transactions run concurrently; on SQLite they
// share one commit.
func (s *Store) storeBatch(batch []*pendingSubmission) {
	// Every node uses the same order, so that transactions cannot deadlock.
	slices.SortStableFunc(batch, func(a, b *pendingSubmission) int {
		return cmp.Or(cmp.Compare(a.Form.Owner, b.Form.Owner), cmp.Compare(a.Form.ID, b.Form.ID))
	})
	var others sync.WaitGroup
	var panicked atomic.Pointer[any]
	for from := 0; from < len(batch); {
		to := from + 1
		for to < len(batch) && batch[to].Form.Owner == batch[from].Form.Owner {
			to++
		}
		group := batch[from:to]
		if from = to; to < len(batch) {
			others.Go(func() {
				defer func() {
					if p := recover(); p != nil {
						panicked.Store(&p)
					}
				}()
				s.storeGroup(group)
			})
		} else {
			s.storeGroup(group)
		}
	}
	others.Wait()
	if p := panicked.Load(); p != nil {
		panic(*p) // the batcher reports it to a caller
	}
}

// storeGroup stores submissions to forms of one owner in one transaction. If one of
// them cannot be stored, each is tried separately, so that only that one fails.
func (s *Store) storeGroup(group []*pendingSubmission) {
	owner := group[0].Form.Owner
	ctx := forRespondents(context.Background(), owner)
	err := errRetrySingly
	if len(group) > 1 {
		err = s.db.Write(ctx, func(t db.Tx) error { return s.storeForms(t, group) })
	}
	full := false
	for _, w := range group {
		w.err = err
		if err != nil && !isUnavailable(err) {
			if w.err = s.storeSingle(ctx, w); isUnavailable(w.err) {
				err = w.err // the others would fail in the same way
			}
		}
		full = full || w.filled || w.Form.Availability.ResponseLimit > 0 && (w.err == nil || isUncertain(w.err))
	}
	s.db.Invalidate(responsesOf(owner))
	if full {
		s.db.Invalidate(owner) // the form has closed, or may have
	}
}

func isUnavailable(err error) bool {
	return err != nil && fault.Wrap(err).Code == fault.DatabaseUnreachable
}

// storeSingle stores one submission, or finds the response of the first submission with
// the same key.
func (s *Store) storeSingle(ctx context.Context, w *pendingSubmission) error {
	err := s.db.Write(ctx, func(t db.Tx) error { return s.storeForm(t, []*pendingSubmission{w}) })
	if err == nil || isUnavailable(err) {
		return err
	}
	if r, found, lookup := s.FindSubmission(ctx, w.Form.Owner, w.Form.ID, w.Key); found || lookup != nil {
		w.response = r
		return lookup
	}
	return err
}

// FindSubmission finds the response that was stored with the key, and returns when it
// is durable: its commit may have been interrupted while it waited for a standby.
func (s *Store) FindSubmission(ctx context.Context, owner, formID string, key IdempotencyKey) (r form.Response, found bool, err error) {
	defer wrap(&err, "find submission")
	if key.Key == "" {
		return r, false, nil
	}
	ctx = attributed(ctx, owner)
	if _, err := key.firstResult(s.query(ctx), owner); err != nil {
		return r, false, replaceNotFound(err, nil)
	}
	err = s.db.Write(ctx, func(t db.Tx) error {
		id, err := key.confirm(t, owner)
		if err != nil {
			return err
		}
		r, err = readResponse(t.Query, owner, formID, id)
		return err
	})
	return r, true, err
}

// storeForms stores submissions that are sorted by form.
func (s *Store) storeForms(t db.Tx, batch []*pendingSubmission) error {
	for from := 0; from < len(batch); {
		to := from + 1
		for to < len(batch) && batch[to].Form.ID == batch[from].Form.ID {
			to++
		}
		if err := s.storeForm(t, batch[from:to]); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// storeForm stores submissions to one form. They get the form's next serials and ticks,
// so their IDs sort in the order of storing, on any node.
func (s *Store) storeForm(t db.Tx, list []*pendingSubmission) error {
	form := list[0].Form
	now := slices.MaxFunc(list, func(a, b *pendingSubmission) int { return a.At.Compare(b.At) }).At
	n := int64(len(list))
	var size int64
	for _, w := range list {
		size += w.size
	}
	last, err := reserveSerials(t, form, n, size, now)
	if err != nil {
		return replaceNotFound(err, errNotOpen)
	}
	published := form.Definition
	if last.version != form.Version {
		if published, err = s.definitions.of(t.Query, form.Owner, form.ID, last.version); err != nil {
			return err
		}
	}
	limits := optionLimits(published)
	// One allocation: this is the hottest path of the store.
	const columns = 6
	rows := make([][]any, n)
	cells := make([]any, 0, columns*n)
	times := make([]int64, n)
	for i, w := range list {
		before := n - 1 - int64(i)
		w.response = newResponse(w, last.serial-before, id.Tick(last.tick-before))
		r := &w.response
		if earlier, err := w.Key.claim(t, form.Owner, r.ID, w.At); err != nil || earlier != "" {
			return errorWhen(err, earlier != "", errDuplicate)
		}
		if len(w.files) > 0 {
			if err := claimFiles(t, answerer{owner: form.Owner, formID: form.ID, responseID: r.ID, at: w.At}, w.files); err != nil {
				return err
			}
		}
		if limits != nil {
			if err := claimOptions(t, form.Owner, form.ID, limits, w.Form.Definition.Selections(w.Answers)); err != nil {
				return err
			}
		}
		times[i] = toMillis(r.SubmittedAt)
		cells = append(cells, &r.ID, &r.Serial, &r.Version, &times[i], &r.JSON, &r.Metadata)
		rows[i] = cells[i*columns:][:columns]
	}
	if err := t.ExecEach(insertResponseSQL, []any{form.Owner, form.ID}, rows); err != nil {
		return err
	}
	if last.full == 1 {
		list[0].filled = true
		return closeFull(t, form.Owner, form.ID, now)
	}
	return nil
}

// serialRange is the end of a range of serials and ticks, and the state of the form
// after it: its version, and whether it reached the response limit.
type serialRange struct{ version, serial, tick, full int64 }

// reserveSerials counts n responses of size bytes that are about to be stored, if the form
// accepts them.
func reserveSerials(t db.Tx, form *PublicForm, n, size int64, now time.Time) (serialRange, error) {
	var last serialRange
	next := db.Update{Returning: nextReturnedSQL, Update: nextResponseSQL, Select: nextReadSQL, Keys: 2}
	args := []any{form.Owner, form.ID, n, toMillis(now), int64(id.NewTick(now)), size}
	err := checkAffected(t.UpdateRow(next, args, &last.version, &last.serial, &last.tick, &last.full))
	return last, err
}

func newResponse(w *pendingSubmission, serial int64, tick id.Tick) form.Response {
	id, at := tick.ID(id.Response)
	return form.Response{ID: id, FormID: w.Form.ID, Serial: serial, Version: w.Form.Version, SubmittedAt: at, JSON: w.text, Metadata: w.metadata}
}

// closeFull closes a form that reached its response limit.
func closeFull(t db.Tx, owner, formID string, now time.Time) error {
	f, err := lockForm(t, owner, formID, 0)
	if err != nil {
		return err
	}
	return updateStatus(t, owner, &f, form.Closed, now)
}
