package store

import (
	"context"

	"formulary/internal/db"
	"formulary/internal/form"
)

// Limits of the chunks that an export reads. The first chunk is small; the size of its
// responses decides how large the next ones are.
const (
	exportFirst = 100
	exportChunk = 2000
	exportBytes = 8 << 20
)

// StreamResponses calls fn for the responses of the filter, oldest first. It reads the
// next chunk while fn processes the current one, so memory does not grow with their
// number.
func (s *Store) StreamResponses(ctx context.Context, owner, formID string, filter ResponseFilter, fn func(form.Response) error) (err error) {
	defer wrap(&err, "stream responses")
	if _, err := s.Form(ctx, owner, formID); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// Two buffers: one is filled while the other is used.
	chunks, used := make(chan []form.Response, 1), make(chan []form.Response, 2)
	used <- make([]form.Response, 0, exportChunk)
	used <- make([]form.Response, 0, exportChunk)
	var failed error // set before chunks is closed
	go func() {
		defer close(chunks)
		limit := exportFirst
		for after := ""; ; {
			var list []form.Response
			select {
			case list = <-used:
				list = list[:0]
			case <-ctx.Done():
				failed = ctx.Err()
				return
			}
			sql, args := filter.after(owner, formID, s.db, after, int64(limit))
			scanner := newResponseScanner(formID)
			if filter.Marks {
				scanner = newMarkedScanner(formID)
			}
			full, bytes, err := s.gatherSome(ctx, gatherInto(&list, scanner), &list, sql, args)
			if err != nil {
				failed = err
				return
			}
			if len(list) > 0 {
				after = list[len(list)-1].ID
				select {
				case chunks <- list:
				case <-ctx.Done():
					failed = ctx.Err()
					return
				}
			}
			if !full && len(list) < limit {
				return
			}
			limit = min(max(exportBytes/max(1, bytes/max(1, len(list))), 1), exportChunk)
		}
	}()
	for list := range chunks {
		for _, r := range list {
			if err := fn(r); err != nil {
				return err
			}
		}
		used <- list
	}
	return failed
}

// gatherSome reads until exportBytes is reached. full reports whether it was, so that
// there may be more.
func (s *Store) gatherSome(ctx context.Context, gather func(db.Row) error, list *[]form.Response, sql string, args []any) (full bool, bytes int, err error) {
	err = s.db.Query(ctx, sql, func(r db.Row) error {
		if err := gather(r); err != nil {
			return err
		}
		if bytes += len((*list)[len(*list)-1].JSON); bytes >= exportBytes {
			full = true
			return db.ErrStop
		}
		return nil
	}, args...)
	return full, bytes, err
}
