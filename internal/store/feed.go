package store

import (
	"bytes"
	"cmp"
	"context"
	"strconv"

	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
)

// The feed has the responses of a form in the order of their positions: that of their
// creation, which is their ID, or that of their last restoration. A reader may have passed
// the ID of a deleted response before it was restored.
const (
	feedColumns = `id, version, submitted_at, answers, metadata`
	feedSQL     = `SELECT ` + feedColumns + ` FROM response
		WHERE account_id = $1 AND form_id = $2 AND restored = '' AND id > $3 ORDER BY id LIMIT $4`
	// feedUnrestoredSQL is feedSQL for a feed without restored responses behind $3: testing
	// each row takes SQLite a tenth of the time. A response is restored behind its ID, so none
	// with an ID behind $3 was.
	feedUnrestoredSQL = `SELECT ` + feedColumns + ` FROM response
		WHERE account_id = $1 AND form_id = $2 AND id > $3 ORDER BY id LIMIT $4`
	// The index on restored is partial: only with the second condition can it be used.
	feedRestoredSQL = `SELECT ` + feedColumns + `, restored FROM response
		WHERE account_id = $1 AND form_id = $2 AND restored > $3 AND restored <> '' ORDER BY restored LIMIT $4`
)

// feedBytes bounds one page of the feed: with large responses it has fewer than its limit.
const feedBytes = 4 << 20

// FeedPage is a part of the feed.
type FeedPage struct {
	After string // as in FeedEnd; empty: from the first response on
	Limit int64
	Bytes int // a page ends after the response that exceeds it; 0: feedBytes
}

// FeedEnd is where a page of the feed ends.
type FeedEnd struct {
	Next string // After of the next page, spelled as the ID of a response
	More bool   // others follow
}

// FeedResult is a page of the feed.
type FeedResult struct {
	Responses []form.Response
	FeedEnd

	restored map[string]string // positions of those that were restored, by ID
}

// Cursor is the After of a page that starts behind one of the responses: its position, spelled
// as the ID of a response.
func (f *FeedResult) Cursor(responseID string) string {
	if position, ok := f.restored[responseID]; ok {
		return id.Response + position
	}
	return responseID
}

// Feed returns the page of ReadFeed as a list.
func (s *Store) Feed(ctx context.Context, owner, formID string, filter ResponseFilter, page FeedPage) (FeedResult, error) {
	out := FeedResult{restored: map[string]string{}}
	end, err := s.ReadFeed(ctx, owner, formID, filter, page, func(stored *form.StoredResponse) {
		r := stored.Response()
		out.Responses = append(out.Responses, r)
		if len(stored.Restored) > 0 {
			out.restored[r.ID] = string(stored.Restored)
		}
	})
	if err != nil {
		return FeedResult{}, err
	}
	out.FeedEnd = end
	return out, nil
}

// ReadFeed calls visit for the responses of one page. Page by page, the feed has each response to
// a form once, in the order in which they were stored or restored. It costs the same at any depth.
// visit must not keep the response, nor use the database.
func (s *Store) ReadFeed(ctx context.Context, owner, formID string, filter ResponseFilter, page FeedPage, visit func(*form.StoredResponse)) (_ FeedEnd, err error) {
	defer wrap(&err, "read feed")
	if _, ok := id.Parse(id.Form, formID); !ok {
		return FeedEnd{}, fault.NotFound
	}
	var total, top int64
	var found bool
	// One more than the limit shows whether others follow.
	stored := db.Statement{SQL: feedSQL, Args: []any{owner, formID, page.After, page.Limit + 1}}
	restored := db.Statement{SQL: feedRestoredSQL, Args: []any{owner, formID, feedPosition(page.After), page.Limit + 1}}
	merge := feedMerge{page: page, visit: visit, response: form.StoredResponse{FormID: formID}}
	stored.Cheaper = func() string {
		if len(merge.restored.list) == 0 {
			return feedUnrestoredSQL
		}
		return feedSQL
	}
	if !filter.Empty() {
		stored.Cheaper = nil
		stored.SQL, stored.Args = filter.afterIn(owner, formID, s.db, feedOrder{columns: feedColumns, condition: ` AND restored = ''`, key: `id`}, page.After, page.Limit+1)
		restored.SQL, restored.Args = filter.afterIn(owner, formID, s.db, feedOrder{columns: feedColumns + `, restored`, condition: ` AND restored <> ''`, key: `restored`}, feedPosition(page.After), page.Limit+1)
	}
	restored.Scan, stored.Scan = merge.scanRestored(), merge.scanStored()
	if err := s.db.QueryBatch(ctx, scanInto(&found, countResponsesSQL, []any{owner, formID}, &total, &top), restored, stored); err != nil || !found {
		return FeedEnd{}, errorWhen(err, !found, fault.NotFound)
	}
	merge.addRestored(nil)
	if merge.last != nil {
		page.After = id.Response + string(merge.last)
	}
	return FeedEnd{Next: page.After, More: merge.more}, nil
}

// feedPosition is the position in the ID of a response.
func feedPosition[Text string | []byte](responseID Text) Text {
	return responseID[min(len(id.Response), len(responseID)):]
}

// feedMerge visits the responses of a page in the order of their positions. Restored ones are read
// before the others and kept until it is their turn.
type feedMerge struct {
	page     FeedPage
	visit    func(*form.StoredResponse)
	response form.StoredResponse // as read from the current row
	restored ordered[form.StoredResponse]
	visited  int64
	bytes    int
	last     []byte // position of the last response visited
	more     bool   // the page has ended, and others follow
}

// scanner returns a function that reads feedColumns, and other columns after them, into response.
func (m *feedMerge) scanner(more ...any) func(db.Row) error {
	r := &m.response
	var submitted int64
	dest := append([]any{(*db.RawText)(&r.ID), &r.Version, &submitted, (*db.RawText)(&r.JSON), (*db.RawText)(&r.Metadata)}, more...)
	return func(row db.Row) error {
		err := row.Scan(dest...)
		r.SubmittedAt = fromMillis(submitted)
		return err
	}
}

func (m *feedMerge) isFull(visited int64, bytes int) bool {
	return visited == m.page.Limit || bytes >= cmp.Or(m.page.Bytes, feedBytes)
}

// scanRestored keeps the responses that were restored.
func (m *feedMerge) scanRestored() func(db.Row) error {
	scan, bytes := m.scanner((*db.RawText)(&m.response.Restored)), 0
	return func(row db.Row) error {
		if m.isFull(int64(len(m.restored.list)), bytes) {
			m.restored.more = true
			return db.ErrStop
		}
		err := scan(row)
		bytes += len(m.response.JSON)
		m.restored.list = append(m.restored.list, m.response.Clone())
		return err
	}
}

// scanStored visits the responses that were not restored, and those in between that were.
func (m *feedMerge) scanStored() func(db.Row) error {
	scan := m.scanner()
	return func(row db.Row) error {
		m.response.Restored = nil
		if err := scan(row); err != nil {
			return err
		}
		position := feedPosition(m.response.ID)
		if err := m.addRestored(position); err != nil {
			return err
		}
		return m.add(&m.response, position)
	}
}

// addRestored visits the restored responses before a position; nil: all that are left.
func (m *feedMerge) addRestored(before []byte) error {
	for r := &m.restored; len(r.list) > 0 && (before == nil || bytes.Compare(r.list[0].Restored, before) < 0); r.list = r.list[1:] {
		if err := m.add(&r.list[0], r.list[0].Restored); err != nil {
			return err
		}
	}
	if m.restored.more && len(m.restored.list) == 0 {
		m.more = true // the next of them may come before what follows here
		return db.ErrStop
	}
	return nil
}

// add visits a response, unless the page is full.
func (m *feedMerge) add(r *form.StoredResponse, position []byte) error {
	if m.more = m.more || m.isFull(m.visited, m.bytes); m.more {
		return db.ErrStop
	}
	m.visit(r)
	m.visited++
	m.bytes += len(r.JSON)
	m.last = append(m.last[:0], position...)
	return nil
}

// feedOrder is one of the two orders that make the feed.
type feedOrder struct {
	columns, condition, key string // SQL
}

// afterIn returns SQL for the responses of the filter that follow a key in an order.
func (f ResponseFilter) afterIn(owner, formID string, db db.DB, order feedOrder, key string, limit int64) (string, []any) {
	where, args := f.where(owner, formID, db)
	n := len(args)
	return `SELECT ` + order.columns + where + order.condition + ` AND ` + order.key + ` > $` + strconv.Itoa(n+1) +
		` ORDER BY ` + order.key + ` LIMIT $` + strconv.Itoa(n+2), append(args, key, limit)
}
