package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
)

// EventKind says what happened to a form or to one of its responses, as the API spells it.
type EventKind string

// The kinds of events.
const (
	ResponseCreated  EventKind = "response.created"
	ResponseUpdated  EventKind = "response.updated"
	ResponseDeleted  EventKind = "response.deleted"
	ResponseRestored EventKind = "response.restored"
	FormPublished    EventKind = "form.published"
	FormOpened       EventKind = "form.opened"
	FormClosed       EventKind = "form.closed"
)

// EventKinds lists all kinds.
var EventKinds = []EventKind{ResponseCreated, ResponseUpdated, ResponseDeleted, ResponseRestored, FormPublished, FormOpened, FormClosed}

// An event has a position: the part of its ID after the prefix. Events of a form draw their
// positions from form.response_tick while the form's row is locked, so positions sort in
// commit order, and a reader that remembers the last one misses nothing. The ID of a response
// is the position of its creation, so new responses need no row in form_event.

const (
	drawPositionsSQL = `UPDATE form SET response_tick = CASE WHEN response_tick < $3 THEN $3 ELSE response_tick END + $4
		WHERE account_id = $1 AND id = $2 RETURNING response_tick`
	hasWebhooksSQL = `SELECT 1 FROM webhook WHERE account_id = $1 AND form_id = $2 LIMIT 1`
	insertEventSQL = `INSERT INTO form_event (account_id, form_id, position, kind, response_id, version) VALUES ($1, $2, $3, $4, $5, $6)`
)

// eventBytes is what a row of form_event counts for in the account's storage.
const eventBytes = 150

// newEvent is an event that has no position yet.
type newEvent struct {
	kind       EventKind
	responseID string
	version    int64
}

// responseEvents are events of one kind, one for each response.
func responseEvents(kind EventKind, list []form.Response) []newEvent {
	events := make([]newEvent, len(list))
	for i, r := range list {
		events[i] = newEvent{kind: kind, responseID: r.ID, version: r.Version}
	}
	return events
}

// drawPositions returns the next n positions of a form. It locks the form's row.
func drawPositions(t db.Tx, owner, formID string, n int, now time.Time) ([]string, error) {
	var last int64
	if err := queryOne(t.Query, drawPositionsSQL, []any{owner, formID, int64(id.NewTick(now)), n}, &last); err != nil {
		return nil, err
	}
	positions := make([]string, n)
	for i := range positions {
		positions[i], _ = id.Tick(last - int64(n-1-i)).ID("")
	}
	return positions, nil
}

// addEvents stores what happened to a form whose row the transaction has locked. Without
// webhooks nobody would read it, and nothing is stored.
func addEvents(t db.Tx, owner, formID string, now time.Time, events ...newEvent) error {
	if some, err := hasWebhooks(t.Query, owner, formID); err != nil || !some || len(events) == 0 {
		return err
	}
	positions, err := drawPositions(t, owner, formID, len(events), now)
	if err != nil {
		return err
	}
	return insertEvents(t, owner, formID, positions, events)
}

// insertEvents stores events at their positions.
func insertEvents(t db.Tx, owner, formID string, positions []string, events []newEvent) error {
	rows := make([][]any, len(events))
	for i, e := range events {
		rows[i] = []any{positions[i], string(e.kind), e.responseID, e.version}
	}
	if err := t.ExecEach(insertEventSQL, []any{owner, formID}, rows); err != nil {
		return err
	}
	_, err := t.Exec(addStoredSQL, owner, formID, eventBytes*len(events))
	return err
}

func hasWebhooks(q querier, owner, formID string) (bool, error) {
	var one int64
	err := queryOne(q, hasWebhooksSQL, []any{owner, formID}, &one)
	return one == 1, replaceNotFound(err, nil)
}

// eventGrowth is what the next n events of a form add to the account's storage. Nobody must
// be kept from closing a form or deleting a response: what opens or restores one asks for both
// events.
func (s *Store) eventGrowth(ctx context.Context, owner, formID string, n int) (int64, error) {
	if _, ok := id.Parse(id.Form, formID); !ok {
		return 0, fault.NotFound
	}
	some, err := hasWebhooks(s.query(ctx), owner, formID)
	if err != nil || !some {
		return 0, err
	}
	return eventBytes * int64(n), nil
}

const eventsAfterSQL = `SELECT position, kind, response_id, version FROM form_event
	WHERE account_id = $1 AND form_id = $2 AND position > $3 AND position <= $4 ORDER BY position LIMIT $5`

// eventResponsesSQL reads the responses whose creation is between two positions.
const eventResponsesSQL = `SELECT ` + responseColumns + ` FROM response
	WHERE account_id = $1 AND form_id = $2 AND id > $3 AND id <= $4 ORDER BY id LIMIT $5`

// Event is something that happened to a form.
type Event struct {
	Position   string
	Kind       EventKind
	ResponseID string         // empty for events of the form
	Version    int64          // of the form, or that the response answers
	Response   *form.Response // of ResponseCreated, as it was when the event was read
}

// At is when it happened.
func (e Event) At() time.Time {
	u, _ := id.Parse("", e.Position)
	return u.Time()
}

// eventPageBytes bounds the answers in one part: many readers have one in memory.
const eventPageBytes = 256 << 10

// EventRange is a part of a form's events.
type EventRange struct {
	After string // position of the last event before it; empty: from the first on
	Until string // position of its last event; empty: there is no end
	Limit int64
	Bytes int64 // of the answers, apart from the last; 0 or more than 256 KB: 256 KB
	Kinds []EventKind
}

// Events reads a part of a form's events, in the order in which they happened, and says
// whether others follow. There can be events of other kinds among them: a reader that passes
// them reads them only once. With large answers there are fewer than the limit.
func (s *Store) Events(ctx context.Context, owner, formID string, part EventRange) (list []Event, more bool, err error) {
	return s.events(ctx, owner, formID, part)
}

// events is Events. It runs further statements in the same snapshot.
func (s *Store) events(ctx context.Context, owner, formID string, part EventRange, statements ...db.Statement) (list []Event, more bool, err error) {
	defer wrap(&err, "read events")
	until := part.Until
	if until == "" {
		until = lastID
	}
	var created, others []Event
	var moreCreated, moreOthers bool
	bytes, maxBytes := int64(0), min(cmp.Or(part.Bytes, eventPageBytes), eventPageBytes)
	if slices.Contains(part.Kinds, ResponseCreated) {
		scanner := newResponseScanner(formID)
		statements = append(statements, db.Statement{SQL: eventResponsesSQL, Args: []any{owner, formID, id.Response + part.After, id.Response + until, part.Limit + 1}, Scan: func(r db.Row) error {
			if int64(len(created)) == part.Limit || bytes >= maxBytes {
				moreCreated = true
				return db.ErrStop
			}
			response := new(form.Response)
			err := scanner.scan(r, response)
			bytes += int64(len(response.JSON))
			created = append(created, Event{Position: response.ID[len(id.Response):], Kind: ResponseCreated, ResponseID: response.ID, Version: response.Version, Response: response})
			return err
		}})
	}
	if slices.ContainsFunc(part.Kinds, func(k EventKind) bool { return k != ResponseCreated }) {
		statements = append(statements, db.Statement{SQL: eventsAfterSQL, Args: []any{owner, formID, part.After, until, part.Limit + 1}, Scan: func(r db.Row) error {
			if int64(len(others)) == part.Limit {
				moreOthers = true
				return db.ErrStop
			}
			var e Event
			var kind string
			err := r.Scan(&e.Position, &kind, &e.ResponseID, &e.Version)
			e.Kind = EventKind(kind)
			others = append(others, e)
			return err
		}})
	}
	if err := s.db.QueryBatch(ctx, statements...); err != nil {
		return nil, false, err
	}
	list, more = mergeByPosition(ordered[Event]{created, moreCreated}, ordered[Event]{others, moreOthers}, part.Limit, func(e Event) string { return e.Position })
	return list, more, nil
}

// ordered is the beginning of a list that is sorted by position.
type ordered[T any] struct {
	list []T
	more bool // others follow
}

// mergeByPosition merges two lists up to a limit. more says whether others follow. Where one
// of the lists ends but has more, the result ends too.
func mergeByPosition[T any](a, b ordered[T], limit int64, position func(T) string) (list []T, more bool) {
	if len(b.list) == 0 && !b.more && int64(len(a.list)) <= limit {
		return a.list, a.more
	}
	for int64(len(list)) < limit {
		switch {
		case len(a.list) == 0 && (a.more || len(b.list) == 0), len(b.list) == 0 && b.more:
			return list, a.more || b.more || len(a.list) > 0 || len(b.list) > 0
		case len(b.list) == 0 || len(a.list) > 0 && position(a.list[0]) < position(b.list[0]):
			list, a.list = append(list, a.list[0]), a.list[1:]
		default:
			list, b.list = append(list, b.list[0]), b.list[1:]
		}
	}
	return list, a.more || b.more || len(a.list) > 0 || len(b.list) > 0
}
