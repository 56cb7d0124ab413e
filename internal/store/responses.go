package store

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
)

const (
	responseColumns = `id, version, serial, submitted_at, answers, metadata`
	markedColumns   = responseColumns + `, status, starred, tags, note_count`
	responseSQL     = `SELECT ` + markedColumns + ` FROM response WHERE account_id = $1 AND form_id = $2 AND id = $3
		AND EXISTS (SELECT 1 FROM form WHERE account_id = $1 AND id = $2)`
	responsesSQL = `SELECT ` + markedColumns + ` FROM response
		WHERE account_id = $1 AND form_id = $2 AND id > $3 ORDER BY id LIMIT $4`
	countResponsesSQL  = `SELECT response_count, response_serial FROM form WHERE account_id = $1 AND id = $2`
	newestResponsesSQL = `SELECT ` + markedColumns + ` FROM response
		WHERE account_id = $1 AND form_id = $2 AND id < $3 AND serial <= $4 ORDER BY id DESC LIMIT $5 OFFSET $6`
	changeResponseSQL = `UPDATE response SET answers = $4, metadata = $5 WHERE account_id = $1 AND form_id = $2 AND id = $3`
	deleteResponseSQL = `DELETE FROM response WHERE account_id = $1 AND form_id = $2 AND id = $3 RETURNING ` + markedColumns
	dropCountSQL      = `UPDATE form SET response_count = response_count - $3,
		stored_bytes = CASE WHEN stored_bytes > $4 THEN stored_bytes - $4 ELSE 0 END WHERE account_id = $1 AND id = $2`
)

// Within a form, IDs increase with serials, and the table is ordered by ID. An index on
// every 64th serial leads close to any other.
const (
	idAboveSerialSQL = `SELECT id FROM response WHERE account_id = $1 AND form_id = $2 AND serial > $3 AND serial % 64 = 0
		ORDER BY serial LIMIT 1`
	afterSerialSQL = `id > COALESCE((SELECT id FROM response WHERE account_id = $1 AND form_id = $2 AND serial <= $3 AND serial % 64 = 0
		ORDER BY serial DESC LIMIT 1), '') AND serial > $3`
)

// lastID is greater than every ID.
const lastID = "~"

// idAboveSerial returns an ID greater than those of all responses up to a serial, and
// of few others.
func idAboveSerial(q querier, owner, formID string, serial int64) (string, error) {
	id := lastID
	err := queryOne(q, idAboveSerialSQL, []any{owner, formID, serial}, &id)
	return id, replaceNotFound(err, nil)
}

// responseScanner reads the responses of a page.
type responseScanner struct {
	texts     db.Texts
	response  form.Response
	submitted int64
	dest      []any
}

// newMarkedScanner reads markedColumns.
func newMarkedScanner(formID string) *responseScanner {
	s := newResponseScanner(formID)
	marks := &s.response.Marks
	s.dest = append(s.dest, s.texts.Into((*string)(&marks.Status)), &marks.Starred, s.texts.Into(&marks.Tags), &marks.Notes)
	return s
}

// newResponseScanner reads responseColumns, and other columns after them.
func newResponseScanner(formID string, more ...any) *responseScanner {
	s := &responseScanner{response: form.Response{FormID: formID}}
	r := &s.response
	s.dest = append([]any{s.texts.Into(&r.ID), &r.Version, &r.Serial, &s.submitted, s.texts.Into(&r.JSON), s.texts.Into(&r.Metadata)}, more...)
	return s
}

func (s *responseScanner) scan(r db.Row, into *form.Response) error {
	err := r.Scan(s.dest...)
	s.response.SubmittedAt = fromMillis(s.submitted)
	*into = s.response
	return err
}

// collectResponses runs a query for markedColumns.
func collectResponses(q querier, formID, sql string, args ...any) ([]form.Response, error) {
	var list []form.Response
	err := q(sql, gatherPage(&list, formID), args...)
	return list, err
}

// maxPageBytes limits the answers on one page, which is in memory as a whole. The 25
// responses of a page in the workspace always fit.
const maxPageBytes = 8 << 20

// ErrPageTooLarge reports that a page would exceed maxPageBytes.
var ErrPageTooLarge = errors.New("the responses on one page are too large")

// gatherPage is gatherInto with the limit of a page.
func gatherPage(list *[]form.Response, formID string) func(db.Row) error {
	gather, bytes := gatherInto(list, newMarkedScanner(formID)), 0
	return func(r db.Row) error {
		if err := gather(r); err != nil {
			return err
		}
		if bytes += len((*list)[len(*list)-1].JSON); bytes > maxPageBytes {
			return ErrPageTooLarge
		}
		return nil
	}
}

func gatherInto(list *[]form.Response, scanner *responseScanner) func(db.Row) error {
	return func(r db.Row) error {
		*list = append(*list, form.Response{})
		return scanner.scan(r, &(*list)[len(*list)-1])
	}
}

// Response returns one response to a form of the owner.
func (s *Store) Response(ctx context.Context, owner, formID, responseID string) (_ form.Response, err error) {
	defer wrap(&err, "read response")
	return readResponse(s.query(attributed(ctx, owner)), owner, formID, responseID)
}

func readResponse(q querier, owner, formID, responseID string) (form.Response, error) {
	if !areIDs(formID, responseID) {
		return form.Response{}, fault.NotFound
	}
	list, err := collectResponses(q, formID, responseSQL, owner, formID, responseID)
	if err != nil || len(list) == 0 {
		return form.Response{}, errorWhen(err, len(list) == 0, fault.NotFound)
	}
	return list[0], nil
}

func areIDs(formID, responseID string) bool {
	_, okForm := id.Parse(id.Form, formID)
	_, ok := id.Parse(id.Response, responseID)
	return ok && okForm
}

// responseIDs removes texts that cannot be IDs of responses. PostgreSQL fails on text
// with invalid encoding.
func responseIDs(formID string, ids []string) ([]string, error) {
	if _, ok := id.Parse(id.Form, formID); !ok {
		return nil, fault.NotFound
	}
	return slices.DeleteFunc(slices.Clone(ids), func(responseID string) bool { return !areIDs(formID, responseID) }), nil
}

// ResponsesAfter returns the responses after an ID in the order in which they were
// stored; empty: from the first. It costs the same at any depth.
func (s *Store) ResponsesAfter(ctx context.Context, owner, formID, responseID string, limit int64) (_ []form.Response, err error) {
	defer wrap(&err, "read responses")
	return collectResponses(s.query(ctx), formID, responsesSQL, owner, formID, responseID, limit)
}

// ResponseAt returns the ID of the last response up to a serial; empty: there is none.
func (s *Store) ResponseAt(ctx context.Context, owner, formID string, serial int64) (responseID string, err error) {
	defer wrap(&err, "find response by serial")
	if _, ok := id.Parse(id.Form, formID); !ok {
		return "", fault.NotFound
	}
	err = s.db.Read(ctx, func(t db.Tx) error {
		responseID = ""
		list, err := responsesDownFrom(t.Query, owner, formID, serial, Page{Limit: 1})
		for _, r := range list {
			responseID = r.ID
		}
		return err
	})
	return responseID, err
}

// responsesDownFrom reads responses in descending order from a serial.
func responsesDownFrom(q querier, owner, formID string, serial int64, page Page) ([]form.Response, error) {
	below, err := idAboveSerial(q, owner, formID, serial)
	if err != nil {
		return nil, err
	}
	return collectResponses(q, formID, newestResponsesSQL, owner, formID, below, serial, page.Limit, page.Offset)
}

// Responses returns a page of a form's responses, newest first, and their total number.
// Without a filter every page costs about the same. With ErrPageTooLarge, it returns
// the first responses of the page.
func (s *Store) Responses(ctx context.Context, owner, formID string, filter ResponseFilter, page Page) (_ []form.Response, _ int64, err error) {
	defer wrap(&err, "list responses")
	var list []form.Response
	var total int64
	if _, ok := id.Parse(id.Form, formID); !ok {
		return nil, 0, fault.NotFound
	}
	byTime := filter.Empty() && filter.By.Key == ""
	if byTime && !filter.Oldest && page.Offset < rankBlock {
		// Such a small offset needs no rank lookup.
		var top int64
		var found bool
		err := s.db.QueryBatch(ctx, scanInto(&found, countResponsesSQL, []any{owner, formID}, &total, &top),
			db.Statement{SQL: newestResponsesSQL, Args: []any{owner, formID, lastID, int64(math.MaxInt64), page.Limit, page.Offset}, Scan: gatherPage(&list, formID)})
		return list, total, errorWhen(err, !found, fault.NotFound)
	}
	err = s.db.Read(ctx, func(t db.Tx) error {
		list = nil
		var top int64
		if err := queryOne(t.Query, countResponsesSQL, []any{owner, formID}, &total, &top); err != nil {
			return err
		}
		if filter.By.Key != "" && filter.Empty() && total > MaxSorted {
			return ErrTooManyToSort
		}
		if !byTime {
			var err error
			list, total, err = s.filtered(t, owner, formID, filter, page)
			return err
		}
		if page.Offset >= total {
			return nil
		}
		if filter.Oldest {
			// Read the page from the other end, and reverse it.
			page.Limit = min(page.Limit, total-page.Offset)
			page.Offset = total - page.Offset - page.Limit
			defer func() { slices.Reverse(list) }()
		}
		serial, skip, found, err := rankSeek(t, owner, formID, top, page.Offset)
		if err != nil || !found {
			return err
		}
		list, err = responsesDownFrom(t.Query, owner, formID, serial, Page{Limit: page.Limit, Offset: skip})
		return err
	})
	return list, total, err
}

const (
	newerSQL = `SELECT id FROM response WHERE account_id = $1 AND form_id = $2 AND id > $3 ORDER BY id LIMIT 1`
	olderSQL = `SELECT id FROM response WHERE account_id = $1 AND form_id = $2 AND id < $3 ORDER BY id DESC LIMIT 1`
)

// Neighbors returns the IDs of the next and the previous response; empty if there is
// none.
func (s *Store) Neighbors(ctx context.Context, owner string, r form.Response) (newer, older string, err error) {
	defer wrap(&err, "find neighbors of response")
	at := []any{owner, r.FormID, r.ID}
	if err := replaceNotFound(queryOne(s.query(ctx), newerSQL, at, &newer), nil); err != nil {
		return "", "", err
	}
	return newer, older, replaceNotFound(queryOne(s.query(ctx), olderSQL, at, &older), nil)
}

// DeleteResponse deletes one response.
func (s *Store) DeleteResponse(ctx context.Context, owner, formID, responseID string, now time.Time) (err error) {
	defer wrap(&err, "delete response")
	if !areIDs(formID, responseID) {
		return fault.NotFound
	}
	n, err := s.deleteResponses(ctx, owner, formID, deletion{ids: []string{responseID}, now: now, audit: newAuditCount(AuditResponsesDeleted)})
	return checkAffected(n, err)
}

// DeleteResponses deletes the responses that the filter selects, in batches, and
// returns their number. Responses that arrive while it runs stay.
func (s *Store) DeleteResponses(ctx context.Context, owner, formID string, filter ResponseFilter, now time.Time) (_ int64, err error) {
	defer wrap(&err, "delete responses")
	var all int64
	scan := Scan{Rows: deleteBatch, Budget: time.Second, Stop: true}
	audit := newAuditCount(AuditResponsesDeleted)
	for {
		// Each response is read once: no batch starts from the beginning.
		part, err := s.ScanResponses(ctx, owner, formID, filter, scan)
		if err != nil {
			return all, err
		}
		ids := make([]string, len(part.Responses))
		for i, r := range part.Responses {
			ids[i] = r.ID
		}
		if len(ids) > 0 {
			n, err := s.deleteResponses(ctx, owner, formID, deletion{ids: ids, now: now, audit: audit})
			if all += n; err != nil {
				return all, err
			}
		}
		if scan.From = part.Next; part.Next == "" {
			return all, s.confirm(ctx)
		}
	}
}

// One transaction deletes or restores so many responses, or fewer if they are large, so that no
// submission waits long for it.
const (
	deleteBatch      = 200
	deleteBatchBytes = 1 << 20 // of answers; the last response of a batch may exceed it
)

// deletion says which responses are deleted.
type deletion struct {
	ids   []string
	now   time.Time
	audit *auditCount
	keep  func(db.Tx, form.Response) error // called with each of them first; nil: they are deleted for good
	check func(db.Tx) error                // says why nothing may be deleted any more, or nil
}

// deleteResponses deletes responses and returns their number. It may take several transactions.
func (s *Store) deleteResponses(ctx context.Context, owner, formID string, d deletion) (all int64, err error) {
	if d.ids, err = responseIDs(formID, d.ids); err != nil {
		return 0, err
	}
	for {
		n, done, err := s.deleteSome(ctx, owner, formID, d)
		if all += n; err != nil {
			return all, err
		}
		if d.ids = d.ids[done:]; len(d.ids) == 0 {
			return all, nil
		}
	}
}

// deleteSome deletes the first responses, in one transaction. done is how many IDs it has read.
func (s *Store) deleteSome(ctx context.Context, owner, formID string, d deletion) (n int64, done int, err error) {
	keep, now := d.keep, d.now
	var hadFiles bool
	err = s.write(ctx, responsesOf(owner), func(t db.Tx) error {
		n, done = 0, 0
		// Lock the form's row first, as everywhere, so that transactions cannot
		// deadlock.
		if err := checkAffected(t.Exec(dropCountSQL, owner, formID, 0, 0)); err != nil {
			return err
		}
		if d.check != nil {
			if err := d.check(t); err != nil {
				return err
			}
		}
		var removed []form.Response
		for bytes := 0; done < min(len(d.ids), deleteBatch) && bytes < deleteBatchBytes; done++ {
			list, err := collectResponses(t.Query, formID, deleteResponseSQL, owner, formID, d.ids[done])
			if err != nil {
				return err
			}
			for _, r := range list {
				bytes += len(r.JSON)
			}
			removed = append(removed, list...)
		}
		for _, r := range removed {
			if err := rankMiss(t, owner, formID, r.Serial); err != nil {
				return err
			}
			if keep == nil {
				continue
			}
			if err := keep(t, r); err != nil {
				return err
			}
		}
		n = int64(len(removed))
		size, err := storedBytes(removed...)
		if err != nil {
			return err
		}
		noteSize, err := dropMarks(t, owner, formID, removed, keep == nil)
		if err != nil {
			return err
		}
		size += noteSize
		if _, err := t.Exec(dropCountSQL, owner, formID, n, size); err != nil {
			return err
		}
		if keep == nil {
			if err := dropFilesOf(t, owner, now, removed); err != nil {
				return err
			}
		}
		if err := addEvents(t, owner, formID, now, responseEvents(ResponseDeleted, removed)...); err != nil {
			return err
		}
		if err := s.subtract(t, owner, formID, removed, nil); err != nil {
			return err
		}
		hadFiles = keep == nil && slices.ContainsFunc(removed, hasFiles)
		if err := d.audit.record(ctx, t, owner, formID, n); err != nil {
			return err
		}
		return s.updateOptionCounts(t, owner, formID, optionChange{removed: removed, enforceLimits: true})
	})
	if err == nil {
		d.audit.total += n
	}
	if err == nil && hadFiles {
		s.sweepNow(ctx, owner)
	}
	if err != nil {
		n = 0
	}
	return n, done, err
}
