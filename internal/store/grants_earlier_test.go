package store_test

import (
	"testing"
	"time"

	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// Nodes of the version before spaces, which run beside new ones during an upgrade, know no limits
// of grants: for them, a grant with limits has ended, and a space is no user who could sign in.
func TestGrantsForEarlierVersions(t *testing.T) {
	// The conditions on a grant and on a user in that version.
	const (
		grantSQL = `SELECT id FROM consent WHERE account_id = $1 AND id = $2 AND ended_at = 0`
		userSQL  = `SELECT id FROM account WHERE id = $1 AND password <> ''`
	)
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		ada, now := addUser(t, s, "ada@example.com"), time.Now()
		app, space, form := newApp(t, s, ada.ID), addSpace(t, s, "Team", ada), mustForm(t, s, ada.ID, "Own")
		count := func(sql string, args ...any) int {
			t.Helper()
			rows, err := s.Rows(ctx, 1, sql, args...)
			if err != nil {
				t.Fatal(err)
			}
			return len(rows)
		}
		grant := func(limits store.GrantLimits) string {
			t.Helper()
			access, _ := allow(t, s, ada.ID, app, limits, now)
			b, err := s.AccessToken(ctx, access)
			if err != nil {
				t.Fatal(err)
			}
			return b.GrantID
		}
		some := store.GrantLimits{SomeForms: true, Forms: []string{form}}
		for name, limits := range map[string]store.GrantLimits{"a space": {Space: space}, "some forms": some, "an end": {Ends: now.Add(time.Hour)}} {
			if count(grantSQL, ada.ID, grant(limits)) != 0 {
				t.Errorf("a grant with %s is without limits for earlier versions", name)
			}
		}
		whole := grant(store.GrantLimits{})
		if count(grantSQL, ada.ID, whole) != 1 {
			t.Error("a grant without limits has ended for earlier versions")
		}
		choice, err := s.GrantChoice(ctx, ada.ID, some)
		if err == nil {
			err = s.NarrowGrant(ctx, ada.ID, whole, choice, now)
		}
		if err != nil || count(grantSQL, ada.ID, whole) != 0 {
			t.Errorf("narrowed (%v), it is without limits for earlier versions", err)
		}
		if count(userSQL, space) != 0 || count(userSQL, ada.ID) != 1 {
			t.Error("a space has a password")
		}
	})
}
