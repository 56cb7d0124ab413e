package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"formulary/internal/db"
	"formulary/internal/fault"
	"formulary/internal/form"
)

// DeleteResponsesWithUndo deletes responses that RestoreResponses can restore for
// trashRetention.
func (s *Store) DeleteResponsesWithUndo(ctx context.Context, owner, formID string, ids []string, now time.Time) (_ int64, err error) {
	defer wrap(&err, "move responses to trash")
	return s.deleteResponses(ctx, owner, formID, deletion{ids: ids, now: now, audit: newAuditCount(AuditResponsesDeleted), keep: func(t db.Tx, r form.Response) error {
		content, err := json.Marshal(r)
		if err != nil {
			return err
		}
		size, err := storedBytes(r)
		if err != nil {
			return err
		}
		noteSize, err := noteBytes(t, owner, formID, r)
		if err != nil {
			return err
		}
		size += noteSize
		_, err = t.Exec(trashSQL, owner, r.ID, formID, string(content), toMillis(now), size)
		return err
	}})
}

// RestoreResponses undoes DeleteResponsesWithUndo and returns the number of restored
// responses. Option limits do not apply: these responses were submitted before others.
func (s *Store) RestoreResponses(ctx context.Context, owner, formID string, ids []string, now time.Time) (all int64, err error) {
	defer wrap(&err, "restore responses")
	ids, err = responseIDs(formID, ids)
	if err != nil {
		return 0, err
	}
	growth, err := s.eventGrowth(ctx, owner, formID, 2*len(ids))
	if err != nil {
		return 0, err
	}
	if err := s.reserveUndo(ctx, owner, growth); err != nil {
		return 0, err
	}
	restored := restoration{audit: newAuditCount(AuditResponsesRestored), now: now}
	for {
		restored.ids = ids
		n, done, err := s.restoreSome(ctx, owner, formID, restored)
		if err != nil {
			return all, err
		}
		all, ids = all+n, ids[done:]
		if len(ids) == 0 {
			return all, nil
		}
	}
}

// restoration says which responses are restored.
type restoration struct {
	ids   []string
	now   time.Time
	audit *auditCount
}

// restoreSome restores the first responses, in one transaction. done is how many IDs it has read.
func (s *Store) restoreSome(ctx context.Context, owner, formID string, back restoration) (n int64, done int, err error) {
	ids, now := back.ids, back.now
	var full bool
	err = s.write(ctx, responsesOf(owner), func(t db.Tx) error {
		n, done, full = 0, 0, false
		if err := checkAffected(t.Exec(dropCountSQL, owner, formID, 0, 0)); err != nil {
			return err
		}
		positions, err := drawPositions(t, owner, formID, min(len(ids), deleteBatch), now)
		if err != nil {
			return err
		}
		var restored []form.Response
		for bytes := 0; done < min(len(ids), deleteBatch) && bytes < deleteBatchBytes; done++ {
			var of, content string
			err := queryOne(t.Query, untrashSQL, []any{owner, ids[done]}, &of, &content)
			if errors.Is(err, fault.NotFound) {
				continue
			}
			if err != nil {
				return err
			}
			var r form.Response
			if err := json.Unmarshal([]byte(content), &r); err != nil {
				return err
			}
			if of != formID || r.FormID != formID {
				return fault.NotFound
			}
			if _, err := t.Exec(insertResponseSQL, owner, formID, r.ID, r.Serial, r.Version, toMillis(r.SubmittedAt), r.JSON, r.Metadata); err != nil {
				return err
			}
			if _, err := t.Exec(markRestoredSQL, owner, formID, r.ID, positions[len(restored)]); err != nil {
				return err
			}
			if err := rankFound(t, owner, formID, r.Serial); err != nil {
				return err
			}
			restored, bytes = append(restored, r), bytes+len(r.JSON)
		}
		n = int64(len(restored))
		size, err := storedBytes(restored...)
		if err != nil {
			return err
		}
		noteSize, err := restoreMarks(t, owner, formID, restored)
		if err != nil {
			return err
		}
		size += noteSize
		if _, err := t.Exec(dropCountSQL, owner, formID, -n, -size); err != nil {
			return err
		}
		if some, err := hasWebhooks(t.Query, owner, formID); err != nil {
			return err
		} else if some {
			if err := insertEvents(t, owner, formID, positions, responseEvents(ResponseRestored, restored)); err != nil {
				return err
			}
		}
		if err := s.subtract(t, owner, formID, nil, restored); err != nil {
			return err
		}
		if err := s.updateOptionCounts(t, owner, formID, optionChange{added: restored}); err != nil {
			return err
		}
		if err := back.audit.record(ctx, t, owner, formID, n); err != nil {
			return err
		}
		f, err := readForm(t.Query, owner, formID)
		if err != nil {
			return err
		}
		if full = f.Status == form.Open && f.ResponseLimit > 0 && f.ResponseCount >= f.ResponseLimit; full {
			return closeFull(t, owner, formID, now)
		}
		return nil
	})
	if err == nil {
		back.audit.total += n
	}
	if err == nil && full {
		s.db.Invalidate(owner)
	}
	return n, done, err
}
