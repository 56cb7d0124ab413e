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

// TestBackupUnderLoad: a backup that is taken under load contains every response that
// was acknowledged before it started, and can be restored to either database.
func TestBackupUnderLoad(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, storage storetest.Storage) {
		f := openSurvey(t, storage, 0)
		p := launch(t, storage)
		acknowledged := map[string]string{}
		var mu sync.Mutex
		done := make(chan struct{})
		var wg sync.WaitGroup
		for client := range 8 {
			wg.Go(func() {
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
		snapshot := func() map[string]string {
			mu.Lock()
			defer mu.Unlock()
			return maps.Clone(acknowledged)
		}
		p.waitUntil("taking submissions", func() bool { return len(snapshot()) > shortOrFull(200, 5000) })
		type backupRun struct {
			file   string
			before map[string]string
			took   time.Duration
		}
		var backups []backupRun
		for n := range shortOrFull(1, 5) {
			c := backupRun{file: filepath.Join(t.TempDir(), fmt.Sprintf("backup-%d", n)), before: snapshot()}
			start := time.Now()
			command(t, storage, "backup", c.file)
			c.took = time.Since(start)
			backups = append(backups, c)
		}
		close(done)
		wg.Wait()
		p.stop()
		newOtherPlace := map[string]func(testing.TB) storetest.Storage{"sqlite": storetest.Postgres, "postgres": storetest.SQLite}[storage.Engine]
		for _, c := range backups {
			target := newOtherPlace(t)
			command(t, target, "restore", c.file)
			restored := launch(t, target)
			storedNotes := restored.readStored(f)
			for id, note := range c.before {
				if storedNotes[id] != note {
					t.Errorf("%s was acknowledged for %s before the backup, which has %q", id, note, storedNotes[id])
				}
			}
			for id, note := range storedNotes {
				if acknowledged[id] != note {
					t.Errorf("%s is in the backup with %q, which was not acknowledged", id, note)
				}
			}
			restored.stop()
			reportFigure(t, "backup under load, restored into the other database", "%d acknowledged before it started, all of them among the %d restored; took %v",
				len(c.before), len(storedNotes), c.took.Round(time.Millisecond))
		}
	})
}

// command runs a command of the release build.
func command(t *testing.T, storage storetest.Storage, args ...string) {
	t.Helper()
	file, err := build()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(file, args...)
	cmd.Env = append(os.Environ(), "FORMULARY_DATA="+storage.Data, "FORMULARY_DATABASE_URL="+storage.URL)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
}
