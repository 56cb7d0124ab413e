package store_test

import (
	"testing"
	"time"

	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// Somebody who may use one form learns nothing about the responses to others.
func TestLimitedActivity(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		shared, other := openForm(t, s, owner, textForm), openForm(t, s, owner, textForm)
		only := `["` + shared.ID + `"]`
		read := func() store.ResponseActivity {
			t.Helper()
			a, err := s.ResponseActivity(ctx, owner, "", only)
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		submit := func(f *store.PublicForm) {
			t.Helper()
			if _, err := s.SubmitResponse(ctx, store.Submission{Form: f, Answers: map[string]any{"text": "x"}, At: time.Now()}); err != nil {
				t.Fatal(err)
			}
		}
		before := read()
		submit(other)
		if after := read(); after != before {
			t.Errorf("activity of another form: %v, before %v", after, before)
		}
		submit(shared)
		if after := read(); after == before || after.Count != 1 {
			t.Errorf("activity of the form: %v", after)
		}
	})
}
