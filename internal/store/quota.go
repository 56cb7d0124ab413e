package store

import (
	"context"
	"sync"
	"time"

	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/form"
)

// Quotas limit what one account may store; 0 means no limit.
type Quotas struct {
	Forms    int64 // forms, including recently deleted ones
	Versions int64 // versions of one form
	Bytes    int64 // drafts, versions, responses and files, including recently deleted ones
}

// Usage is what an account has stored.
type Usage struct {
	Forms int64
	Bytes int64
}

// responseOverhead is the size of a response's key, version and time.
const responseOverhead = 100

// responseBytes returns the size that a response counts for. It depends on the values
// and not on their JSON, which PostgreSQL reformats: a deletion subtracts exactly what
// was added.
func responseBytes(answers map[string]any, metadata string) int64 {
	return valueBytes(answers) + int64(len(metadata)) + responseOverhead
}

func valueBytes(value any) int64 {
	var n int64
	switch v := value.(type) {
	case string:
		return int64(len(v)) + 2
	case []any:
		for _, item := range v {
			n += valueBytes(item) + 1
			if file, ok := item.(map[string]any); ok { // lists contain no other objects
				size, _ := file["size"].(float64)
				n += int64(size)
			}
		}
	case []string:
		for _, text := range v {
			n += int64(len(text)) + 3
		}
	case []form.File:
		for _, f := range v {
			n += fileAnswerBytes(f) + f.Size + 1
		}
	case map[string]any:
		for key, item := range v {
			n += int64(len(key)) + 3 + valueBytes(item)
		}
	default:
		return 8
	}
	return n
}

// fileAnswerBytes is valueBytes of a file in decoded answers.
func fileAnswerBytes(f form.File) int64 {
	return valueBytes(map[string]any{"id": f.ID, "name": f.Name, "size": 0.0, "type": f.Type})
}

const (
	formsStoredSQL = `SELECT CAST(COALESCE(SUM(stored_bytes), 0) AS BIGINT) FROM form WHERE account_id = $1`
	trashStoredSQL = `SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM trash WHERE account_id = $1`
	// IDs of forms: the primary key skips all deleted responses.
	trashFormsSQL = `SELECT COUNT(*) FROM trash WHERE account_id = $1 AND id >= 'frm_' AND id < 'frm_~'`
	addStoredSQL  = `UPDATE form SET stored_bytes = stored_bytes + $3 WHERE account_id = $1 AND id = $2`
)

// SetQuotas limits what accounts may store. Call it before the store is shared.
func (s *Store) SetQuotas(q Quotas) { s.quotas.Quotas = q }

func (s *Store) Quotas() Quotas { return s.quotas.Quotas }

// Usage returns what an account has stored. It reads a row for each of its forms.
func (s *Store) Usage(ctx context.Context, owner string) (_ Usage, err error) {
	defer wrap(&err, "read usage")
	var u Usage
	var forms, trash, trashed, uploads, pictures int64
	var found bool
	err = s.db.QueryBatch(ctx,
		scanInto(&found, formsStoredSQL, []any{owner}, &forms),
		scanInto(&found, trashStoredSQL, []any{owner}, &trash),
		scanInto(&found, countFormsSQL, []any{owner, "", ""}, &u.Forms),
		scanInto(&found, trashFormsSQL, []any{owner}, &trashed),
		scanInto(&found, unclaimedStoredSQL, []any{owner}, &uploads),
		scanInto(&found, picturesStoredSQL, []any{owner}, &pictures))
	u.Forms += trashed
	u.Bytes = forms + trash + uploads + pictures
	return u, err
}

// quotas enforces Quotas. The usage of an account is read every usageTTL and
// estimated in between, so an account can exceed its limit by what other nodes store in
// that time.
type quotas struct {
	Quotas
	mu    sync.Mutex
	known map[string]*knownUsage // by owner
}

type knownUsage struct {
	bytes   int64 // stored
	held    int64 // by uploads that are not stored yet
	read    time.Time
	state   storageState
	reading bool // one caller reads it again; the others use the known value
}

const (
	usageTTL    = 10 * time.Second
	usageRepeat = 500 * time.Millisecond // between two readings for an account at its limit
	maxUsages   = 10_000
)

// reserve checks that an account may store n more bytes.
func (s *Store) reserve(ctx context.Context, owner string, n int64) error {
	return s.reserveWithin(ctx, owner, reservation{bytes: n, limit: s.quotas.Bytes})
}

// reserveUndo is reserve for undoing a deletion. An account may exceed its limit by a tenth,
// so that one that is full does not lose what was deleted by mistake.
func (s *Store) reserveUndo(ctx context.Context, owner string, n int64) error {
	return s.reserveWithin(ctx, owner, reservation{bytes: n, limit: s.quotas.Bytes + s.quotas.Bytes/10})
}

// reservation is what an account is about to store.
type reservation struct {
	bytes, limit int64
	isHeld       bool // counted until it is released, because it is not stored soon
}

func (s *Store) reserveWithin(ctx context.Context, owner string, r reservation) error {
	q := &s.quotas
	if q.Bytes == 0 || r.bytes <= 0 {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	u, now := q.of(owner), time.Now()
	age := now.Sub(u.read)
	if !u.reading && (age >= usageTTL || u.bytes+u.held+r.bytes > r.limit && age >= usageRepeat) {
		u.reading = true
		q.mu.Unlock()
		read, err := s.Usage(ctx, owner)
		q.mu.Lock()
		if u.reading = false; err != nil {
			return err
		}
		u.bytes, u.read = read.Bytes, now
		s.watchStorage(owner, u)
	}
	if u.bytes+u.held+r.bytes > r.limit {
		return fault.New(fault.QuotaReached, "The account has reached its storage limit of %s. Delete forms or responses you no longer need.", FormatBytes(q.Bytes))
	}
	if r.isHeld {
		u.held += r.bytes
	} else {
		u.bytes += r.bytes
	}
	return nil
}

// ReserveUpload counts n bytes that are being uploaded against the account's storage, until they
// are released. A tenth of the storage is left for responses: strangers who upload files and
// submit nothing cannot stop those.
func (s *Store) ReserveUpload(ctx context.Context, owner string, n int64) (err error) {
	defer wrap(&err, "reserve storage")
	return s.reserveWithin(forRespondents(ctx, owner), owner, reservation{bytes: n, limit: s.quotas.Bytes - s.quotas.Bytes/10, isHeld: true})
}

// ReleaseUpload ends reservations of n bytes, of which stored were stored.
func (s *Store) ReleaseUpload(owner string, n, stored int64) {
	q := &s.quotas
	if q.Bytes == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	u := q.of(owner)
	u.held, u.bytes = max(0, u.held-n), u.bytes+stored
}

// of returns the known usage of an owner. A new one is outdated, so it is read first.
func (q *quotas) of(owner string) *knownUsage {
	u := q.known[owner]
	if u == nil {
		if q.known == nil || len(q.known) >= maxUsages {
			q.known = map[string]*knownUsage{}
		}
		u = &knownUsage{}
		q.known[owner] = u
	}
	return u
}

// allowForms checks, in the transaction that adds them, that an account may have n more
// forms.
func (q *quotas) allowForms(t db.Tx, owner string, n int64) error {
	if q.Forms == 0 {
		return nil
	}
	var forms, trashed int64
	if err := queryOne(t.Query, countFormsSQL, []any{owner, "", ""}, &forms); err != nil {
		return err
	}
	if err := queryOne(t.Query, trashFormsSQL, []any{owner}, &trashed); err != nil {
		return err
	}
	if forms+trashed+n > q.Forms {
		return fault.New(fault.QuotaReached, "The account has reached its limit of %d forms. Deleted forms count for one hour.", q.Forms)
	}
	return nil
}

// allowVersion checks that a form may have one more version.
func (q *quotas) allowVersion(version int64) error {
	if q.Versions > 0 && version >= q.Versions {
		return fault.New(fault.QuotaReached, "The form has reached its limit of %d versions. Duplicate the form to continue.", q.Versions)
	}
	return nil
}
