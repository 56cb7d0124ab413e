package cli_test

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"formulary/internal/store/storetest"
)

// A backup that is taken while submissions arrive has everything that was
// acknowledged before it began, whole, and can be read into either database.
func TestBackupUnderLoad(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		f := openSurvey(t, place, 0)
		p := launch(t, place)
		acknowledged := map[string]string{}
		var mu sync.Mutex
		done := make(chan struct{})
		var all sync.WaitGroup
		for client := range 8 {
			all.Go(func() {
				for n := 0; ; n++ {
					select {
					case <-done:
						return
					default:
					}
					note := fmt.Sprintf("%d-%d", client, n)
					a := p.post(f.page, submission(note))
					if a.err != nil || a.status != http.StatusCreated {
						t.Errorf("while a backup is taken: %s", a)
						return
					}
					mu.Lock()
					acknowledged[a.ID] = note
					mu.Unlock()
				}
			})
		}
		known := func() map[string]string {
			mu.Lock()
			defer mu.Unlock()
			return maps.Clone(acknowledged)
		}
		p.eventually("taking submissions", func() bool { return len(known()) > times(200, 5000) })
		type copied struct {
			file   string
			before map[string]string
			took   time.Duration
		}
		var copies []copied
		for n := range times(1, 5) {
			c := copied{file: filepath.Join(t.TempDir(), fmt.Sprintf("backup-%d", n)), before: known()}
			start := time.Now()
			command(t, place, "backup", c.file)
			c.took = time.Since(start)
			copies = append(copies, c)
		}
		close(done)
		all.Wait()
		p.stop()
		other := map[string]func(testing.TB) storetest.Place{"sqlite": storetest.Postgres, "postgres": storetest.SQLite}[place.Engine]
		for _, c := range copies {
			elsewhere := other(t)
			command(t, elsewhere, "restore", c.file)
			q := launch(t, elsewhere)
			found := q.stored(f)
			for id, note := range c.before {
				if found[id] != note {
					t.Errorf("%s was acknowledged for %s before the backup, in which it is %q", id, note, found[id])
				}
			}
			for id, note := range found {
				if acknowledged[id] != note {
					t.Errorf("%s is in the backup with %q, which nobody was told of", id, note)
				}
			}
			q.stop()
			figure(t, "backup under load, read into the other database", "%d acknowledged before it began, all there among %d; taken in %v",
				len(c.before), len(found), c.took.Round(time.Millisecond))
		}
	})
}

// command runs the released program once.
func command(t *testing.T, place storetest.Place, words ...string) {
	t.Helper()
	file, err := build()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(file, words...)
	cmd.Env = append(os.Environ(), "FORMULARY_DATA="+place.Data, "FORMULARY_DATABASE_URL="+place.URL)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", words, err, out)
	}
}
