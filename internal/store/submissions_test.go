package store_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/ncruces/go-sqlite3"

	"formulary/internal/fault"
	"formulary/internal/form"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

func define(t *testing.T, text string) *form.Definition {
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

// opened makes a form that takes responses.
func opened(t *testing.T, s *store.Store, owner, definition string) *store.PublicForm {
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

func add(s *store.Store, p *store.PublicForm, n int) (form.Response, error) {
	answers := map[string]any{"n": float64(n) / 10, "c": []string{"a", "b"}[n%2]}
	return s.SubmitResponse(ctx, store.Submission{Form: p, Answers: answers, At: time.Now()})
}

// While others write, change and delete, the summary is what counting everything
// again would say.
func TestSummaryIsExact(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, place storetest.Place) {
		owner := person(t, s, "ada@example.com").ID
		p := opened(t, s, owner, small)
		other := storetest.Open(t, place) // as another node
		var all sync.WaitGroup
		const writers, rounds = 8, 720
		for w := range writers {
			all.Go(func() {
				for i := range rounds {
					r, err := add(s, p, w*rounds+i)
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
			isSummary(t, node, p, want)
		}
		f, err := s.Form(ctx, owner, p.ID)
		if left := int64(writers * rounds * 15 / 16); err != nil || f.ResponseCount != left || want.Responses != left {
			t.Errorf("%d responses, %d counted, want %d (%v)", f.ResponseCount, want.Responses, left, err)
		}
	})
}

// recount reads all responses to a form and sums them up.
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

func isSummary(t *testing.T, s *store.Store, p *store.PublicForm, want *form.Summary) {
	t.Helper()
	got, err := s.Summary(ctx, p.Owner, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	is, _ := json.Marshal(got)
	should, _ := json.Marshal(want)
	if string(is) != string(should) {
		t.Errorf("kept   %s\ncounted %s", is, should)
	}
}

// What is counted along while responses come, of every shape of answer, is what
// reading them says; also when one is deleted as soon as it is there.
func TestCountedAlong(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, _ storetest.Place) {
		p := opened(t, s, person(t, s, "ada@example.com").ID, `{"fields": [{"key": "text", "kind": "short_text"}, {"key": "n", "kind": "number"}, {"key": "yes", "kind": "yes_no"},
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
		isSummary(t, s, p, recount(t, s, p))
	})
}

// hold keeps everybody else from storing responses, until it is let go.
func hold(t *testing.T, place storetest.Place) (letGo func()) {
	t.Helper()
	if place.Engine == "sqlite" {
		conn, err := sqlite3.Open(filepath.Join(place.Data, "formulary.db"))
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.Exec("BEGIN IMMEDIATE"); err != nil {
			t.Fatal(err)
		}
		return func() { conn.Close() }
	}
	conn, err := pgx.Connect(ctx, strings.Replace(place.URL, "pool_max_conns=8&", "", 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(ctx, "BEGIN; LOCK TABLE form IN EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	return func() { conn.Close(ctx) }
}

// More than can be stored is sent away at once; what waits is stored, and nothing
// is lost of what was acknowledged.
func TestOverload(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, place storetest.Place) {
		owner := person(t, s, "ada@example.com").ID
		p := opened(t, s, owner, small)
		letGo := hold(t, place)
		var stored, shed atomic.Int64
		var all sync.WaitGroup
		const many = 6000
		for i := range many {
			all.Go(func() {
				_, err := add(s, p, i)
				switch e := fault.Wrap(err); {
				case err == nil:
					stored.Add(1)
				case e.Code == fault.DatabaseUnreachable && e.RetryAfter > 0:
					shed.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		// Those who are sent away learn it while the database still hangs.
		for shed.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		letGo()
		all.Wait()
		f, err := s.Form(ctx, owner, p.ID)
		if err != nil || f.ResponseCount != stored.Load() || stored.Load() < 500 || stored.Load()+shed.Load() != many {
			t.Errorf("%d stored, %d acknowledged, %d sent away (%v)", f.ResponseCount, stored.Load(), shed.Load(), err)
		}
	})
}

// One that cannot be stored fails alone, whoever is in the batch with it.
func TestBatchMates(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, place storetest.Place) {
		owner := person(t, s, "ada@example.com").ID
		good, closed := opened(t, s, owner, small), opened(t, s, owner, small)
		if _, err := s.CloseForm(ctx, owner, closed.ID, 0, time.Now()); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		ids := sync.Map{}
		for i := range 200 {
			all.Go(func() {
				switch i % 4 {
				case 0:
					if _, err := add(s, closed, i); fault.Wrap(err).Code != fault.FormNotOpen {
						t.Errorf("to a closed form: %v", err)
					}
				case 1:
					r, err := s.SubmitResponse(ctx, store.Submission{Form: good, Answers: map[string]any{}, At: time.Now(), Key: store.IdempotencyKey{App: "x", Key: "same", Hash: "h"}})
					if ids.Store(r.ID, true); err != nil {
						t.Error(err)
					}
				default:
					if _, err := add(s, good, i); err != nil {
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
			if r.Serial != list[0].Serial+int64(i) && place.Engine == "sqlite" {
				t.Fatalf("serial %d at %d", r.Serial, i)
			}
		}
		if err != nil || len(list) != 101 {
			t.Errorf("%d in the feed (%v)", len(list), err)
		}
	})
}

// A closing date closes, also in counts.
func TestCloseDue(t *testing.T) {
	each(t, func(t *testing.T, s *store.Store, _ storetest.Place) {
		owner := person(t, s, "ada@example.com").ID
		p := opened(t, s, owner, small)
		soon := time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)
		if _, err := s.UpdateForm(ctx, owner, store.FormRevision{ID: p.ID}, func(plan *form.FormInput) error { plan.ClosesAt = soon; return nil }, time.Now()); err != nil {
			t.Fatal(err)
		}
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

// What SQLite puts beside the database can be read by its owner alone.
func TestPrivateFiles(t *testing.T) {
	t.Parallel()
	place := storetest.SQLite(t)
	s := storetest.Open(t, place)
	person(t, s, "ada@example.com")
	for _, name := range []string{"formulary.db", "formulary.db-wal"} {
		info, err := os.Stat(filepath.Join(place.Data, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
}

// Ids say when a response came, so they find spans of time.
func TestFirstSortsBefore(t *testing.T) {
	now := time.Now()
	for _, d := range []time.Duration{0, time.Millisecond, time.Hour, 1e6 * time.Hour} {
		made := id.New(id.Response, now.Add(d))
		if first := id.First(id.Response, now.Add(d)); first > made || id.First(id.Response, now.Add(d+time.Millisecond)) <= made {
			t.Error(fmt.Sprint(first, " ", made))
		}
	}
}
