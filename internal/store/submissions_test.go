package store_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

func define(t testing.TB, text string) *form.Definition {
	t.Helper()
	var d form.Definition
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	if err := d.Normalize(); err != nil {
		t.Fatal(err)
	}
	return &d
}

// openForm creates a form that accepts responses.
func openForm(t testing.TB, s *store.Store, owner, definition string) *store.PublicForm {
	t.Helper()
	f, err := s.CreateForm(ctx, owner, form.Header{Title: "Order", Language: "en"}, define(t, definition), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Publish(ctx, owner, store.FormRevision{ID: f.ID}, store.IdempotencyKey{}, time.Now()); err != nil {
		t.Fatal(err)
	}
	p, err := s.PublicForm(ctx, f.ID)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const small = `{"fields": [{"key": "n", "kind": "number"}, {"key": "c", "kind": "single_choice", "options": [{"value": "a"}, {"value": "b"}]}]}`

func submit(s *store.Store, p *store.PublicForm, n int) (form.Response, error) {
	answers := map[string]any{"n": float64(n) / 10, "c": []string{"a", "b"}[n%2]}
	return s.SubmitResponse(ctx, store.Submission{Form: p, Answers: answers, At: time.Now()})
}

// While responses are added, edited and deleted, the summary equals a full recount.
func TestSummaryIsExact(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, storage storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		p := openForm(t, s, owner, small)
		other := storetest.Open(t, storage) // acts as another node
		var all sync.WaitGroup
		const writers, rounds = 8, 720
		for w := range writers {
			all.Go(func() {
				for i := range rounds {
					r, err := submit(s, p, w*rounds+i)
					if err != nil {
						t.Error(err)
						return
					}
					switch i % 16 {
					case 3:
						err = other.DeleteResponse(ctx, owner, p.ID, r.ID, time.Now())
					case 7:
						_, err = s.UpdateResponse(ctx, owner, store.ResponseKey{FormID: p.ID, ID: r.ID}, func(*form.Definition, map[string]any) (map[string]any, error) {
							return map[string]any{"c": "b"}, nil
						}, time.Now())
					case 11:
						_, err = other.Summary(ctx, owner, p.ID)
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		want := recount(t, s, p)
		for _, node := range []*store.Store{s, other} {
			checkSummary(t, node, p, want)
		}
		f, err := s.Form(ctx, owner, p.ID)
		if left := int64(writers * rounds * 15 / 16); err != nil || f.ResponseCount != left || want.Responses != left {
			t.Errorf("%d responses, %d counted, want %d (%v)", f.ResponseCount, want.Responses, left, err)
		}
	})
}

// recount summarizes all responses to a form.
func recount(t *testing.T, s *store.Store, p *store.PublicForm) *form.Summary {
	t.Helper()
	sum := form.NewSummary()
	if err := s.StreamResponses(ctx, p.Owner, p.ID, store.ResponseFilter{}, func(r form.Response) error {
		answers, err := r.Answers()
		sum.Add(p.Definition, answers, r.SubmittedAt, 1)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return sum
}

func checkSummary(t *testing.T, s *store.Store, p *store.PublicForm, want *form.Summary) {
	t.Helper()
	got, err := s.Summary(ctx, p.Owner, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	gotJSON, _ := json.Marshal(got)
	wantJSON, _ := json.Marshal(want)
	if string(gotJSON) != string(wantJSON) {
		t.Errorf("stored  %s\ncounted %s", gotJSON, wantJSON)
	}
}

// The summary that is updated in memory, for every type of answer, equals a full
// recount, even if a response is deleted right after it was stored.
func TestSummaryInMemory(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		p := openForm(t, s, addUser(t, s, "ada@example.com").ID, `{"fields": [{"key": "text", "kind": "short_text"}, {"key": "n", "kind": "number"}, {"key": "yes", "kind": "yes_no"},
			{"key": "many", "kind": "multiple_choice", "options": [{"value": "a"}, {"value": "b"}], "other": true},
			{"key": "rank", "kind": "ranking", "options": [{"value": "a"}, {"value": "b"}]},
			{"key": "grid", "kind": "matrix", "rows": [{"value": "x"}, {"value": "y"}], "options": [{"value": "1"}, {"value": "2"}], "several": true},
			{"key": "who", "kind": "name"}]}`)
		var all sync.WaitGroup
		const writers, rounds = 16, 500
		for w := range writers {
			all.Go(func() {
				for i := range rounds {
					e, err := p.Definition.Validate(map[string]any{
						"text": "Ada", "n": float64(i%7) / 2, "yes": i%2 == 0, "many": []any{"a", "mine"}, "rank": []any{"b", "a"},
						"grid": map[string]any{"x": []any{"1", "2"}, "y": []any{"2"}}, "who": map[string]any{"given": "Ada", "family": "Lovelace"},
					})
					if err != nil {
						t.Error(err)
						return
					}
					r, err := s.SubmitResponse(ctx, store.Submission{Form: p, Answers: e.Answers, At: time.Now()})
					if err == nil && w == 0 && i == 5 {
						err = s.DeleteResponse(ctx, p.Owner, p.ID, r.ID, time.Now())
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		checkSummary(t, s, p, recount(t, s, p))
	})
}

// blockWrites prevents everyone else from storing responses until release is called.
func blockWrites(t *testing.T, storage storetest.Storage) (release func()) {
	t.Helper()
	if storage.Engine == "sqlite" {
		conn, err := sqlite3.Open(filepath.Join(storage.Data, "formulary.db"))
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.Exec("BEGIN IMMEDIATE"); err != nil {
			t.Fatal(err)
		}
		return func() { conn.Close() }
	}
	conn := connectPostgres(t, storage)
	if _, err := conn.Exec(ctx, "BEGIN; LOCK TABLE form IN EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	return func() { conn.Close(ctx) }
}

// Submissions above the capacity are rejected immediately; queued ones are stored, and
// no acknowledged one is lost.
func TestOverload(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, storage storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		p := openForm(t, s, owner, small)
		release := blockWrites(t, storage)
		var stored, rejected atomic.Int64
		var all sync.WaitGroup
		const many = 6000
		for i := range many {
			all.Go(func() {
				_, err := submit(s, p, i)
				switch e := fault.Wrap(err); {
				case err == nil:
					stored.Add(1)
				case e.Code == fault.DatabaseUnreachable && e.RetryAfter > 0:
					rejected.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		// Rejected callers get the error while the database is still blocked.
		for rejected.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		release()
		all.Wait()
		f, err := s.Form(ctx, owner, p.ID)
		isStored := f.ResponseCount == stored.Load() && stored.Load() >= 500
		if err != nil || !isStored || stored.Load()+rejected.Load() != many {
			t.Errorf("%d stored, %d acknowledged, %d rejected (%v)", f.ResponseCount, stored.Load(), rejected.Load(), err)
		}
	})
}

// A submission that cannot be stored fails alone; the rest of its batch is stored.
func TestFailureInBatch(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, storage storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		good, closed := openForm(t, s, owner, small), openForm(t, s, owner, small)
		if _, err := s.CloseForm(ctx, owner, closed.ID, 0, time.Now()); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		ids := sync.Map{}
		for i := range 200 {
			all.Go(func() {
				switch i % 4 {
				case 0:
					if _, err := submit(s, closed, i); fault.Wrap(err).Code != fault.FormNotOpen {
						t.Errorf("to a closed form: %v", err)
					}
				case 1:
					r, err := s.SubmitResponse(ctx, store.Submission{Form: good, Answers: map[string]any{}, At: time.Now(), Key: store.IdempotencyKey{App: "x", Key: "same", Hash: "h"}})
					if ids.Store(r.ID, true); err != nil {
						t.Error(err)
					}
				default:
					if _, err := submit(s, good, i); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		same := 0
		ids.Range(func(any, any) bool { same++; return true })
		f, err := s.Form(ctx, owner, good.ID)
		if err != nil || f.ResponseCount != 101 || same != 1 {
			t.Errorf("%d responses, %d of one key (%v)", f.ResponseCount, same, err)
		}
		list, err := s.ResponsesAfter(ctx, owner, good.ID, "", 1000)
		for i, r := range list {
			if r.Serial != list[0].Serial+int64(i) && storage.Engine == "sqlite" {
				t.Fatalf("serial %d at %d", r.Serial, i)
			}
		}
		if err != nil || len(list) != 101 {
			t.Errorf("%d in the feed (%v)", len(list), err)
		}
	})
}

// A form whose closing date has passed is closed in lists and counts.
func TestCloseExpiredForms(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		p := openForm(t, s, owner, small)
		soon := time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)
		updateForm(t, s, owner, p.ID, func(f *form.FormInput) { f.ClosesAt = soon })
		count := func(status form.Status) int64 {
			_, n, err := s.Forms(ctx, owner, store.FormFilter{Status: string(status)}, store.NewestFirst, store.Page{Limit: 1})
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		if err := s.CloseExpiredForms(ctx, soon.Add(-time.Second)); err != nil || count(form.Open) != 1 {
			t.Errorf("closed early (%v)", err)
		}
		if err := s.CloseExpiredForms(ctx, soon); err != nil || count(form.Open) != 0 || count(form.Closed) != 1 {
			t.Errorf("not closed (%v)", err)
		}
	})
}

// Only the owner can read the files of SQLite.
func TestFilePermissions(t *testing.T) {
	t.Parallel()
	storage := storetest.SQLite(t)
	s := storetest.Open(t, storage)
	addUser(t, s, "ada@example.com")
	for _, name := range []string{"formulary.db", "formulary.db-wal"} {
		info, err := os.Stat(filepath.Join(storage.Data, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
}

// IDs start with the time of the response, so they can be used for time ranges.
func TestIDsSortByTime(t *testing.T) {
	now := time.Now()
	for _, d := range []time.Duration{0, time.Millisecond, time.Hour, 1e6 * time.Hour} {
		created := id.New(id.Response, now.Add(d))
		if first := id.First(id.Response, now.Add(d)); first > created || id.First(id.Response, now.Add(d+time.Millisecond)) <= created {
			t.Error(fmt.Sprint(first, " ", created))
		}
	}
}
