package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"formulary/internal/cli/clitest"
)

// Details of the API contract.

// Every create request accepts an idempotency key. Using it again with a different body
// is an error, however small the difference.
func TestIdempotencyKeyBodies(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		path := w.openForm(w.ada, `{"title": "Keys", "fields": [{"key": "n", "kind": "number"}]}`)
		w.expectCode("something to publish", w.Call("PATCH", path, w.ada, `{"description": "Second"}`), 0)
		first := w.Call("POST", path+"/publish", w.ada, "", "Idempotency-Key: p")
		again := w.Call("POST", path+"/publish", w.ada, "", "Idempotency-Key: p", `If-Match: "1"`)
		for name, a := range map[string]clitest.Response{"published": first, "repeated": again} {
			w.expectStatus(name, a, 201)
			w.expectFields(name, a, map[string]any{"version": 2.0})
		}
		w.expectCode("another form", w.Call("POST", w.openForm(w.ada, `{"title": "Two", "fields": [{"key": "n", "kind": "number"}]}`)+"/publish", w.ada, "", "Idempotency-Key: p"), 409002)
		w.expectCode("sites empty", w.Call("POST", "/api/v1/forms", w.ada, `{"title": "x", "sites": []}`, "Idempotency-Key: s"), 0)
		w.expectCode("sites omitted", w.Call("POST", "/api/v1/forms", w.ada, `{"title": "x"}`, "Idempotency-Key: s"), 409002)
		w.expectCode("a number", w.Call("POST", path+"/responses", w.ada, `{"answers": {"n": 1}}`, "Idempotency-Key: n"), 0)
		reused := w.Call("POST", path+"/responses", w.ada, `{"answers": {"n": 2}}`, "Idempotency-Key: n")
		if want := `{"errorCode":409002,"message":"This Idempotency-Key was already used with a different request body."}`; strings.TrimSpace(reused.Text) != want {
			t.Errorf("the error for a reused key reveals too much: %s", reused.Text)
		}
		w.expectCode("an almost equal number", w.Call("POST", path+"/responses", w.ada, `{"answers": {"n": 1.00000000000000000001}}`, "Idempotency-Key: n"), 409002)
	})
}

// Missing values, null, and numbers that cannot be represented exactly are rejected.
func TestStrictBodies(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		path := w.openForm(w.ada, `{"title": "Bodies", "fields": [{"key": "n", "kind": "number"}]}`)
		sent := w.Call("POST", path+"/responses", w.ada, `{"answers": {"n": 9007199254740991}}`)
		w.expectCode("the largest body", sent, 0)
		response := path + "/responses/" + sent.String("id")
		public := "/f/" + path[strings.LastIndex(path, "/")+1:]
		for _, c := range []struct {
			method, path, body string
			code               int
		}{
			{"POST", path + "/responses", `{}`, 422001}, {"POST", public, `{}`, 422001}, {"PATCH", response, `{}`, 422001},
			{"POST", path + "/responses", `{"answers": {"n": 9007199254740992}}`, 422001}, {"POST", path + "/responses", `{"answers": {"n": 9007199254740993}}`, 422001},
			{"PATCH", response, `{"answers": {"nope": null}}`, 422001}, {"PATCH", response, `{"answers": {"n": null}}`, 0},
			{"POST", "/api/v1/forms", `{"title": "s", "sites": [null]}`, 422001}, {"POST", "/api/v1/forms", `{"title": "s", "fields": [{"key": "n", "kind": "number", "required": null}]}`, 422001},
			{"PATCH", path, `{"fields": [null]}`, 422001},
		} {
			w.expectCode(c.method+" "+c.body, w.Call(c.method, c.path, w.ada, c.body), c.code)
		}
		for _, media := range []string{"Application/JSON", "application/json; charset=utf-8"} {
			w.expectCode(media, w.Call("POST", public, "", `{"answers": {"n": 1}}`, "Content-Type: "+media), 0)
		}
		for _, media := range []string{"text/plain", "text/json", "application/octet-stream"} {
			w.expectCode(media, w.Call("POST", public, "", `{"answers": {"n": 1}}`, "Content-Type: "+media), 415001)
		}
	})
}

// A form whose closing date has passed is closed in all lists and counts.
func TestClosingDate(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		path := w.openForm(w.ada, `{"title": "Closing", "fields": [{"key": "n", "kind": "number"}]}`)
		counts := func() string {
			open, closed := w.Call("GET", "/api/v1/forms?status=open", w.ada, ""), w.Call("GET", "/api/v1/forms?status=closed", w.ada, "")
			return fmt.Sprint(open.Body["total_items"], closed.Body["total_items"])
		}
		before := counts()
		closes := time.Now().Add(1200 * time.Millisecond)
		w.expectCode("a date", w.Call("PATCH", path, w.ada, fmt.Sprintf(`{"closes_at": %q}`, closes.UTC().Format("2006-01-02T15:04:05.000Z"))), 0)
		if got := counts(); got != before {
			t.Errorf("%s, before %s", got, before)
		}
		for w.Call("GET", path, w.ada, "").String("status") == "open" {
			if time.Since(closes) > 10*time.Second {
				t.Fatal("the form does not close")
			}
			time.Sleep(10 * time.Millisecond) // stay below the rate limit
		}
		var open, closed float64
		fmt.Sscan(before, &open, &closed)
		if got, want := counts(), fmt.Sprint(open-1, closed+1); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}
