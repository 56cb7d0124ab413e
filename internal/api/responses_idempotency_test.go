package api_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// A repeated submission returns the first result, whatever happened to the form since.
func TestRepeatedSubmission(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		const definition = `{"title": "Once", "fields": [{"id": "f1", "key": "n", "kind": "number"}%s]}`
		for name, change := range map[string]func(path string){
			"closed":              func(path string) { w.expectCode("close", w.Call("POST", path+"/close", w.ada, ""), 0) },
			"another calculation": republish(w, definition, `, {"id": "f2", "key": "twice", "kind": "calculated", "expression": "n * 2"}`),
			"another question":    republish(w, definition, `, {"id": "f2", "key": "more", "kind": "short_text", "required": true}`),
		} {
			path := w.openForm(w.ada, fmt.Sprintf(definition, ""))
			id := path[strings.LastIndex(path, "/")+1:]
			for where, send := range map[string]func() string{
				"the API": func() string {
					return w.Call("POST", path+"/responses", w.ada, `{"answers": {"n": 1}}`, "Idempotency-Key: a").String("id")
				},
				"the address": func() string {
					return w.Call("POST", "/f/"+id, "", `{"answers": {"n": 1}}`, "Idempotency-Key: a").String("id")
				},
			} {
				first := send()
				change(path)
				if again := send(); first == "" || again != first {
					t.Errorf("%s, %s: %q, then %q", name, where, first, again)
				}
				w.expectCode("open again", w.Call("POST", path+"/publish", w.ada, ""), 0)
				w.expectCode("restore the draft", w.Call("PATCH", path, w.ada, fmt.Sprintf(definition, "")), 0)
				w.expectCode("open again", w.Call("POST", path+"/publish", w.ada, ""), 0)
			}
			w.expectCode(name+", with other answers", w.Call("POST", path+"/responses", w.ada, `{"answers": {"n": 2}}`, "Idempotency-Key: a"), 409002)
		}
		// Many clients submit the last possible response at the same time.
		path := w.openForm(w.ada, fmt.Sprintf(definition, ""))
		w.expectCode("a limit", w.Call("PATCH", path, w.ada, `{"response_limit": 1}`), 0)
		var all sync.WaitGroup
		ids := make([]string, 16)
		for i := range ids {
			all.Go(func() {
				ids[i] = w.Call("POST", path+"/responses", w.ada, `{"answers": {"n": 1}}`, "Idempotency-Key: a").String("id")
			})
		}
		all.Wait()
		for _, id := range ids {
			if id == "" || id != ids[0] {
				t.Errorf("the same submission resulted in %q and %q", ids[0], id)
			}
		}
	})
}

func republish(w *fixture, definition, more string) func(path string) {
	return func(path string) {
		w.expectCode("change", w.Call("PATCH", path, w.ada, fmt.Sprintf(definition, more)), 0)
		w.expectCode("publish", w.Call("POST", path+"/publish", w.ada, ""), 0)
	}
}

// The option limits of the published version apply, whichever version a response
// answers or an edit changes.
func TestOptionLimitsAcrossVersions(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		definition := func(most int) string {
			return fmt.Sprintf(`{"title": "Places", "fields": [{"id": "f1", "key": "when", "kind": "single_choice",
				"options": [{"value": "am", "label": "Morning", "cap": %d}, {"value": "pm", "label": "Afternoon"}]}, {"id": "f2", "key": "n", "kind": "number"}]}`, most)
		}
		path := w.openForm(w.ada, definition(0))
		send := func(when string) string {
			return w.Call("POST", path+"/responses", w.ada, `{"answers": {"when": "`+when+`"}}`).String("id")
		}
		first := send("am")
		cap := func(most int) {
			w.expectCode("set the limit", w.Call("PATCH", path, w.ada, definition(most)), 0)
			w.expectCode("publish", w.Call("POST", path+"/publish", w.ada, ""), 0)
		}
		cap(1)
		change := func(answers string) int {
			return w.Call("PATCH", path+"/responses/"+first, w.ada, `{"answers": `+answers+`}`).StatusCode
		}
		if got := []any{send("am"), change(`{"when": "am", "n": 5}`), send("am")}; got[0] != "" || got[1] != 200 || got[2] != "" {
			t.Errorf("option at its limit: %v", got)
		}
		// A selection is changed, taken by another response, and cannot be chosen
		// again.
		if got := []any{change(`{"when": "pm"}`), send("am") != "", change(`{"when": "am"}`)}; got[0] != 200 || got[1] != true || got[2] != 422 {
			t.Errorf("option that was released: %v", got)
		}
		// If a limit is lowered below the current count, existing responses keep their
		// selection.
		cap(0)
		second := send("am")
		cap(1)
		if got := w.Call("PATCH", path+"/responses/"+second, w.ada, `{"answers": {"when": "am", "n": 6}}`).StatusCode; got != 200 {
			t.Errorf("changing another answer above the limit: %d", got)
		}

		// A limit is set while many clients submit.
		path = w.openForm(w.ada, definition(0))
		const most = 120
		var all sync.WaitGroup
		half := make(chan struct{}, 1000)
		for range 8 {
			all.Go(func() {
				for range 40 {
					send("am")
					half <- struct{}{}
				}
			})
		}
		for range 40 {
			<-half
		}
		cap(most)
		count := func() float64 {
			n, _ := w.Call("GET", path+"/responses?answers[when]=am", w.ada, "").Body["total_items"].(float64)
			return n
		}
		// On a slow machine there may already be more: then no further one is accepted.
		want := max(most, count())
		all.Wait()
		if n := count(); n != want {
			t.Errorf("%v responses with a limit of %d, want %v", n, most, want)
		}
	})
}

// The bounds of a time range are exact, and a time before the epoch works as a bound.
func TestTimeRangeBounds(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		path := w.openForm(w.ada, `{"title": "Span", "fields": [{"key": "n", "kind": "number"}]}`)
		created := w.Call("POST", path+"/responses", w.ada, `{"answers": {"n": 1}}`)
		at, err := time.Parse(time.RFC3339Nano, created.String("submitted_at"))
		if err != nil {
			t.Fatal(err)
		}
		count := func(query string) any { return w.Call("GET", path+"/responses?"+query, w.ada, "").Body["total_items"] }
		in := func(d time.Duration) string { return at.Add(d).UTC().Format(time.RFC3339Nano) }
		for query, want := range map[string]float64{
			"since=" + in(0): 1, "since=" + in(time.Microsecond): 0, "since=" + in(-time.Microsecond): 1,
			"until=" + in(0): 0, "until=" + in(time.Microsecond): 1, "until=" + in(-time.Microsecond): 0,
			"since=0001-01-01T00:00:00Z": 1, "until=0001-01-01T00:00:00Z": 0, "until=9999-12-31T23:59:59Z": 1,
			"since=9999-12-31T23:59:59-23:59": 0, "until=9999-12-31T23:59:59-23:59": 1,
		} {
			if got := count(query); got != want {
				t.Errorf("%s: %v of %v", query, got, want)
			}
		}
		if gone := w.Call("DELETE", path+"/responses?until=0001-01-01T00:00:00Z", w.ada, ""); gone.Body["deleted"] != 0.0 {
			t.Errorf("deleted: %s", gone.Text)
		}
	})
}
