package store_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// A space that gets another owner on one node while it loses its last one on another never has
// none, and nothing is left of one that is deleted: one of the two comes first.
func TestTransferBesideDeletion(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, storage storetest.Storage) {
		other := storetest.Open(t, storage)
		for name, end := range map[string]func(space string, ada account.User) error{
			"the account": func(_ string, ada account.User) error {
				_, err := other.DeleteUser(ctx, ada.ID, time.Now())
				return err
			},
			"the space": func(space string, _ account.User) error {
				_, err := other.DeleteSpace(ctx, space, time.Now())
				return err
			},
		} {
			for round := range 4 {
				ada := addUser(t, s, fmt.Sprintf("ada%d%s@example.com", round, name[len(name)-5:]))
				bob := addUser(t, s, fmt.Sprintf("bob%d%s@example.com", round, name[len(name)-5:]))
				space := addSpace(t, s, "Team", ada)
				link := invite(t, s, store.Invitation{Space: space, Role: account.Owner, InvitedBy: ada.ID})
				var transferred, ended error
				var both sync.WaitGroup
				both.Go(func() {
					if round%2 == 0 {
						transferred = s.SetMember(ctx, space, bob.ID, account.Owner, time.Now())
					} else {
						_, transferred = s.AcceptInvitation(ctx, link.Text, bob, time.Now())
					}
				})
				both.Go(func() { ended = end(space, ada) })
				both.Wait()
				members, total, err := s.Members(ctx, space, store.Page{Limit: 10})
				owners := 0
				for _, m := range members {
					if m.Role == account.Owner {
						owners++
					}
				}
				left := map[account.Role]int{roleOf(t, s, ada, space): 1}
				left[roleOf(t, s, bob, space)]++
				switch {
				case err != nil || left[account.Owner] != owners || int64(owners) != total:
					t.Errorf("%s, round %d: members %v, %v; by person %v", name, round, members, err, left)
				case name == "the space" && (ended != nil || owners != 0):
					t.Errorf("%s, round %d: %d owners after the deletion (%v)", name, round, owners, ended)
				case name == "the account" && (owners == 0 || ended == nil && transferred != nil):
					t.Errorf("%s, round %d: %d owners (%v, %v)", name, round, owners, transferred, ended)
				}
			}
		}
	})
}
