package store

import (
	"context"
	"errors"
	"strconv"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
)

// There is no index on answers, so a filter reads one response after the other. In a form
// with a million of them that takes seconds. ScanResponses therefore works in parts: it
// stops after some time and says where to continue.

// Scan is a part of a search through the responses of a form.
type Scan struct {
	From   string        // continue behind this place; empty: from the start
	Rows   int64         // responses to return
	Budget time.Duration // stop after about this time, but not before firstChunk responses were read
	Stop   bool          // stop when there are enough responses; otherwise the others are counted
}

// Scanned is what a part of a search found.
type Scanned struct {
	Responses []form.Response
	Matches   int64   // how many responses matched in the part, including those returned
	Next      string  // where to continue; empty: this was the last part
	Done      float64 // share of the whole search that is done, from 0 to 1
}

// firstChunk is how many responses the first statement of a scan reads, few enough for large ones.
// The time that it takes decides how many the next one reads. No scan stops before it has read that
// many: on a busy machine too, a short list is found whole.
const (
	firstChunk = 128
	fastChunk  = 8 * time.Millisecond
	slowChunk  = 25 * time.Millisecond
)

const (
	markerSQL       = `SELECT id, serial FROM response WHERE account_id = $1 AND form_id = $2 AND serial > $3 AND serial % 64 = 0 ORDER BY serial LIMIT 1`
	serialBelowSQL  = `SELECT serial FROM response WHERE account_id = $1 AND form_id = $2 AND id < $3 ORDER BY id DESC LIMIT 1`
	serialAboveSQL  = `SELECT serial FROM response WHERE account_id = $1 AND form_id = $2 AND id > $3 ORDER BY id LIMIT 1`
	descendingRange = ` AND id < ? AND id >= ?`
	ascendingRange  = ` AND id > ? AND id <= ?`
)

// ScanResponses reads the responses that a filter selects, in the order of the filter by
// time, until the budget is used up: first those to return, then it only counts.
func (s *Store) ScanResponses(ctx context.Context, owner, formID string, filter ResponseFilter, scan Scan) (_ Scanned, err error) {
	defer wrap(&err, "scan responses")
	if _, ok := id.Parse(id.Form, formID); !ok {
		return Scanned{}, fault.NotFound
	}
	if _, err := s.Form(ctx, owner, formID); err != nil {
		return Scanned{}, err
	}
	w := scanner{store: s, ctx: ctx, owner: owner, formID: formID, oldest: filter.Oldest, chunk: firstChunk}
	if err := w.enter(filter, scan.From); err != nil {
		return Scanned{}, err
	}
	filter.Since, filter.Until = time.Time{}, time.Time{} // the ranges of the chunks replace them
	w.where, w.args = filter.where(owner, formID, s.db)
	deadline, from := time.Now().Add(scan.Budget), w.serial
	for !w.finished() {
		began := time.Now()
		if err := w.step(scan.Rows); err != nil {
			return Scanned{}, err
		}
		if scan.Stop && (w.full || int64(len(w.list)) >= scan.Rows) {
			break
		}
		now := time.Now()
		took := now.Sub(began)
		if w.adapt(took); distance(from, w.serial) >= firstChunk && now.Add(took).After(deadline) {
			break
		}
	}
	return w.result(), nil
}

// scanner walks through the responses of a form in chunks of serials.
type scanner struct {
	store         *Store
	ctx           context.Context
	owner, formID string
	oldest        bool
	where         string
	args          []any

	at, end     string // IDs: where the scan is, and where it ends
	serial      int64  // of the next response at at
	first, last int64  // serials: where the whole search starts and ends
	chunk       int64  // serials to read next
	list        []form.Response
	full        bool // there is no memory for more
	matches     int64
}

// enter finds the bounds of the search and where to continue it.
func (w *scanner) enter(filter ResponseFilter, from string) error {
	low, high := "", lastID
	if !filter.Since.IsZero() {
		low = id.First(id.Response, filter.Since)
	}
	if !filter.Until.IsZero() {
		high = id.First(id.Response, filter.Until)
	}
	start, startSQL, endSQL := high, serialBelowSQL, serialAboveSQL
	w.end = low
	if w.oldest {
		start, w.end, startSQL, endSQL = low, high, serialAboveSQL, serialBelowSQL
	}
	var err error
	if w.first, err = w.serialAt(startSQL, start); err == nil {
		w.last, err = w.serialAt(endSQL, w.end)
	}
	if err != nil {
		return err
	}
	w.at, w.serial = start, w.first
	if _, ok := id.Parse(id.Response, from); ok && w.isBefore(start, from) {
		w.at = from
		w.serial, err = w.serialAt(startSQL, from)
	}
	if w.serial == 0 {
		w.at = w.end // there is nothing left
	}
	return err
}

func (w *scanner) serialAt(sql, responseID string) (int64, error) {
	var serial int64
	err := queryOne(w.store.query(w.ctx), sql, []any{w.owner, w.formID, responseID}, &serial)
	return serial, replaceNotFound(err, nil)
}

// isBefore reports whether the scan passes a before b.
func (w *scanner) isBefore(a, b string) bool {
	if w.oldest {
		return a < b
	}
	return a > b
}

// distance is how many serials lie between two, in either direction.
func distance(a, b int64) int64 { return max(a-b, b-a) }

func (w *scanner) finished() bool { return !w.isBefore(w.at, w.end) }

// adapt sets the size of the next chunk, so that it takes neither long nor almost no time.
func (w *scanner) adapt(took time.Duration) {
	switch {
	case took < fastChunk:
		w.chunk *= 4
	case took > slowChunk:
		w.chunk = max(w.chunk/2, firstChunk/2)
	}
}

// border returns where the next chunk ends, and the serial that follows there. Few
// responses can be found by their serial, so a chunk can be larger than asked for.
func (w *scanner) border() (string, int64, error) {
	for size := w.chunk; ; size *= 2 {
		border, serial := w.end, w.last
		above := w.serial - size
		if w.oldest {
			above = w.serial + size
		}
		if above <= 0 {
			return w.end, w.last, nil
		}
		err := queryOne(w.store.query(w.ctx), markerSQL, []any{w.owner, w.formID, above}, &border, &serial)
		if err = replaceNotFound(err, nil); err != nil {
			return "", 0, err
		}
		if !w.isBefore(border, w.end) {
			return w.end, w.last, nil
		}
		if w.isBefore(w.at, border) {
			return border, serial, nil
		}
	}
}

// step reads one chunk: the responses that are still wanted, or only their number.
func (w *scanner) step(rows int64) error {
	border, serial, err := w.border()
	if err != nil {
		return err
	}
	between := descendingRange
	if w.oldest {
		between = ascendingRange
	}
	n := len(w.args)
	where := w.where + numbered(between, n+1)
	args := append(w.args[:n:n], w.at, border)
	wanted := rows - int64(len(w.list))
	if wanted <= 0 || w.full {
		var count int64
		if err := queryOne(w.store.query(w.ctx), `SELECT COUNT(*)`+where, args, &count); err != nil {
			return err
		}
		w.matches += count
		w.at, w.serial = border, serial
		return nil
	}
	order := ` ORDER BY id DESC LIMIT $`
	if w.oldest {
		order = ` ORDER BY id LIMIT $`
	}
	list, err := collectResponses(w.store.query(w.ctx), w.formID, `SELECT `+markedColumns+where+order+strconv.Itoa(n+3), append(args, wanted)...)
	tooLarge := errors.Is(err, ErrPageTooLarge)
	if err != nil && !tooLarge {
		return err
	}
	w.full = w.full || tooLarge // the others are only counted
	w.list, w.matches = append(w.list, list...), w.matches+int64(len(list))
	if w.at, w.serial = border, serial; tooLarge || int64(len(list)) == wanted {
		end := list[len(list)-1]
		w.at, w.serial = end.ID, end.Serial
	}
	return nil
}

func (w *scanner) result() Scanned {
	out := Scanned{Responses: w.list, Matches: w.matches, Done: 1}
	if w.finished() {
		return out
	}
	out.Next = w.at
	if whole := w.last - w.first; whole != 0 {
		out.Done = min(max(float64(w.serial-w.first)/float64(whole), 0), 1)
	}
	return out
}
