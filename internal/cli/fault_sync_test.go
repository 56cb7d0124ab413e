//go:build faults

package cli_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"formulary/internal/store/storetest"
)

// straceInject returns a wrapper that runs the program under strace, which delays or
// fails its fsync calls. The process ID stays that of the program.
func straceInject(fault string) []string {
	return []string{"strace", "-D", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e", "inject=fsync,fdatasync:" + fault}
}

// TestSlowSync: while every fsync is slow, submissions share commits, and nothing is
// acknowledged before its commit.
func TestSlowSync(t *testing.T) {
	storage := storetest.SQLite(t)
	f := openSurvey(t, storage, 0)
	p := launch(t, storage, straceInject("delay_exit=200000")...)
	accepted := map[string]string{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	start, longest := time.Now(), time.Duration(0)
	for client := range clients {
		wg.Go(func() {
			for n := range 20 {
				note := fmt.Sprintf("%d-%d", client, n)
				sentAt := time.Now()
				a := p.post(f.page, submission(note))
				mu.Lock()
				if longest = max(longest, time.Since(sentAt)); a.status != http.StatusCreated {
					t.Errorf("with a slow disk: %s", a)
				}
				accepted[a.ID] = note
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	took := time.Since(start)
	p.kill()
	if took/time.Duration(len(accepted)) > 200*time.Millisecond {
		t.Errorf("%d submissions took %v: commits were not shared", len(accepted), took)
	}
	p = launch(t, storage)
	storedNotes := p.readStored(f)
	for id, note := range accepted {
		if storedNotes[id] != note {
			t.Errorf("%s was acknowledged for %s, but stored is %q", id, note, storedNotes[id])
		}
	}
	p.stop()
	reportFigure(t, "every fsync takes 200 ms, then kill -9", "%d acknowledged at %.0f/s from %d clients, the longest after %v; none lost",
		len(accepted), float64(len(accepted))/took.Seconds(), clients, longest.Round(10*time.Millisecond))
}

// TestFailingSync: when fsync fails, the service refuses the response. Everything that
// it acknowledges is stored.
func TestFailingSync(t *testing.T) {
	storage := storetest.SQLite(t)
	f := openSurvey(t, storage, 0)
	p := launch(t, storage, straceInject("error=EIO:when=10+3")...)
	accepted, refused := map[string]string{}, map[string]bool{}
	for n := range 400 {
		note := fmt.Sprintf("note-%d", n)
		a := p.post(f.page, submission(note))
		if a.err == nil && a.status == http.StatusCreated {
			accepted[a.ID] = note
			continue
		}
		if problem := a.unavailable(); problem != "" {
			t.Fatalf("with a failing disk: %s", problem)
		}
		refused[note] = true
	}
	if len(accepted) == 0 || len(refused) == 0 {
		t.Fatalf("%d were accepted and %d refused", len(accepted), len(refused))
	}
	p.kill()
	p = launch(t, storage)
	storedNotes := p.readStored(f)
	for id, note := range accepted {
		if storedNotes[id] != note {
			t.Errorf("%s was acknowledged for %s, but stored is %q", id, note, storedNotes[id])
		}
	}
	storedAnyway := 0
	for id, note := range storedNotes {
		if accepted[id] == "" {
			if storedAnyway++; !refused[note] {
				t.Errorf("%s is %q, which no client sent", id, note)
			}
		}
	}
	p.stop()
	reportFigure(t, "every third fsync fails, then kill -9", "%d acknowledged, none lost; %d refused with 503, %d of which were stored", len(accepted), len(refused), storedAnyway)
}
