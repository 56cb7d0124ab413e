package store_test

import (
	"strconv"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/form"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// BenchmarkFormsPage reads the first page of forms: of a person with 20 forms, of a space with
// 10,000, and through a grant of 1,000 of these.
func BenchmarkFormsPage(b *testing.B) {
	s := storetest.Open(b, storetest.SQLite(b))
	now := time.Now()
	person := func(email string) account.User {
		p, err := s.AddUser(ctx, account.User{ID: id.New(id.User, now), Email: email, Language: "en", CreatedAt: now})
		if err != nil {
			b.Fatal(err)
		}
		return p
	}
	fill := func(owner string, n int) (ids []string) {
		for i := range n {
			f, err := s.CreateForm(ctx, owner, form.Header{Title: "Form " + strconv.Itoa(i), Language: "en"}, nil, now)
			if err != nil {
				b.Fatal(err)
			}
			ids = append(ids, f.ID)
		}
		return ids
	}
	ada := person("ada@example.com")
	fill(ada.ID, 20)
	space := store.Space{Key: id.New(id.User, now), Name: "Team"}
	if err := s.AddSpace(ctx, space, ada, now); err != nil {
		b.Fatal(err)
	}
	var some []string
	for i, formID := range fill(space.Key, 10_000) {
		if i%10 == 0 {
			some = append(some, formID)
		}
	}
	read := func(access account.Access, offset int64) func(b *testing.B) {
		return func(b *testing.B) {
			for b.Loop() {
				if _, _, err := s.Forms(ctx, access.Space, store.FormFilter{Only: access.FormList}, store.NewestFirst, store.Page{Limit: 20, Offset: offset}); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	b.Run("person", read(account.OwnSpace(ada.ID), 0))
	b.Run("space", read(account.Access{Space: space.Key, Role: account.Editor}, 0))
	b.Run("grant", read(account.Access{Space: space.Key, Role: account.Editor}.Limit(some), 0))
	b.Run("grant page 40", read(account.Access{Space: space.Key, Role: account.Editor}.Limit(some), 780))
}
