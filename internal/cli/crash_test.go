package cli_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"formulary/internal/store/storetest"
)

const (
	clients = 32
	// mostAnswers is how many answers a round lets through before the kill, at
	// most: enough that the kill meets every stage of a commit.
	mostAnswers = 400
)

// Whatever was answered with 201 is there, whole and exactly once, however often
// the service is killed in the middle of its work, and it is soon back.
func TestKilled(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		f := openSurvey(t, place, 0)
		acknowledged := map[string]string{}
		var starts []time.Duration
		kills := times(50, 500)
		for round := range kills {
			p := launch(t, place)
			starts = append(starts, p.took)
			for id, note := range p.submitUntilKilled(f, round) {
				if earlier, twice := acknowledged[id]; twice {
					t.Errorf("%s was acknowledged for %s and for %s", id, earlier, note)
				}
				acknowledged[id] = note
			}
		}
		p := launch(t, place)
		starts = append(starts, p.took)
		found := p.stored(f)
		p.stop()
		for id, note := range acknowledged {
			if kept, ok := found[id]; !ok || kept != note {
				t.Errorf("%s was acknowledged for %q, what is there is %q", id, note, kept)
			}
		}
		// What was stored and not acknowledged was on its way at a kill.
		notes := map[string]bool{}
		for id, note := range found {
			if notes[note] {
				t.Errorf("%s was stored twice", note)
			}
			notes[note] = true
			var round, client, n int
			if _, err := fmt.Sscanf(note, "%d-%d-%d", &round, &client, &n); err != nil {
				t.Errorf("%s is %q, which nobody sent", id, note)
			}
		}
		if extra := len(found) - len(acknowledged); extra > kills*clients {
			t.Errorf("%d were stored and not acknowledged, %d clients cannot have sent so many in %d rounds", extra, clients, kills)
		}
		// Some of them may be late because the machine was busy with others: it is
		// the one in the middle that counts.
		slices.Sort(starts)
		if usual := starts[len(starts)/2]; usual > readyLimit {
			t.Errorf("usually ready after %v, which is more than %v", usual, readyLimit)
		}
		figure(t, fmt.Sprintf("%d × kill -9", kills), "%d acknowledged, all there once; ready again after %v (median), %v (longest)",
			len(acknowledged), starts[len(starts)/2].Round(time.Millisecond), starts[len(starts)-1].Round(time.Millisecond))
	})
}

// submitUntilKilled submits from all sides, kills the program after some
// answers, and returns what was acknowledged: the notes by id.
func (p *program) submitUntilKilled(f survey, round int) map[string]string {
	p.t.Helper()
	acknowledged := map[string]string{}
	most := 1 + rand.IntN(mostAnswers)
	enough := make(chan struct{})
	var mu sync.Mutex
	dark := false // without power, nobody acknowledges anything
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() {
			for n := 0; ; n++ {
				note := fmt.Sprintf("%d-%d-%d", round, client, n)
				a := p.post(f.page, submission(note))
				if a.err != nil || p.beforeKill != nil && a.unavailable() == "" {
					return // killed, or about to be; half an answer is no acknowledgement
				}
				if a.status != http.StatusCreated {
					p.t.Errorf("%s: %s", note, a)
					return
				}
				mu.Lock()
				if !dark {
					acknowledged[a.ID] = note
				}
				if len(acknowledged) == most && !dark {
					close(enough)
				}
				mu.Unlock()
			}
		})
	}
	ended := make(chan struct{})
	go func() { all.Wait(); close(ended) }()
	select {
	case <-enough:
	case <-ended:
		p.t.Errorf("the service ended by itself\n%s", p.lastWords())
	case <-time.After(patience):
		p.t.Errorf("the service does not take submissions\n%s", p.lastWords())
	}
	mu.Lock()
	dark = p.beforeKill != nil
	mu.Unlock()
	p.kill()
	<-ended
	return acknowledged
}
