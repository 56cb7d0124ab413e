package store_test

import (
	"slices"
	"testing"
	"time"

	"formulary/internal/form"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// IDs increase in the order of storing even if the clocks of nodes differ, so a reader
// of the feed gets every response once, wherever it resumes.
func TestOrderAcrossClocks(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, storage storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		p := openForm(t, s, owner, small)
		nodes := []*store.Store{s, storetest.Open(t, storage), storetest.Open(t, storage)}
		start := time.Now()
		clocks := []time.Time{start, start.Add(time.Hour), start.Add(-time.Hour)}
		var want []string
		for i := range 200 {
			node := i * 7 % 3
			r, err := nodes[node].SubmitResponse(ctx, store.Submission{Form: p, Answers: map[string]any{}, At: clocks[node]})
			if err != nil {
				t.Fatal(err)
			}
			if r.Serial != int64(i)+1 || r.SubmittedAt.Before(clocks[node].Truncate(time.Millisecond)) {
				t.Fatalf("response %d has serial %d and time %s, submitted at %s", i, r.Serial, r.SubmittedAt, clocks[node])
			}
			want = append(want, r.ID)
		}
		if !slices.IsSorted(want) {
			t.Errorf("the IDs do not increase")
		}
		for _, after := range []int{0, 1, 63, 64, 65, 127, 128, 199, 200} {
			id, err := s.ResponseAt(ctx, owner, p.ID, int64(after))
			wantID := ""
			if after > 0 {
				wantID = want[after-1]
			}
			if err != nil || id != wantID {
				t.Errorf("at %d is %s, want %s (%v)", after, id, wantID, err)
			}
			list, err := s.ResponsesAfter(ctx, owner, p.ID, id, 1000)
			if got := idsOf(list); err != nil || !slices.Equal(got, want[after:]) {
				t.Errorf("after %d there are %d (%v)", after, len(got), err)
			}
		}
	})
}

func idsOf(list []form.Response) []string {
	ids := make([]string, len(list))
	for i, r := range list {
		ids[i] = r.ID
	}
	return ids
}

// Every 64th response is indexed by its serial. If just these are deleted, all others
// are still found, on every page and from every position of the feed.
func TestOrderWithoutIndexedSerials(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		p := openForm(t, s, owner, small)
		var left []form.Response
		for i := range 400 {
			r, err := submit(s, p, i)
			if err != nil {
				t.Fatal(err)
			}
			if r.Serial%64 != 0 && r.Serial != 399 {
				left = append(left, r)
			} else if err := s.DeleteResponse(ctx, owner, p.ID, r.ID, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		ids := idsOf(left)
		for i, r := range left {
			if id, err := s.ResponseAt(ctx, owner, p.ID, r.Serial); err != nil || id != r.ID {
				t.Fatalf("at %d is %s (%v)", r.Serial, id, err)
			}
			list, err := s.ResponsesAfter(ctx, owner, p.ID, r.ID, 3)
			if got := idsOf(list); err != nil || !slices.Equal(got, ids[i+1:min(i+4, len(ids))]) {
				t.Fatalf("after %d come %v (%v)", r.Serial, got, err)
			}
			newer, older, err := s.Neighbors(ctx, owner, r)
			if err != nil {
				t.Fatal(err)
			}
			if i > 0 && older != ids[i-1] {
				t.Fatalf("%s is before %d, want %s", older, r.Serial, ids[i-1])
			}
			if i+1 < len(ids) && newer != ids[i+1] {
				t.Fatalf("%s is after %d, want %s", newer, r.Serial, ids[i+1])
			}
		}
		slices.Reverse(ids)
		for offset := 0; offset < len(ids); offset += 10 {
			page, total, err := s.Responses(ctx, owner, p.ID, store.ResponseFilter{}, store.Page{Limit: 10, Offset: int64(offset)})
			if got := idsOf(page); err != nil || total != int64(len(ids)) || !slices.Equal(got, ids[offset:min(offset+10, len(ids))]) {
				t.Fatalf("at %d: %v of %d (%v)", offset, got, total, err)
			}
		}
	})
}

// A database of an earlier version, in which IDs and serials did not increase together,
// is reordered: existing responses are read once, and new ones come after them.
func TestUpgradeReordersResponses(t *testing.T) {
	const before, n = 5, 150
	t.Parallel()
	storetest.Each(t, func(t *testing.T, storage storetest.Storage) {
		s := openAtSchema(t, storage, before)
		owner := id.New(id.User, time.Now())
		execute := func(sql string, args ...any) {
			t.Helper()
			if err := s.Exec(ctx, sql, args...); err != nil {
				t.Fatal(err)
			}
		}
		// Inserted with the columns of schema 5; current methods use later columns.
		execute(`INSERT INTO account (id, email, email_key, name, language, role, password, created_at)
			VALUES ($1, 'ada@example.com', 'ada@example.com', '', 'en', 'operator', '', 1)`, owner)
		formID := id.New(id.Form, time.Now())
		execute(`INSERT INTO form (account_id, id, serial, title, description, language, status, version, created_at, updated_at, title_key, search_key)
			VALUES ($1, $2, 1, 'Order', '', 'en', 'open', 1, 1, 1, 'order', 'order')`, owner, formID)
		execute(`INSERT INTO form_version (account_id, form_id, version, title, description, language, definition, published_at)
			VALUES ($1, $2, 1, 'Order', '', 'en', $3, 1)`, owner, formID, small)
		execute("INSERT INTO form_address (address, account_id, form_id) VALUES ($2, $1, $2)", owner, formID)
		ahead := time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)
		var ids []string
		for i := range n {
			at := ahead.Add(time.Duration(i) * time.Millisecond)
			ids = append(ids, id.New(id.Response, at))
			// Two nodes, one of them late: 2, 1, 4, 3, ...
			execute("INSERT INTO response (account_id, form_id, id, serial, version, submitted_at, answers, metadata) VALUES ($1, $2, $3, $4, 1, $5, $6, '{}')",
				owner, formID, ids[i], int64(i^1)+1, at.UnixMilli(), `{"n":1}`)
		}
		execute("UPDATE form SET response_serial = $3, response_count = $3 WHERE account_id = $1 AND id = $2", owner, formID, int64(n))
		execute("INSERT INTO form_summary (account_id, form_id, serial, edits, summary) VALUES ($1, $2, 77, 0, '')", owner, formID)

		execute("INSERT INTO trash (account_id, id, form_id, content, deleted_at) VALUES ($1, $2, $3, '{}', 0)", owner, id.New(id.Response, ahead), formID)

		if _, err := s.Migrate(ctx); err != nil {
			t.Fatal(err)
		}
		p, err := s.PublicForm(ctx, formID)
		if err != nil {
			t.Fatal(err)
		}
		// Its serial would collide with another one.
		if kept, err := s.Rows(ctx, 1, "SELECT id FROM trash"); err != nil || len(kept) != 0 {
			t.Errorf("in the trash: %v (%v)", kept, err)
		}
		next, err := submit(s, p, 1)
		if err != nil || next.ID <= ids[n-1] || next.Serial != n+1 {
			t.Errorf("the next one is %s with the serial %d (%v)", next.ID, next.Serial, err)
		}
		ids = append(ids, next.ID)
		var got []string
		for after := ""; ; {
			list, err := s.ResponsesAfter(ctx, owner, formID, after, 7)
			if err != nil {
				t.Fatal(err)
			}
			if len(list) == 0 {
				break
			}
			got, after = append(got, idsOf(list)...), list[len(list)-1].ID
		}
		if !slices.Equal(got, ids) {
			t.Errorf("read %d of %d, or in the wrong order", len(got), len(ids))
		}
		if sum, err := s.Summary(ctx, owner, formID); err != nil || sum.Responses != n+1 {
			t.Errorf("the summary counts %d (%v)", sum.Responses, err)
		}
	})
}

// A form that an earlier version deleted, without storing its tick, continues after its
// existing responses when it is restored.
func TestOrderAfterRestore(t *testing.T) {
	forEachEngine(t, func(t *testing.T, s *store.Store, _ storetest.Storage) {
		owner := addUser(t, s, "ada@example.com").ID
		p := openForm(t, s, owner, small)
		last, err := s.SubmitResponse(ctx, store.Submission{Form: p, Answers: map[string]any{}, At: time.Now().Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.DeleteForm(ctx, owner, p.ID, 0, time.Now()); err != nil {
			t.Fatal(err)
		}
		if err := s.Exec(ctx, `UPDATE trash SET content = REPLACE(content, '"ResponseTick"', '"NoSuch"') WHERE account_id = $1`, owner); err != nil {
			t.Fatal(err)
		}
		if _, err := s.RestoreForm(ctx, owner, p.ID, time.Now()); err != nil {
			t.Fatal(err)
		}
		if next, err := submit(s, p, 1); err != nil || next.ID <= last.ID {
			t.Errorf("after %s comes %s (%v)", last.ID, next.ID, err)
		}
	})
}
