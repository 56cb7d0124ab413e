package live

import (
	"context"

	"formulary/internal/store"
)

// A reader holds this much at a time, or one response if that is larger.
const (
	batchLimit = 64
	batchBytes = 64 << 10
)

// Responses is a stream of the responses to a form, in the order of the feed. It is for
// one goroutine.
type Responses struct {
	service *Service
	owner   string
	formID  string
	cursor  string
	hub     *hub
	release func()
	batch   []event
}

// Responses starts a stream after a cursor; empty: with the next response. holder is who
// reads, such as the ID of a grant.
func (s *Service) Responses(ctx context.Context, owner, holder, formID, cursor string) (*Responses, error) {
	release, err := s.acquire(owner, holder)
	if err != nil {
		return nil, err
	}
	end, err := s.Store.FeedEnd(ctx, owner, formID)
	if err != nil {
		release()
		return nil, err
	}
	if cursor == "" {
		cursor = end
	}
	return &Responses{service: s, owner: owner, formID: formID, cursor: cursor, release: release, hub: s.join(hubKey{owner, formID}, end)}, nil
}

// Cursor is the place in the feed up to which responses were returned.
func (r *Responses) Cursor() string { return r.cursor }

// Ready returns a channel that is closed when there may be more. Call it before Next.
func (r *Responses) Ready() <-chan struct{} { return r.hub.changes() }

// Next returns the next encoded responses, or none if there are no others yet. They are
// valid until the next call.
func (r *Responses) Next(ctx context.Context) ([][]byte, error) {
	events, start, behind, err := r.hub.after(r.cursor, r.batch[:0])
	if err != nil {
		return nil, err
	}
	clear(events[len(events):cap(events)])
	if r.batch = events; behind {
		if r.batch, err = r.catchUp(ctx, start); err != nil {
			return nil, err
		}
	}
	if len(r.batch) == 0 {
		return nil, nil
	}
	texts := make([][]byte, len(r.batch))
	for i, e := range r.batch {
		texts[i], r.cursor = e.text, e.cursor
	}
	return texts, nil
}

// catchUp reads a page from the database. start is where the hub starts.
func (r *Responses) catchUp(ctx context.Context, start string) ([]event, error) {
	for {
		page, err := r.service.Store.Feed(store.ForAccount(ctx, r.owner), r.owner, r.formID, store.ResponseFilter{},
			store.FeedPage{After: r.cursor, Limit: batchLimit, Bytes: batchBytes})
		if err != nil {
			return nil, err
		}
		if len(page.Responses) > 0 {
			return r.service.encode(page), nil
		}
		// What the hub has read was stored before this page was: nothing is missing up to
		// start.
		var behind bool
		r.cursor = max(r.cursor, start)
		if r.batch, start, behind, err = r.hub.after(r.cursor, r.batch[:0]); err != nil || !behind {
			return r.batch, err
		}
	}
}

// Close ends the stream.
func (r *Responses) Close() {
	r.hub.leave()
	r.release()
}
