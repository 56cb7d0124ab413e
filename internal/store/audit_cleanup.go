package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"formulary/internal/db"
	"formulary/internal/id"
)

const (
	// These read all accounts; see webhookAccountsSQL.
	oldAuditSQL    = `DELETE FROM audit WHERE (account_id, id) IN (SELECT account_id, id FROM audit WHERE id < $1` + byID
	activeAuditSQL = `SELECT DISTINCT account_id FROM audit WHERE id >= $1`

	countAuditSQL  = `SELECT COUNT(*) FROM audit WHERE account_id = $1`
	auditGroupsSQL = `SELECT person_id, action, COUNT(*) FROM audit WHERE account_id = $1 GROUP BY person_id, action`
	oldestAuditSQL = `SELECT id FROM audit WHERE account_id = $1 AND person_id = $2 AND action = $3 AND id > $4 ORDER BY id LIMIT $5`
	trimAuditSQL   = `DELETE FROM audit WHERE account_id = $1 AND person_id = $2 AND action = $3 AND id BETWEEN $4 AND $5`
)

// trimPeriod is how far back cleanupAudit looks for logs that have grown. It is much longer than
// the time between two cleanups.
const trimPeriod = 24 * time.Hour

// cleanupAudit deletes entries that are too old, and those of spaces that have too many.
func (s *Store) cleanupAudit(ctx context.Context, now time.Time) error {
	if err := s.repeat(ctx, oldAuditSQL, id.First(id.Audit, now.Add(-AuditRetention))); err != nil {
		return err
	}
	var owners []string
	if err := s.db.Query(ctx, activeAuditSQL, func(r db.Row) error {
		var owner string
		err := r.Scan(&owner)
		owners = append(owners, owner)
		return err
	}, id.First(id.Audit, now.Add(-trimPeriod))); err != nil {
		return err
	}
	for _, owner := range owners {
		if err := s.trimAudit(ctx, owner, MaxAuditEntries); err != nil {
			return err
		}
	}
	return nil
}

// auditGroup is the entries of one person about one action.
type auditGroup struct {
	person, action string
	entries        int64
	deleted        string // ID of the last one that was deleted
}

// trimAudit deletes entries of a space, in batches, until keep are left: always the oldest of the
// person and the action that have the most. So nobody can push out what others did, or what they
// did themselves, by repeating something harmless.
func (s *Store) trimAudit(ctx context.Context, owner string, keep int64) error {
	var all int64
	if err := queryOne(s.query(ctx), countAuditSQL, []any{owner}, &all); err != nil || all <= keep {
		return err
	}
	var groups []*auditGroup
	if err := s.db.Query(ctx, auditGroupsSQL, func(r db.Row) error {
		var g auditGroup
		err := r.Scan(&g.person, &g.action, &g.entries)
		groups = append(groups, &g)
		return err
	}, owner); err != nil {
		return err
	}
	for excess := all - keep; excess > 0; {
		largest := slices.MaxFunc(groups, func(a, b *auditGroup) int { return cmp.Compare(a.entries, b.entries) })
		n := min(excess, (largest.entries+1)/2, cleanupBatch) // others may have nearly as many
		if err := s.trimGroup(ctx, owner, largest, n); err != nil {
			return err
		}
		excess, largest.entries = excess-n, largest.entries-n
	}
	return nil
}

// trimGroup deletes the n oldest entries of a group. They are found before the transaction, for
// which other writers wait.
func (s *Store) trimGroup(ctx context.Context, owner string, g *auditGroup, n int64) error {
	first := ""
	after := g.deleted
	if err := s.db.Query(ctx, oldestAuditSQL, func(r db.Row) error {
		err := r.Scan(&g.deleted)
		if first == "" {
			first = g.deleted
		}
		return err
	}, owner, g.person, g.action, after, n); err != nil || first == "" {
		return err
	}
	return s.db.Write(ctx, func(t db.Tx) error {
		_, err := t.Exec(trimAuditSQL, owner, g.person, g.action, first, g.deleted)
		return err
	})
}
