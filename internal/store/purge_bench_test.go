package store_test

import (
	"fmt"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// BenchmarkDeleteUser deletes a person whose forms are shared with 2,000 people, and who is a
// member of 500 spaces, and reports how long another account waits.
func BenchmarkDeleteUser(b *testing.B) {
	for _, storage := range []storetest.Storage{storetest.SQLite(b), storetest.Postgres(b)} {
		b.Run(storage.Engine, func(b *testing.B) {
			s, now := storetest.Open(b, storage), time.Now()
			person := func(name string) account.User {
				p, err := s.AddUser(ctx, account.User{ID: id.New(id.User, now), Email: fmt.Sprintf("%s%d@example.com", name, b.N), Language: "en", CreatedAt: now})
				if err != nil {
					b.Fatal(err)
				}
				return p
			}
			ada, owner := person("ada"), account.User{}
			for i := range 10 {
				f := openForm(b, s, ada.ID, small)
				for j := range 200 {
					if err := s.ShareForm(ctx, ada.ID, f.ID, person(fmt.Sprint("guest-", i, "-", j)).ID, account.Viewer, now); err != nil {
						b.Fatal(err)
					}
				}
			}
			for i := range 500 {
				space := store.Space{Key: id.New(id.User, now), Name: fmt.Sprint("Space ", i)}
				if i%40 == 0 { // nobody can own more than 50
					owner = person(fmt.Sprint("owner", i))
				}
				if err := s.AddSpace(ctx, space, owner, now); err != nil {
					b.Fatal(err)
				}
				if err := s.SetMember(ctx, space.Key, ada.ID, account.Editor, now); err != nil {
					b.Fatal(err)
				}
			}
			other := openForm(b, s, owner.ID, small)
			for b.Loop() {
				stop, ended := make(chan struct{}), make(chan time.Duration)
				go func() {
					var longest time.Duration
					for {
						select {
						case <-stop:
							ended <- longest
							return
						default:
						}
						start := time.Now()
						if _, err := submit(s, other, 1); err != nil {
							b.Error(err)
						}
						longest = max(longest, time.Since(start))
					}
				}()
				start := time.Now()
				if _, err := s.DeleteUser(ctx, ada.ID, time.Now()); err != nil {
					b.Fatal(err)
				}
				took := time.Since(start)
				close(stop)
				b.Logf("deleted in %v, longest submission of another account %v", took, <-ended)
			}
		})
	}
}
