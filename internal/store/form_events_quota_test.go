package store_test

import (
	"testing"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// No loop of changes can store events without end: the account's storage limit refuses what
// opens a form or restores a response. Closing and deleting are never refused.
func TestEventsAreBounded(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		const limit, rounds = 40_000, 200 // events take 150 bytes
		now := time.Now()
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		for name, loop := range map[string]func(owner string, p *store.PublicForm) error{
			"close and reopen": func(owner string, p *store.PublicForm) error {
				_, err := s.CloseForm(ctx, owner, p.ID, 0, now)
				must(err)
				_, err = s.ReopenForm(ctx, owner, p.ID, 0, now)
				return err
			},
			"close and publish": func(owner string, p *store.PublicForm) error {
				_, err := s.CloseForm(ctx, owner, p.ID, 0, now)
				must(err)
				_, err = s.Publish(ctx, owner, store.FormRevision{ID: p.ID}, store.IdempotencyKey{}, now)
				return err
			},
			"move the opening date": func(owner string, p *store.PublicForm) error {
				for _, opens := range []time.Time{now.Add(time.Hour), {}} {
					if _, err := s.UpdateForm(ctx, owner, store.FormRevision{ID: p.ID}, func(in *form.FormInput) error {
						in.OpensAt = opens
						return nil
					}, now); err != nil {
						return err
					}
				}
				return nil
			},
			"delete and restore": func(owner string, p *store.PublicForm) error {
				r, _, err := s.Responses(ctx, owner, p.ID, store.ResponseFilter{}, store.Page{Limit: 1})
				must(err)
				ids := []string{r[0].ID}
				_, err = s.DeleteResponsesWithUndo(ctx, owner, p.ID, ids, now)
				must(err)
				_, err = s.RestoreResponses(ctx, owner, p.ID, ids, now)
				return err
			},
		} {
			s.SetQuotas(store.Quotas{Bytes: limit})
			owner := addUser(t, s, time.Now().Format("150405.000000000")+"@example.com").ID
			p := openForm(t, s, owner, small)
			_, err := submit(s, p, 1)
			must(err)
			addWebhook(t, s, owner, p.ID)
			n := 0
			for err == nil && n < rounds {
				err, n = loop(owner, p), n+1
			}
			if fault.Wrap(err).Code != fault.QuotaReached || n < 50 {
				t.Errorf("%s: after %d rounds: %v", name, n, err)
			}
			if used := usedBytes(t, s, owner); used > limit+limit/10+1000 || used < limit/2 {
				t.Errorf("%s: %d bytes are used", name, used)
			}
			s.SetQuotas(store.Quotas{})
			other := openForm(t, s, owner, small)
			addWebhook(t, s, owner, other.ID)
			s.SetQuotas(store.Quotas{Bytes: 1})
			if _, err := s.CloseForm(ctx, owner, other.ID, 0, now); err != nil {
				t.Errorf("%s: closing another form: %v", name, err)
			}
		}
	})
}
