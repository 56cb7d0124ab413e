package store

import (
	"context"
	"sort"
	"strconv"
	"sync"
	"time"

	"formulary/internal/db"
	"formulary/internal/form"
	"formulary/internal/id"
)

// Visits of forms are counted in memory and added to the database in the background, so that
// no respondent waits for it. Only sums are stored. A node that is killed loses the counts of
// its last seconds.

// VisitKind is what a respondent did.
type VisitKind string

// Each visit reaches screens with ascending numbers. It passes all of them but the last one,
// and that one too if it finishes. So those who left at a screen reached it and did not pass it.
const (
	VisitOpened   VisitKind = "opened"   // the first screen was shown
	VisitReached  VisitKind = "reached"  // a later screen was shown for the first time
	VisitPassed   VisitKind = "passed"   // a further screen was shown, or the response was stored
	VisitFinished VisitKind = "finished" // the response was stored
	VisitTime     VisitKind = "time"     // how long it took from opening to storing
)

// Visit is something to count.
type Visit struct {
	Kind VisitKind
	Part string // ID of the screen; of a time, the number of its bucket
}

const (
	visitInterval = time.Second // how often counts are stored
	// visitPause times the duration of storing is how long the next counts wait at least.
	visitPause = 20
	// maxVisitCounters bounds the counters in memory. When it is reached, new ones are not
	// counted until the others are stored.
	maxVisitCounters = 20_000
	// visitWriters is how many forms are stored at the same time; on SQLite they share commits.
	visitWriters = 8
	// visitRetention is how many days counts are kept: two years and a month.
	visitRetention = 2*365 + 31

	dayMillis = 24 * 60 * 60 * 1000
)

const (
	// It locks the form, so that nothing is added to a form that is being deleted.
	lockVisitsSQL = `UPDATE form SET version = version WHERE account_id = $1 AND id = $2`
	addVisitSQL   = `INSERT INTO form_visit (account_id, form_id, day, version, kind, part, n) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (account_id, form_id, day, version, kind, part) DO UPDATE SET n = form_visit.n + excluded.n`
	dropVisitsSQL = `DELETE FROM form_visit WHERE account_id = $1 AND form_id = $2 AND day < $3`
	visitsSQL     = `SELECT version, kind, part, CAST(SUM(n) AS BIGINT) FROM form_visit
		WHERE account_id = $1 AND form_id = $2 AND day >= $3 AND day < $4 GROUP BY version, kind, part`
)

type visitKey struct {
	owner, formID string
	day, version  int64
	Visit
}

// visitCounts are the counts that are not stored yet.
type visitCounts struct {
	mu     sync.Mutex
	counts map[visitKey]int64
	timer  *time.Timer
	took   time.Duration // of storing the last ones
	closed bool
}

// CountVisit counts what a respondent does in a form. It does not wait for the database.
func (s *Store) CountVisit(f *PublicForm, at time.Time, list ...Visit) {
	key := visitKey{owner: f.Owner, formID: f.ID, day: at.UnixMilli() / dayMillis, version: f.Version}
	v := &s.visits
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return
	}
	if v.counts == nil {
		v.counts = map[visitKey]int64{}
	}
	for _, key.Visit = range list {
		if n, ok := v.counts[key]; ok || len(v.counts) < maxVisitCounters {
			v.counts[key] = n + 1
		}
	}
	if v.timer == nil {
		s.background.Add(1)
		v.timer = time.AfterFunc(max(visitInterval, visitPause*v.took), func() {
			defer s.background.Done()
			s.storeVisits()
		})
	}
}

// storeVisits adds the counts in memory to the database. Errors are ignored: the counts are
// best effort.
func (s *Store) storeVisits() {
	s.visits.mu.Lock()
	counts := s.visits.counts
	s.visits.counts, s.visits.timer = nil, nil
	s.visits.mu.Unlock()
	began := time.Now()
	keys := make([]visitKey, 0, len(counts))
	for key := range counts {
		keys = append(keys, key)
	}
	sort.Slice(keys, func(i, j int) bool { return keys[i].formID < keys[j].formID })
	var writers sync.WaitGroup
	slots := make(chan struct{}, visitWriters)
	for from := 0; from < len(keys); {
		to := from + 1
		for to < len(keys) && keys[to].formID == keys[from].formID {
			to++
		}
		ofForm := keys[from:to]
		from = to
		slots <- struct{}{}
		writers.Go(func() {
			s.storeFormVisits(ofForm, counts)
			<-slots
		})
	}
	writers.Wait()
	s.visits.mu.Lock()
	s.visits.took = min(time.Since(began), time.Minute)
	s.visits.mu.Unlock()
}

// storeFormVisits adds the counts of one form, and drops those that are too old.
func (s *Store) storeFormVisits(keys []visitKey, counts map[visitKey]int64) error {
	owner, formID := keys[0].owner, keys[0].formID
	return s.db.Write(attributed(context.Background(), owner), func(t db.Tx) error {
		if n, err := t.Exec(lockVisitsSQL, owner, formID); err != nil || n == 0 {
			return err
		}
		for _, key := range keys {
			if _, err := t.Exec(addVisitSQL, owner, formID, key.day, key.version, string(key.Kind), key.Part, counts[key]); err != nil {
				return err
			}
		}
		_, err := t.Exec(dropVisitsSQL, owner, formID, keys[0].day-visitRetention)
		return err
	})
}

// closeVisits stores the remaining counts.
func (s *Store) closeVisits() {
	s.visits.mu.Lock()
	s.visits.closed = true
	if s.visits.timer != nil && s.visits.timer.Stop() {
		s.background.Done()
	}
	s.visits.mu.Unlock()
	s.storeVisits()
}

// VisitTotals are the visits of some days.
type VisitTotals struct {
	Opened, Finished int64
	Times            form.FillTimes
	Screens          map[string]ScreenVisits // by ID
}

// ScreenVisits are the visits that reached a screen, and those that went further.
type ScreenVisits struct{ Reached, Passed int64 }

// Visits returns the visits of a form by version. The days are those of UTC with the dates of
// the given times; until is exclusive, and zero times do not limit.
func (s *Store) Visits(ctx context.Context, owner, formID string, since, until time.Time) (_ map[int64]*VisitTotals, err error) {
	defer wrap(&err, "read visits")
	if _, ok := id.Parse(id.Form, formID); !ok {
		return map[int64]*VisitTotals{}, nil
	}
	from, to := int64(0), int64(1<<40)
	if !since.IsZero() {
		from = dayNumber(since)
	}
	if !until.IsZero() {
		to = dayNumber(until)
		if until.After(startOfDay(until)) {
			to++
		}
	}
	versions := map[int64]*VisitTotals{}
	err = s.db.Query(ctx, visitsSQL, func(r db.Row) error {
		var version, n int64
		var kind, part string
		if err := r.Scan(&version, &kind, &part, &n); err != nil {
			return err
		}
		if versions[version] == nil {
			versions[version] = NewVisitTotals()
		}
		versions[version].count(VisitKind(kind), part, n)
		return nil
	}, owner, formID, from, to)
	return versions, err
}

func startOfDay(t time.Time) time.Time {
	year, month, day := t.Date()
	return time.Date(year, month, day, 0, 0, 0, 0, t.Location())
}

// dayNumber is the day with the date of a time.
func dayNumber(t time.Time) int64 {
	year, month, day := t.Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC).UnixMilli() / dayMillis
}

// NewVisitTotals returns totals without visits.
func NewVisitTotals() *VisitTotals {
	return &VisitTotals{Times: form.FillTimes{}, Screens: map[string]ScreenVisits{}}
}

func (v *VisitTotals) count(kind VisitKind, part string, n int64) {
	screen := v.Screens[part]
	switch kind {
	case VisitOpened:
		v.Opened += n
		screen.Reached += n
	case VisitReached:
		screen.Reached += n
	case VisitPassed:
		screen.Passed += n
	case VisitFinished:
		v.Finished += n
		return
	case VisitTime:
		if bucket, err := strconv.Atoi(part); err == nil {
			v.Times[bucket] += n
		}
		return
	}
	v.Screens[part] = screen
}

// Add adds other totals.
func (v *VisitTotals) Add(other *VisitTotals) {
	v.Opened += other.Opened
	v.Finished += other.Finished
	for bucket, n := range other.Times {
		v.Times[bucket] += n
	}
	for id, screen := range other.Screens {
		sum := v.Screens[id]
		v.Screens[id] = ScreenVisits{sum.Reached + screen.Reached, sum.Passed + screen.Passed}
	}
}
