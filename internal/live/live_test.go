package live_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/form"
	"formulary/internal/id"
	"formulary/internal/live"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// fixture is a form and the live streams of one node.
type fixture struct {
	t     *testing.T
	store *store.Store
	form  *store.PublicForm
	live  *live.Service
}

func forEachEngine(t *testing.T, test func(t *testing.T, w *fixture)) {
	t.Parallel()
	storetest.EachReused(t, func(t *testing.T, storage storetest.Storage) { test(t, newFixture(t, storage)) })
}

func newFixture(t *testing.T, storage storetest.Storage) *fixture {
	t.Helper()
	w := &fixture{t: t, store: storetest.Open(t, storage)}
	ctx := t.Context()
	user, err := w.store.AddUser(ctx, account.User{
		ID: id.New(id.User, time.Now()), Email: "ada@example.com", Language: "en", Password: "not a hash", CreatedAt: time.Now(),
	})
	if err != nil {
		t.Fatal(err)
	}
	var d form.Definition
	if err := json.Unmarshal([]byte(`{"fields": [{"key": "n", "kind": "number"}]}`), &d); err != nil {
		t.Fatal(err)
	}
	f, err := w.store.CreateForm(ctx, user.ID, form.Header{Title: "Numbers", Language: "en"}, &d, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.Publish(ctx, user.ID, store.FormRevision{ID: f.ID}, store.IdempotencyKey{}, time.Now()); err != nil {
		t.Fatal(err)
	}
	if w.form, err = w.store.PublicForm(ctx, f.ID); err != nil {
		t.Fatal(err)
	}
	w.live = live.New(live.Config{Store: w.store, Log: slog.New(slog.DiscardHandler), Encode: func(_ string, r form.Response) []byte { return []byte(r.ID) }})
	t.Cleanup(w.live.Close)
	return w
}

func (w *fixture) submit(n int) (ids []string) {
	w.t.Helper()
	for i := range n {
		r, err := w.store.SubmitResponse(w.t.Context(), store.Submission{Form: w.form, Answers: map[string]any{"n": float64(i)}, At: time.Now()})
		if err != nil {
			w.t.Fatal(err)
		}
		ids = append(ids, r.ID)
	}
	return ids
}

func (w *fixture) open(cursor string) *live.Responses {
	w.t.Helper()
	r, err := w.live.Responses(w.t.Context(), w.form.Owner, "grant", w.form.ID, cursor)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// read reads n responses.
func (w *fixture) read(r *live.Responses, n int) (ids []string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
	defer cancel()
	for len(ids) < n {
		ready := r.Ready()
		list, err := r.Next(ctx)
		if err != nil {
			w.t.Fatalf("after %d of %d: %v", len(ids), n, err)
		}
		for _, text := range list {
			ids = append(ids, string(text))
		}
		if len(list) > 0 {
			continue
		}
		select {
		case <-ready:
		case <-ctx.Done():
			w.t.Fatalf("got %d of %d", len(ids), n)
		}
	}
	return ids
}

func (w *fixture) expect(name string, got, want []string) {
	w.t.Helper()
	if !slices.Equal(got, want) {
		w.t.Errorf("%s: %v, want %v", name, got, want)
	}
}

// A reader that falls behind gets everything, and others do not wait for it. At the end
// nothing is left of the streams.
func TestReaderFallsBehind(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		slow, fast := w.open(""), w.open("")
		var all []string
		for range 4 {
			ids := w.submit(live.RecentLimit / 2)
			w.expect("fast reader", w.read(fast, len(ids)), ids)
			all = append(all, ids...)
		}
		w.expect("slow reader", w.read(slow, len(all)), all)
		late := w.open(all[9])
		w.expect("late reader", w.read(late, len(all)-10), all[10:])
		next := w.submit(1)
		for _, r := range []*live.Responses{slow, fast, late} {
			w.expect("next", w.read(r, 1), next)
			r.Close()
		}
		for deadline := time.Now().Add(10 * time.Second); !w.live.Idle(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("streams are still there")
			}
		}
	})
}

// A restored response is sent again, after those that came before its restoration.
func TestRestoredResponses(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		r := w.open("")
		defer r.Close()
		ids := w.submit(3)
		w.expect("submitted", w.read(r, 3), ids)
		before := r.Cursor()
		if _, err := w.store.DeleteResponsesWithUndo(t.Context(), w.form.Owner, w.form.ID, ids[:2], time.Now()); err != nil {
			t.Fatal(err)
		}
		if _, err := w.store.RestoreResponses(t.Context(), w.form.Owner, w.form.ID, []string{ids[1]}, time.Now()); err != nil {
			t.Fatal(err)
		}
		next := w.submit(1)
		want := []string{ids[1], next[0]}
		w.expect("restored", w.read(r, 2), want)
		resumed := w.open(before)
		defer resumed.Close()
		w.expect("resumed", w.read(resumed, 2), want)
	})
}

// Changes in another account or form are not reported, even if they share a generation.
func TestChanges(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		ctx := t.Context()
		for _, formID := range []string{w.form.ID, ""} {
			c, err := w.live.Changes(ctx, w.form.Owner, "session", formID, "")
			if err != nil {
				t.Fatal(err)
			}
			change := func() bool {
				time.Sleep(600 * time.Millisecond) // the least time between two looks
				events, err := c.Next(ctx)
				if err != nil {
					t.Fatal(err)
				}
				return len(events) > 0
			}
			if change() {
				t.Errorf("form %q: a change without a response", formID)
			}
			ids := w.submit(1)
			if !change() || change() {
				t.Errorf("form %q: a response is not reported once", formID)
			}
			if err := w.store.DeleteResponse(ctx, w.form.Owner, w.form.ID, ids[0], time.Now()); err != nil {
				t.Fatal(err)
			}
			if !change() {
				t.Errorf("form %q: a deletion is not reported", formID)
			}
			c.Close()
		}
		if _, err := w.live.Changes(ctx, w.form.Owner, "session", "frm_x", ""); err == nil {
			t.Error("an unknown form has a stream")
		}
	})
}

// Responses that another node, or another process on the data directory, stores arrive too.
func TestOtherNode(t *testing.T) {
	t.Parallel()
	storetest.EachReused(t, func(t *testing.T, storage storetest.Storage) {
		w := newFixture(t, storage)
		other := storetest.Open(t, storage)
		r := w.open("")
		defer r.Close()
		ids := w.submit(1)
		w.expect("own response", w.read(r, 1), ids)
		w.store = other
		ids = w.submit(1)
		started := time.Now()
		w.expect("response of another node", w.read(r, 1), ids)
		if took := time.Since(started); took > 3*time.Second {
			t.Errorf("after %v", took)
		}
	})
}
