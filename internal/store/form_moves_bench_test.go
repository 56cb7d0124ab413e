package store_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"formulary/internal/account"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// manyAnswersSQL is the answers of response i.
var manyAnswersSQL = map[string]string{
	"sqlite":   `'{"n": ' || i || ', "text": "%s"}'`,
	"postgres": `CAST('{"n": ' || i || ', "text": "%s"}' AS JSONB)`,
}

// addResponses stores n responses of 200 bytes, and the idempotency keys of a tenth of them.
func addResponses(t testing.TB, s *store.Store, engine string, p *store.PublicForm, n int) {
	t.Helper()
	text := fmt.Sprintf(manyAnswersSQL[engine], "A response has about two hundred bytes of answers, which is a name, an address, a choice or two, and a sentence that says what else there is to say.")
	const numbers = ` WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < %d) `
	const digits = `SUBSTR('00000000000000000000000000', 1, 26 - LENGTH(CAST(i AS TEXT))) || CAST(i AS TEXT)`
	for _, sql := range []string{
		`INSERT INTO response (account_id, form_id, id, serial, version, submitted_at, answers, metadata)` + fmt.Sprintf(numbers, n) +
			`SELECT '` + p.Owner + `', '` + p.ID + `', 'rsp_' || ` + digits + `, i, 1, i, ` + text + `, '{}' FROM numbers`,
		`INSERT INTO idempotency (account_id, app_id, key, hash, resource_id, created_at)` + fmt.Sprintf(numbers, n/10) +
			`SELECT '` + p.Owner + `', 'page/` + p.ID + `', 'key ' || i, 'a hash', 'rsp_' || ` + digits + `, ` + strconv.FormatInt(time.Now().UnixMilli(), 10) + ` FROM numbers`,
		fmt.Sprintf(`UPDATE form SET response_count = %d, response_serial = %d WHERE account_id = '%s' AND id = '%s'`, n, n, p.Owner, p.ID),
	} {
		if err := s.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
}

// BenchmarkMove moves a form with MOVE_RESPONSES (100,000) responses, and reports how long
// respondents get 503, and how long submissions of another account take.
func BenchmarkMove(b *testing.B) {
	n, err := strconv.Atoi(os.Getenv("MOVE_RESPONSES"))
	if err != nil {
		n = 100_000
	}
	for _, storage := range []func(testing.TB) storetest.Storage{storetest.SQLite, storetest.Postgres} {
		storage := storage(b)
		b.Run(storage.Engine, func(b *testing.B) { benchmarkMove(b, storage, n) })
	}
}

func benchmarkMove(b *testing.B, storage storetest.Storage, n int) {
	s := storetest.Open(b, storage)
	now := time.Now()
	var people [2]account.User
	var forms [2]*store.PublicForm
	for i := range people {
		var err error
		if people[i], err = s.AddUser(ctx, account.User{ID: id.New(id.User, now), Email: fmt.Sprintf("user%d@example.com", i), Language: "en", CreatedAt: now}); err != nil {
			b.Fatal(err)
		}
		forms[i] = openForm(b, s, people[i].ID, small)
	}
	space := store.Space{Key: id.New(id.User, now), Name: "Team"}
	if err := s.AddSpace(ctx, space, people[0], now); err != nil {
		b.Fatal(err)
	}
	addResponses(b, s, storage.Engine, forms[0], n)
	owners := []string{people[0].ID, space.Key}
	for b.Loop() {
		stop, cancel := context.WithCancel(ctx)
		var others sync.WaitGroup
		var waits []time.Duration
		var away time.Duration
		others.Go(func() {
			for ; stop.Err() == nil; time.Sleep(time.Millisecond) {
				start := time.Now()
				if _, err := submit(s, forms[1], 1); err != nil {
					b.Error(err)
				}
				waits = append(waits, time.Since(start))
			}
		})
		others.Go(func() {
			var since time.Time
			for ; stop.Err() == nil; time.Sleep(time.Millisecond) {
				_, err := s.PublicForm(ctx, forms[0].ID)
				switch {
				case err != nil && since.IsZero():
					since = time.Now()
				case err == nil && !since.IsZero():
					away += time.Since(since)
					since = time.Time{}
				}
			}
		})
		time.Sleep(time.Second)
		quiet := slices.Clone(waits)
		start := time.Now()
		if err := s.StartMove(ctx, owners[0], forms[0].ID, owners[1], time.Now()); err != nil {
			b.Fatal(err)
		}
		if err := s.ContinueMoves(ctx, time.Now()); err != nil {
			b.Fatal(err)
		}
		took := time.Since(start)
		time.Sleep(10 * time.Millisecond)
		cancel()
		others.Wait()
		slices.Reverse(owners)
		busy := waits[len(quiet):]
		slices.Sort(quiet)
		slices.Sort(busy)
		at := func(list []time.Duration, percent int) time.Duration {
			return list[min(len(list)-1, len(list)*percent/100)].Round(100 * time.Microsecond)
		}
		f, err := s.Form(ctx, owners[0], forms[0].ID)
		b.Logf("%d responses (%v): moved in %v, away for %v; submissions of others: %d with median %v, 99%% %v, longest %v; before: median %v, 99%% %v", f.ResponseCount, err,
			took.Round(time.Millisecond), away.Round(time.Millisecond), len(busy), at(busy, 50), at(busy, 99), at(busy, 100), at(quiet, 50), at(quiet, 99))
	}
}
