package store_test

import (
	"strings"
	"testing"
	"time"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

const textForm = `{"fields": [{"key": "text", "kind": "long_text"}]}`

func addText(t *testing.T, s *store.Store, f *store.PublicForm, text string) (form.Response, error) {
	t.Helper()
	return s.SubmitResponse(ctx, store.Submission{Form: f, Answers: map[string]any{"text": text}, At: time.Now()})
}

func usedBytes(t *testing.T, s *store.Store, owner string) int64 {
	t.Helper()
	u, err := s.Usage(ctx, owner)
	if err != nil {
		t.Fatal(err)
	}
	return u.Bytes
}

// Usage is counted in the transactions that change it. Deleted data counts until it
// cannot be restored any more.
func TestUsage(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		f := openForm(t, s, owner, textForm)
		empty := usedBytes(t, s, owner)
		if empty == 0 {
			t.Error("a published form takes nothing")
		}
		r, err := addText(t, s, f, strings.Repeat("x", 10_000))
		if err != nil {
			t.Fatal(err)
		}
		with := usedBytes(t, s, owner)
		if with < empty+10_000 || with > empty+11_000 {
			t.Errorf("a response of 10,000 bytes takes %d", with-empty)
		}
		if _, err := s.UpdateResponse(ctx, owner, store.ResponseKey{FormID: f.ID, ID: r.ID}, func(*form.Definition, map[string]any) (map[string]any, error) {
			return map[string]any{"text": "short"}, nil
		}, time.Now()); err != nil {
			t.Fatal(err)
		}
		if shorter := usedBytes(t, s, owner); shorter > empty+1000 {
			t.Errorf("after shortening it, %d", shorter-empty)
		}
		if _, err := addText(t, s, f, strings.Repeat("y", 5000)); err != nil {
			t.Fatal(err)
		}
		if n, err := s.DeleteResponses(ctx, owner, f.ID, store.ResponseFilter{}, time.Now()); err != nil || n != 2 {
			t.Fatal(n, err)
		}
		if left := usedBytes(t, s, owner); left != empty {
			t.Errorf("without its responses the form takes %d, before %d", left, empty)
		}
		if _, err := addText(t, s, f, strings.Repeat("z", 5000)); err != nil {
			t.Fatal(err)
		}
		before := usedBytes(t, s, owner)
		if err := s.DeleteForm(ctx, owner, f.ID, 0, time.Now()); err != nil {
			t.Fatal(err)
		}
		if deleted := usedBytes(t, s, owner); deleted != before {
			t.Errorf("recently deleted it takes %d, before %d", deleted, before)
		}
		if _, err := s.RestoreForm(ctx, owner, f.ID, time.Now()); err != nil {
			t.Fatal(err)
		}
		if restored := usedBytes(t, s, owner); restored != before {
			t.Errorf("restored it takes %d, before %d", restored, before)
		}
		if err := s.DeleteForm(ctx, owner, f.ID, 0, time.Now()); err != nil {
			t.Fatal(err)
		}
		if err := s.Cleanup(ctx, time.Now().Add(2*time.Hour), time.Hour); err != nil {
			t.Fatal(err)
		}
		if purged := usedBytes(t, s, owner); purged != 0 {
			t.Errorf("after the cleanup it still takes %d", purged)
		}
	})
}

// Exceeding any quota results in 409004, and affects only the account that has reached
// it.
func TestQuotas(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		s.SetQuotas(store.Quotas{Forms: 3, Versions: 2, Bytes: 100_000})
		owner, other := addUser(t, s, "ada@example.com").ID, addUser(t, s, "bob@example.com").ID
		f := openForm(t, s, owner, textForm)
		expectQuotaError := func(name string, err error) {
			t.Helper()
			if fault.Wrap(err).Code != fault.QuotaReached {
				t.Errorf("%s: %v", name, err)
			}
		}
		rename(t, s, owner, f.ID, "Second")
		if _, err := s.Publish(ctx, owner, store.FormRevision{ID: f.ID}, store.IdempotencyKey{}, time.Now()); err != nil {
			t.Fatal(err)
		}
		rename(t, s, owner, f.ID, "Third")
		_, err := s.Publish(ctx, owner, store.FormRevision{ID: f.ID}, store.IdempotencyKey{}, time.Now())
		expectQuotaError("a third version", err)

		for range 2 {
			if _, err := s.CreateForm(ctx, owner, form.Header{Title: "More", Language: "en"}, nil, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		_, err = s.CreateForm(ctx, owner, form.Header{Title: "Too many", Language: "en"}, nil, time.Now())
		expectQuotaError("a fourth form", err)
		list, _, err := s.Forms(ctx, owner, store.FormFilter{}, store.NewestFirst, store.Page{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.DeleteForm(ctx, owner, list[0].ID, 0, time.Now()); err != nil {
			t.Fatal(err)
		}
		_, err = s.CreateForm(ctx, owner, form.Header{Title: "Too many", Language: "en"}, nil, time.Now())
		expectQuotaError("a form in place of a recently deleted one", err)

		for n := 0; ; n++ {
			if _, err = addText(t, s, f, strings.Repeat("x", 9000)); err != nil {
				if n < 8 || n > 11 {
					t.Errorf("%d responses of 9,000 bytes were stored", n)
				}
				break
			}
		}
		expectQuotaError("a response past 100 kB", err)
		others := openForm(t, s, other, textForm)
		if _, err := addText(t, s, others, strings.Repeat("x", 9000)); err != nil {
			t.Errorf("another account: %v", err)
		}
		if _, err := s.DeleteResponses(ctx, owner, f.ID, store.ResponseFilter{}, time.Now()); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			if _, err = addText(t, s, f, "there is room again"); err == nil || time.Now().After(deadline) {
				break
			}
		}
		if err != nil {
			t.Errorf("after deleting: %v", err)
		}
	})
}

// At the storage limit, operations that add nothing still work: a repeated key, and
// publishing an unchanged draft.
func TestRepetitionsAtStorageLimit(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		f := openForm(t, s, owner, textForm)
		once := store.IdempotencyKey{App: "public/" + f.ID, Key: "key", Hash: "h"}
		submit := func() (form.Response, error) {
			return s.SubmitResponse(ctx, store.Submission{Form: f, Answers: map[string]any{"text": "x"}, At: time.Now(), Key: once})
		}
		first, err := submit()
		if err != nil {
			t.Fatal(err)
		}
		created := store.IdempotencyKey{App: "app", Key: "form", Hash: "h"}
		var d form.Definition
		d.Fields = append(d.Fields, &form.Field{Kind: "short_text", Label: "Name"})
		if err := d.Normalize(); err != nil {
			t.Fatal(err)
		}
		input := form.FormInput{Header: form.Header{Title: "Once", Language: "en"}, Availability: form.Availability{Sites: form.AnySite}, Definition: &d}
		made, err := s.CreateFormFrom(ctx, owner, input, created, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		s.SetQuotas(store.Quotas{Bytes: 1})
		if again, err := submit(); err != nil || again.ID != first.ID {
			t.Errorf("a repeated submission: %+v, %v", again, err)
		}
		if again, err := s.CreateFormFrom(ctx, owner, input, created, time.Now()); err != nil || again.ID != made.ID {
			t.Errorf("a repeated creation: %+v, %v", again, err)
		}
		if _, err := s.CloseForm(ctx, owner, f.ID, 0, time.Now()); err != nil {
			t.Fatal(err)
		}
		if again, err := s.Publish(ctx, owner, store.FormRevision{ID: f.ID}, store.IdempotencyKey{}, time.Now()); err != nil || again.Status != form.Open {
			t.Errorf("publishing the same: %+v, %v", again, err)
		}
		if _, err := addText(t, s, f, "more"); fault.Wrap(err).Code != fault.QuotaReached {
			t.Errorf("something new: %v", err)
		}
	})
}

// A deletion subtracts exactly what was added, however a database formats numbers.
func TestUsageOfNumbers(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		f := openForm(t, s, owner, small)
		before := usedBytes(t, s, owner)
		for _, n := range []float64{1e300, 0.1, 123456789, -1e-300} {
			if _, err := s.SubmitResponse(ctx, store.Submission{Form: f, Answers: map[string]any{"n": n}, At: time.Now()}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.DeleteResponses(ctx, owner, f.ID, store.ResponseFilter{}, time.Now()); err != nil {
			t.Fatal(err)
		}
		if after := usedBytes(t, s, owner); after != before {
			t.Errorf("%d bytes became %d", before, after)
		}
	})
}

// What is being uploaded counts until it is stored, however often the usage is read meanwhile,
// and leaves room for responses.
func TestUploadsAreReserved(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		ada := addUser(t, s, "ada@example.com").ID
		s.SetQuotas(store.Quotas{Bytes: 100_000})
		if err := s.ReserveUpload(ctx, ada, 60_000); err != nil {
			t.Fatal(err)
		}
		for start := time.Now(); time.Since(start) < 700*time.Millisecond; { // the usage is read again after 500 ms
			if err := s.ReserveUpload(ctx, ada, 60_000); fault.Wrap(err).Code != fault.QuotaReached {
				t.Fatalf("a second upload: %v", err)
			}
		}
		s.ReleaseUpload(ada, 60_000, 0)
		if err := s.ReserveUpload(ctx, ada, 60_000); err != nil {
			t.Errorf("after the first has failed: %v", err)
		}
		if err := s.ReserveUpload(ctx, ada, 35_000); fault.Wrap(err).Code != fault.QuotaReached {
			t.Errorf("no room for responses: %v", err)
		}
	})
}
