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

// injected runs the program under strace, which tampers with what it asks of the
// kernel. The program stays the one that was started.
func injected(how string) []string {
	return []string{"strace", "-D", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e", "inject=fsync,fdatasync:" + how}
}

// When every write to the disk takes long, submissions wait together, and nothing
// is acknowledged before its time.
func TestSlowSync(t *testing.T) {
	place := storetest.SQLite(t)
	f := openSurvey(t, place, 0)
	p := launch(t, place, injected("delay_exit=200000")...)
	taken := map[string]string{}
	var mu sync.Mutex
	var all sync.WaitGroup
	start, longest := time.Now(), time.Duration(0)
	for client := range clients {
		all.Go(func() {
			for n := range 20 {
				note := fmt.Sprintf("%d-%d", client, n)
				begun := time.Now()
				a := p.post(f.page, submission(note))
				mu.Lock()
				if longest = max(longest, time.Since(begun)); a.status != http.StatusCreated {
					t.Errorf("with a slow disk: %s", a)
				}
				taken[a.ID] = note
				mu.Unlock()
			}
		})
	}
	all.Wait()
	took := time.Since(start)
	p.kill()
	if took/time.Duration(len(taken)) > 200*time.Millisecond {
		t.Errorf("%d submissions took %v: each waited for itself", len(taken), took)
	}
	p = launch(t, place)
	found := p.stored(f)
	for id, note := range taken {
		if found[id] != note {
			t.Errorf("%s was acknowledged for %s, what is there is %q", id, note, found[id])
		}
	}
	p.stop()
	figure(t, "every fsync takes 200 ms, then kill -9", "%d acknowledged at %.0f/s from %d clients, the longest after %v; none lost",
		len(taken), float64(len(taken))/took.Seconds(), clients, longest.Round(10*time.Millisecond))
}

// When the disk says that it failed, so does the service; what it then takes is
// there.
func TestFailingSync(t *testing.T) {
	place := storetest.SQLite(t)
	f := openSurvey(t, place, 0)
	p := launch(t, place, injected("error=EIO:when=10+3")...)
	taken, refused := map[string]string{}, map[string]bool{}
	for n := range 400 {
		note := fmt.Sprintf("note-%d", n)
		a := p.post(f.page, submission(note))
		if a.err == nil && a.status == http.StatusCreated {
			taken[a.ID] = note
			continue
		}
		if wrong := a.unavailable(); wrong != "" {
			t.Fatalf("with a failing disk: %s", wrong)
		}
		refused[note] = true
	}
	if len(taken) == 0 || len(refused) == 0 {
		t.Fatalf("%d were taken and %d refused", len(taken), len(refused))
	}
	p.kill()
	p = launch(t, place)
	found := p.stored(f)
	for id, note := range taken {
		if found[id] != note {
			t.Errorf("%s was acknowledged for %s, what is there is %q", id, note, found[id])
		}
	}
	unknown := 0
	for id, note := range found {
		if taken[id] == "" {
			if unknown++; !refused[note] {
				t.Errorf("%s is %q, which nobody sent", id, note)
			}
		}
	}
	p.stop()
	figure(t, "every third fsync fails, then kill -9", "%d acknowledged, none lost; %d refused with 503, %d of which are there", len(taken), len(refused), unknown)
}
