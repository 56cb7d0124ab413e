package live

import (
	"context"
	"errors"
	"sort"
	"sync"
	"time"

	"formulary/internal/fault"
	"formulary/internal/store"
)

const (
	// Pages that a hub reads from the feed.
	hubPageLimit = 100
	hubPageBytes = 256 << 10
	// Responses that a hub keeps for its readers.
	recentLimit = 256
	recentBytes = 1 << 20

	retryInterval = 500 * time.Millisecond // after an error of the database
)

// event is an encoded response.
type event struct {
	cursor string
	text   []byte
}

// hub reads the feed of a form for all readers of this node.
type hub struct {
	service *Service
	key     hubKey
	readers int // guarded by Service.mu
	stop    context.CancelFunc

	mu      sync.Mutex
	start   string // cursor before the first of recent
	end     string // cursor up to which the feed was read
	recent  []event
	bytes   int
	changed chan struct{} // closed and replaced when recent grows, closed for good with err
	err     error         // why the hub ended
}

// join returns the hub of a form, which starts at the end of the feed if it is new.
func (s *Service) join(key hubKey, end string) *hub {
	s.mu.Lock()
	h := s.hubs[key]
	if h != nil {
		h.readers++
		s.mu.Unlock()
		return h
	}
	ctx, stop := context.WithCancel(store.ForAccount(context.Background(), key.owner))
	h = &hub{service: s, key: key, readers: 1, stop: stop, start: end, end: end, changed: make(chan struct{})}
	s.hubs[key] = h
	s.mu.Unlock()
	w := s.addWatch(key.owner)
	go func() {
		defer s.removeWatch(w)
		h.run(ctx, w)
	}()
	return h
}

// leave ends the hub with its last reader.
func (h *hub) leave() {
	s := h.service
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.readers--; h.readers == 0 {
		h.stop()
		h.remove()
	}
}

// remove makes the next reader start another hub. It needs Service.mu.
func (h *hub) remove() {
	if h.service.hubs[h.key] == h {
		delete(h.service.hubs, h.key)
	}
}

func (h *hub) run(ctx context.Context, w *watch) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.service.done:
			return
		case <-w.wake:
		}
		err := h.read(ctx)
		switch {
		case err == nil || ctx.Err() != nil:
		case errors.Is(err, fault.NotFound):
			h.service.mu.Lock()
			h.remove()
			h.service.mu.Unlock()
			h.fail(err)
			return
		default:
			h.service.Log.Warn("could not read feed for live streams", "form", h.key.formID, "error", err)
			time.AfterFunc(retryInterval, w.notify)
		}
	}
}

// read reads the feed up to its end.
func (h *hub) read(ctx context.Context) error {
	for {
		page, err := h.service.Store.Feed(ctx, h.key.owner, h.key.formID, store.ResponseFilter{},
			store.FeedPage{After: h.end, Limit: hubPageLimit, Bytes: hubPageBytes})
		if err != nil {
			return err
		}
		if events := h.service.encode(page); len(events) > 0 {
			h.add(events)
		}
		if !page.More {
			return nil
		}
	}
}

func (s *Service) encode(page store.FeedResult) []event {
	events := make([]event, len(page.Responses))
	for i, r := range page.Responses {
		cursor := page.Cursor(r.ID)
		events[i] = event{cursor, s.Encode(cursor, r)}
	}
	return events
}

// add makes events available to readers, and forgets the oldest.
func (h *hub) add(events []event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range events {
		h.recent, h.bytes = append(h.recent, e), h.bytes+len(e.text)
	}
	drop := 0
	for len(h.recent)-drop > recentLimit || h.bytes > recentBytes {
		h.start, h.bytes = h.recent[drop].cursor, h.bytes-len(h.recent[drop].text)
		drop++
	}
	if drop > 0 {
		h.recent = append([]event(nil), h.recent[drop:]...)
	}
	h.end = events[len(events)-1].cursor
	close(h.changed)
	h.changed = make(chan struct{})
}

// fail ends the streams of all readers.
func (h *hub) fail(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.err = err
	close(h.changed)
}

// after appends the events after a cursor to list, up to batchBytes. behind says that the
// hub does not have all of them: it has those after start.
func (h *hub) after(cursor string, list []event) (_ []event, start string, behind bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		return list, h.start, false, h.err
	}
	if cursor < h.start {
		return list, h.start, true, nil
	}
	first := sort.Search(len(h.recent), func(i int) bool { return h.recent[i].cursor > cursor })
	bytes := 0
	for _, e := range h.recent[first:] {
		list, bytes = append(list, e), bytes+len(e.text)
		if bytes >= batchBytes {
			break
		}
	}
	return list, h.start, false, nil
}

func (h *hub) changes() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.changed
}
