package store

import (
	"context"
	"sync"
	"time"

	"formulary/internal/db"
	"formulary/internal/id"
)

// RequestLogEntry is an API request of an application.
type RequestLogEntry struct {
	Method    string
	Path      string
	Status    int64
	Took      time.Duration
	RequestID string
	At        time.Time
}

const (
	maxLoggedRequests  = 50          // per application
	requestLogInterval = time.Second // how often they are stored
)

const (
	insertRequestSQL = `INSERT INTO app_call (account_id, app_id, id, method, path, status, took, request_id, called_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`
	requestsSQL = `SELECT method, path, status, took, request_id, called_at FROM app_call
		WHERE account_id = $1 AND app_id = $2 ORDER BY id DESC LIMIT $3`
	oldestRequestSQL  = `SELECT id FROM app_call WHERE account_id = $1 AND app_id = $2 ORDER BY id DESC LIMIT 1 OFFSET $3`
	deleteRequestsSQL = `DELETE FROM app_call WHERE account_id = $1 AND app_id = $2 AND id <= $3`
)

// requestLog buffers the last requests of applications and stores them in the background:
// at most maxLoggedRequests per application and interval.
type requestLog struct {
	mu     sync.Mutex
	recent map[[2]string]*ring // by owner and application ID
	timer  *time.Timer
	closed bool
}

// ring keeps the last requests of one application.
type ring struct {
	list [maxLoggedRequests]RequestLogEntry
	n    int
}

// LogRequest adds a request of an application. It does not wait for the database.
func (s *Store) LogRequest(owner, app string, c RequestLogEntry) {
	l := &s.requestLog
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	if l.recent == nil {
		l.recent = map[[2]string]*ring{}
	}
	r := l.recent[[2]string{owner, app}]
	if r == nil {
		r = &ring{}
		l.recent[[2]string{owner, app}] = r
	}
	r.list[r.n%maxLoggedRequests] = c
	r.n++
	if l.timer == nil {
		s.background.Add(1)
		l.timer = time.AfterFunc(requestLogInterval, func() {
			defer s.background.Done()
			s.writeRequestLog()
		})
	}
}

// writeRequestLog stores the requests in memory. Errors are ignored: the log is best
// effort.
func (s *Store) writeRequestLog() {
	s.requestLog.mu.Lock()
	recent := s.requestLog.recent
	s.requestLog.recent, s.requestLog.timer = nil, nil
	s.requestLog.mu.Unlock()
	for of, r := range recent {
		s.db.Write(context.Background(), func(t db.Tx) error {
			rows := make([][]any, 0, maxLoggedRequests)
			last := ""
			for i := max(0, r.n-maxLoggedRequests); i < r.n; i++ {
				c := r.list[i%maxLoggedRequests]
				last, _ = id.Next(id.Request, c.At, last)
				rows = append(rows, []any{last, c.Method, c.Path, c.Status, int64(c.Took), c.RequestID, toMillis(c.At)})
			}
			if err := t.ExecEach(insertRequestSQL, []any{of[0], of[1]}, rows); err != nil {
				return err
			}
			var old string
			if err := queryOne(t.Query, oldestRequestSQL, []any{of[0], of[1], maxLoggedRequests}, &old); err != nil {
				return replaceNotFound(err, nil)
			}
			_, err := t.Exec(deleteRequestsSQL, of[0], of[1], old)
			return err
		})
	}
}

// closeRequestLog stores the remaining requests.
func (s *Store) closeRequestLog() {
	s.requestLog.mu.Lock()
	s.requestLog.closed = true
	if s.requestLog.timer != nil && s.requestLog.timer.Stop() {
		s.background.Done()
	}
	s.requestLog.mu.Unlock()
	s.writeRequestLog()
}

// RecentRequests lists the last requests of an application of the owner, newest first.
func (s *Store) RecentRequests(ctx context.Context, owner, app string) (_ []RequestLogEntry, err error) {
	defer wrap(&err, "read recent requests")
	s.writeRequestLog() // include the latest requests
	var list []RequestLogEntry
	err = s.db.Query(ctx, requestsSQL, func(r db.Row) error {
		var c RequestLogEntry
		var took, called int64
		err := r.Scan(&c.Method, &c.Path, &c.Status, &took, &c.RequestID, &called)
		c.Took, c.At = time.Duration(took), fromMillis(called)
		list = append(list, c)
		return err
	}, owner, app, maxLoggedRequests)
	return list, err
}
