package store

import (
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
	feedSQL = `SELECT ` + responseColumns + ` FROM response
		WHERE account_id = $1 AND form_id = $2 AND restored = '' AND id > $3 ORDER BY id LIMIT $4`
	// The index on restored is partial: only with the second condition can it be used.
	feedRestoredSQL = `SELECT ` + responseColumns + `, restored FROM response
		WHERE account_id = $1 AND form_id = $2 AND restored > $3 AND restored <> '' ORDER BY restored LIMIT $4`
)

// feedBytes bounds one page of the feed: with large responses it has fewer than its limit.
const feedBytes = 4 << 20

// FeedPage is a part of the feed.
type FeedPage struct {
	After string // as in FeedResult; empty: from the first response on
	Limit int64
	Bytes int // a page ends after the response that exceeds it; 0: feedBytes
}

// FeedResult is a page of the feed.
type FeedResult struct {
	Responses []form.Response
	Next      string // After of the next page
	More      bool   // others follow

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

// Feed returns each response to a form once, in the order in which they were stored or
// restored. It costs the same at any depth.
func (s *Store) Feed(ctx context.Context, owner, formID string, filter ResponseFilter, page FeedPage) (_ FeedResult, err error) {
	defer wrap(&err, "read feed")
	if _, ok := id.Parse(id.Form, formID); !ok {
		return FeedResult{}, fault.NotFound
	}
	var total, top int64
	var found bool
	// One more than the limit shows whether others follow.
	stored := db.Statement{SQL: feedSQL, Args: []any{owner, formID, page.After, page.Limit + 1}}
	restored := db.Statement{SQL: feedRestoredSQL, Args: []any{owner, formID, feedPosition(page.After), page.Limit + 1}}
	if !filter.Empty() {
		stored.SQL, stored.Args = filter.afterIn(owner, formID, s.db, feedOrder{columns: responseColumns, condition: ` AND restored = ''`, key: `id`}, page.After, page.Limit+1)
		restored.SQL, restored.Args = filter.afterIn(owner, formID, s.db, feedOrder{columns: responseColumns + `, restored`, condition: ` AND restored <> ''`, key: `restored`}, feedPosition(page.After), page.Limit+1)
	}
	out := FeedResult{Next: page.After, restored: map[string]string{}}
	var byID, byRestoration ordered[form.Response]
	var position string
	stored.Scan = gatherFeed(&byID, page, newResponseScanner(formID).scan)
	restoredScanner := newResponseScanner(formID, &position)
	restored.Scan = gatherFeed(&byRestoration, page, func(r db.Row, into *form.Response) error {
		err := restoredScanner.scan(r, into)
		out.restored[into.ID] = position
		return err
	})
	if err := s.db.QueryBatch(ctx, scanInto(&found, countResponsesSQL, []any{owner, formID}, &total, &top), stored, restored); err != nil || !found {
		return FeedResult{}, errorWhen(err, !found, fault.NotFound)
	}
	out.Responses, out.More = mergeByPosition(byID, byRestoration, page.Limit, func(r form.Response) string { return out.Cursor(r.ID) })
	if n := len(out.Responses); n > 0 {
		out.Next = out.Cursor(out.Responses[n-1].ID)
	}
	return out, nil
}

// feedPosition is the position in the ID of a response.
func feedPosition(responseID string) string {
	return responseID[min(len(id.Response), len(responseID)):]
}

// gatherFeed collects the responses of a page.
func gatherFeed(into *ordered[form.Response], page FeedPage, scan func(db.Row, *form.Response) error) func(db.Row) error {
	bytes, maxBytes := 0, cmp.Or(page.Bytes, feedBytes)
	return func(r db.Row) error {
		if int64(len(into.list)) == page.Limit || bytes >= maxBytes {
			into.more = true
			return db.ErrStop
		}
		if into.list == nil {
			into.list = make([]form.Response, 0, min(page.Limit, 100))
		}
		into.list = append(into.list, form.Response{})
		response := &into.list[len(into.list)-1]
		err := scan(r, response)
		bytes += len(response.JSON)
		return err
	}
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
