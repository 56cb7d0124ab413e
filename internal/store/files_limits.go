package store

import (
	"context"
	"sync"
	"time"

	"formulary/internal/fault"
)

const (
	unclaimedOfClientSQL = `SELECT COUNT(*), CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM file
		WHERE account_id = $1 AND form_id = $2 AND client = $3 AND response_id = ''`
	unclaimedOfFormSQL = `SELECT COUNT(*), CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM file
		WHERE account_id = $1 AND form_id = $2 AND response_id = ''`
)

// Limits of what waits for its response, so that strangers cannot fill the storage: for one
// client, and for all clients of a form.
const (
	maxClientFiles = 500
	maxClientBytes = 5 << 30
	maxFormFiles   = 20_000
	maxFormBytes   = 50 << 30
)

var (
	errClientUploads = fault.New(fault.RateLimited, "Too many uploaded files wait for their form to be submitted. Submit the form, or try again later.").WithRetryAfter(600)
	errFormUploads   = fault.New(fault.RateLimited, "Too many people are uploading files. Try again later.").WithRetryAfter(60)
)

// AllowUpload returns an error if a client may not upload another file to a form. An empty
// client has no limit of its own.
func (s *Store) AllowUpload(ctx context.Context, owner, formID, client string) (err error) {
	defer wrap(&err, "check uploads")
	q := s.query(forRespondents(ctx, owner))
	if err := allowClientUpload(q, owner, formID, client); err != nil {
		return err
	}
	return s.uploads.allow(q, owner, formID)
}

func allowClientUpload(q querier, owner, formID, client string) error {
	if client == "" {
		return nil
	}
	var files, bytes int64
	if err := queryOne(q, unclaimedOfClientSQL, []any{owner, formID, client}, &files, &bytes); err != nil {
		return err
	}
	if files >= maxClientFiles || bytes >= maxClientBytes {
		return errClientUploads
	}
	return nil
}

// formUploads knows how many files of each form wait for their responses. Counting them takes
// milliseconds, so they are counted every usageTTL and estimated in between, as quotas does.
type formUploads struct {
	mu    sync.Mutex
	known map[string]*formUpload // by form
}

type formUpload struct {
	files, bytes int64
	read         time.Time
	reading      bool // one caller counts again; the others use the known value
}

func (u *formUpload) isFull() bool { return u.files >= maxFormFiles || u.bytes >= maxFormBytes }

// allow returns an error if a form has too many files that wait.
func (l *formUploads) allow(q querier, owner, formID string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.known[formID]
	if u == nil {
		if l.known == nil || len(l.known) >= maxUsages {
			l.known = map[string]*formUpload{}
		}
		u = &formUpload{}
		l.known[formID] = u
	}
	now := time.Now()
	age := now.Sub(u.read)
	if !u.reading && (age >= usageTTL || u.isFull() && age >= usageRepeat) {
		u.reading = true
		l.mu.Unlock()
		var files, bytes int64
		err := queryOne(q, unclaimedOfFormSQL, []any{owner, formID}, &files, &bytes)
		l.mu.Lock()
		if u.reading = false; err != nil {
			return err
		}
		u.files, u.bytes, u.read = files, bytes, now
	}
	if u.isFull() {
		return errFormUploads
	}
	return nil
}

// add counts a file that was added.
func (l *formUploads) add(formID string, size int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if u := l.known[formID]; u != nil {
		u.files, u.bytes = u.files+1, u.bytes+size
	}
}
