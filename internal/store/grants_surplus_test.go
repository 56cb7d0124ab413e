package store_test

import (
	"strconv"
	"testing"
	"time"

	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// A user who limits an application again and again does not store any number of rows: the oldest
// grants end, and the new one never does.
func TestLimitedGrantsOfOneApplication(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		ada, now := addUser(t, s, "ada@example.com"), time.Now()
		app, other := newApp(t, s, ada.ID), newApp(t, s, ada.ID)
		limits := store.GrantLimits{SomeForms: true, Forms: []string{mustForm(t, s, ada.ID, "One"), mustForm(t, s, ada.ID, "Two")}}
		unlimited, _ := allow(t, s, ada.ID, app, store.GrantLimits{}, now.Add(-time.Hour))
		elsewhere, _ := allow(t, s, ada.ID, other, limits, now.Add(-time.Hour))
		first, _ := allow(t, s, ada.ID, app, limits, now.Add(-time.Minute))
		for range store.MaxLimitedGrants { // in the same millisecond
			access, _ := allow(t, s, ada.ID, app, limits, now)
			if token, err := s.AccessToken(ctx, access); err != nil || !token.GrantLive {
				t.Fatalf("the new grant has ended (%v)", err)
			}
		}
		if token, err := s.AccessToken(ctx, first); err != nil || token.GrantLive {
			t.Errorf("the oldest grant has not ended (%v)", err)
		}
		if token, err := s.AccessToken(ctx, unlimited); err != nil || !token.GrantLive {
			t.Errorf("a grant of all forms has ended (%v)", err)
		}
		if token, err := s.AccessToken(ctx, elsewhere); err != nil || !token.GrantLive {
			t.Errorf("a grant of another application has ended (%v)", err)
		}
		if got, want := tableRows(t, s, "consent_form"), strconv.Itoa(2*(store.MaxLimitedGrants+1)); got != want {
			t.Errorf("%s forms of grants are stored, want %s", got, want)
		}
	})
}
