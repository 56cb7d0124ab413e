package cli_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"testing"

	"formulary/internal/store/storetest"
)

// TestStandbyAway: while the synchronous standby is down, nothing is acknowledged.
// Neither the first request with a key, whose commit is canceled while it waits for the
// standby, nor its repetition, which finds the row that the canceled commit left on the
// primary. After the primary is lost and the standby promoted, every acknowledged
// response is there.
func TestStandbyAway(t *testing.T) {
	t.Parallel()
	db := newPostgresPair(t)
	storage := storetest.Storage{Engine: "postgres", Data: t.TempDir(), URL: db.urls}
	f := openSurvey(t, storage, 0)
	p := launch(t, storage)

	acknowledged := map[string]string{} // notes by id
	before := p.post(f.page, submission("before"), "Idempotency-Key: before")
	if before.status != http.StatusCreated {
		t.Fatalf("before: %s", before)
	}
	acknowledged[before.ID] = "before"

	const keys = 6 // per way to submit
	pages := make([]url.Values, keys)
	for i := range pages {
		var err error
		if pages[i], err = p.openPage(f.page); err != nil {
			t.Fatal(err)
		}
	}
	draft := p.post("/api/v1/forms", `{"title": "Before"}`, "Authorization: Bearer "+f.token)
	if draft.status != http.StatusCreated {
		t.Fatalf("a draft: %s", draft)
	}
	db.standby.stop(syscall.SIGINT)

	for round := range 2 {
		var mu sync.Mutex
		var wg sync.WaitGroup
		record := func(name, note string, a httpResponse, acknowledged bool) {
			mu.Lock()
			defer mu.Unlock()
			if acknowledged {
				t.Errorf("round %d, %s %s was acknowledged without the standby: %s", round, name, note, a)
			}
		}
		for i := range keys {
			note := fmt.Sprint("json ", i)
			wg.Go(func() {
				a := p.post(f.page, submission(note), "Idempotency-Key: "+note)
				record("public JSON", note, a, a.status != http.StatusServiceUnavailable)
			})
			wg.Go(func() {
				a := p.post(f.path, submission(note), "Idempotency-Key: "+note, "Authorization: Bearer "+f.token)
				record("API", note, a, a.status != http.StatusServiceUnavailable)
			})
			wg.Go(func() {
				a := p.sendPage(f.page, pages[i], fmt.Sprint("page ", i))
				record("page", fmt.Sprint(i), a, a.status != http.StatusServiceUnavailable)
			})
		}
		wg.Go(func() {
			a := p.post("/api/v1/forms", `{"title": "Created"}`, "Idempotency-Key: created", "Authorization: Bearer "+f.token)
			record("creating a form", "", a, a.status != http.StatusServiceUnavailable)
		})
		wg.Go(func() {
			a := p.patch("/api/v1/forms/"+draft.ID, `{"title": "After"}`, f.token)
			record("changing a form", "", a, a.status != http.StatusServiceUnavailable)
		})
		wg.Wait()
	}
	if n := db.primary.queryInt("SELECT COUNT(*) FROM response"); n < 2 {
		t.Errorf("the primary has %d responses: no commit was canceled, so this test shows nothing", n)
	}

	db.primary.kill()
	db.standby.start()
	db.promote()
	p.waitUntil("ready again", func() bool { return p.get("/readyz", "").status == http.StatusOK })
	storedNotes := p.readStored(f)
	for id, note := range acknowledged {
		if storedNotes[id] != note {
			t.Errorf("%s was acknowledged for %s, but stored is %q", id, note, storedNotes[id])
		}
	}
	// Now that commits can be durable, each key stores one response.
	for i := range keys {
		note := fmt.Sprint("json ", i)
		var first httpResponse
		p.waitUntil("submissions work again", func() bool {
			first = p.post(f.page, submission(note), "Idempotency-Key: "+note)
			return first.status != http.StatusServiceUnavailable // of a connection from before the failover
		})
		second := p.post(f.page, submission(note), "Idempotency-Key: "+note)
		if first.status != http.StatusCreated || second.ID != first.ID {
			t.Errorf("%s after the failover: %s, then %s", note, first, second)
		}
	}
	p.stop()
	reportFigure(t, "synchronous standby stopped, keys repeated, primary lost", "%d keys refused twice with 503, none acknowledged, none lost", 3*keys+2)
}

func (p *program) patch(path, body, token string) httpResponse {
	r, err := http.NewRequest(http.MethodPatch, p.url+path, strings.NewReader(body))
	if err == nil {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return p.do(r, err)
}
