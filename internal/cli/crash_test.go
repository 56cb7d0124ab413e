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
	// maxAnswersBeforeKill bounds the responses of a round. It is high enough that
	// kills hit every stage of a commit.
	maxAnswersBeforeKill = 400
)

// TestKilled: after any number of kills under load, every response that was answered
// with 201 is stored exactly once, and the service is ready soon after a start.
func TestKilled(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, storage storetest.Storage) {
		f := openSurvey(t, storage, 0)
		acknowledged := map[string]string{}
		var starts []time.Duration
		kills := shortOrFull(15, 500)
		for round := range kills {
			p := launch(t, storage)
			starts = append(starts, p.readyAfter)
			for id, note := range p.submitUntilKilled(f, round) {
				if earlier, ok := acknowledged[id]; ok {
					t.Errorf("%s was acknowledged for %s and for %s", id, earlier, note)
				}
				acknowledged[id] = note
			}
		}
		p := launch(t, storage)
		starts = append(starts, p.readyAfter)
		storedNotes := p.readStored(f)
		p.stop()
		for id, note := range acknowledged {
			if stored, ok := storedNotes[id]; !ok || stored != note {
				t.Errorf("%s was acknowledged for %q, but stored is %q", id, note, stored)
			}
		}
		// Responses that are stored but not acknowledged were in flight at a kill.
		notes := map[string]bool{}
		for id, note := range storedNotes {
			if notes[note] {
				t.Errorf("%s was stored twice", note)
			}
			notes[note] = true
			var round, client, n int
			if _, err := fmt.Sscanf(note, "%d-%d-%d", &round, &client, &n); err != nil {
				t.Errorf("%s is %q, which no client sent", id, note)
			}
		}
		if extra := len(storedNotes) - len(acknowledged); extra > kills*clients {
			t.Errorf("%d were stored and not acknowledged, %d clients cannot have sent so many in %d rounds", extra, clients, kills)
		}
		// A single start may be slow on a busy machine, so the median counts.
		slices.Sort(starts)
		if medianStart := starts[len(starts)/2]; fullRun && medianStart > readyLimit {
			t.Errorf("usually ready after %v, which is more than %v", medianStart, readyLimit)
		}
		reportFigure(t, fmt.Sprintf("%d × kill -9", kills), "%d acknowledged, each stored once; ready again after %v (median), %v (longest)",
			len(acknowledged), starts[len(starts)/2].Round(time.Millisecond), starts[len(starts)-1].Round(time.Millisecond))
	})
}

// submitUntilKilled submits from many clients, kills the program after some responses,
// and returns the acknowledged notes by response ID.
func (p *program) submitUntilKilled(f survey, round int) map[string]string {
	p.t.Helper()
	acknowledged := map[string]string{}
	maxAnswers := 1 + rand.IntN(maxAnswersBeforeKill)
	enoughAnswers := make(chan struct{})
	var mu sync.Mutex
	// After a power loss, nothing counts as acknowledged: the process outlives it only here, and
	// a sync that the loss overtakes may end without an error.
	powerLost := false
	var wg sync.WaitGroup
	for client := range clients {
		wg.Go(func() {
			for n := 0; ; n++ {
				note := fmt.Sprintf("%d-%d-%d", round, client, n)
				a := p.post(f.page, submission(note))
				if a.err != nil || p.beforeKill != nil && a.unavailable() == "" {
					return // killed, or about to be; a partial response is no acknowledgement
				}
				if a.status != http.StatusCreated {
					p.t.Errorf("%s: %s", note, a)
					return
				}
				mu.Lock()
				if !powerLost {
					acknowledged[a.ID] = note
				}
				if len(acknowledged) == maxAnswers && !powerLost {
					close(enoughAnswers)
				}
				mu.Unlock()
			}
		})
	}
	ended := make(chan struct{})
	go func() { wg.Wait(); close(ended) }()
	select {
	case <-enoughAnswers:
	case <-ended:
		p.t.Errorf("the service ended by itself\n%s", p.logTail())
	case <-time.After(waitTimeout):
		p.t.Errorf("the service does not take submissions\n%s", p.logTail())
	}
	mu.Lock()
	powerLost = p.beforeKill != nil
	mu.Unlock()
	p.kill()
	<-ended
	return acknowledged
}
