package store_test

import (
	"testing"
	"time"

	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// republish publishes a new definition and returns the form.
func republish(t *testing.T, s *store.Store, p *store.PublicForm, definition string) *store.PublicForm {
	t.Helper()
	now := time.Now()
	if _, err := s.UpdateForm(ctx, p.Owner, store.FormRevision{ID: p.ID}, func(input *form.FormInput) error {
		input.Definition = define(t, definition)
		return input.Normalize()
	}, now); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Publish(ctx, p.Owner, store.FormRevision{ID: p.ID}, store.IdempotencyKey{}, now); err != nil {
		t.Fatal(err)
	}
	p, err := s.PublicForm(ctx, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// An option limit that is added later counts earlier responses, whatever key the
// question had then.
func TestOptionLimitCountsEarlierResponses(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		p := openForm(t, s, owner, `{"fields": [{"id": "f1", "key": "c", "kind": "single_choice", "other": true, "options": [{"value": "a"}, {"value": "b"}]}]}`)
		for _, value := range []string{"a", "a", "c", "b"} {
			if _, err := s.SubmitResponse(ctx, store.Submission{Form: p, Answers: map[string]any{"c": value}, At: time.Now()}); err != nil {
				t.Fatal(err)
			}
		}
		p = republish(t, s, p, `{"fields": [{"id": "f1", "key": "drink", "kind": "single_choice", "options": [{"value": "a", "cap": 2}, {"value": "b", "cap": 2}, {"value": "c", "cap": 1}]}]}`)
		left, err := s.OptionsLeft(ctx, p)
		if err != nil || len(left) != 3 || left[[2]string{"f1", "a"}] != 0 || left[[2]string{"f1", "b"}] != 1 {
			t.Errorf("options left: %v (%v)", left, err)
		}
	})
}
