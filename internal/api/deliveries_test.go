package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"formulary/internal/cli/clitest"
	"formulary/internal/id"
	"formulary/internal/store"
	"formulary/internal/store/storetest"
)

// Every field of the log says what the contract says, for each status.
func TestDeliveryLog(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		form, to := w.published(), newReceiver(t)
		to.answers(func(rw http.ResponseWriter, r *http.Request) {
			got := to.all()
			if got[len(got)-1].Body.Data.Response["answers"].(map[string]any)["drink"] == "Coffee" {
				http.Error(rw, "out of coffee", 503)
			}
		})
		before := w.submit(form, "Water")
		path, _ := w.hook(form, `{"url":"`+to.URL+`"}`)
		begun := time.Now().Add(-time.Second)
		delivered := w.submit(form, "Tea")
		to.wait(1)
		pending := w.submit(form, "Coffee")
		to.wait(2)
		list := func(query string) (total float64, entries []map[string]any) {
			t.Helper()
			a := w.Call("GET", path+"/deliveries"+query, w.ada, "")
			w.expectCode("list"+query, a, 0)
			for _, entry := range a.Body["data"].([]any) {
				entries = append(entries, entry.(map[string]any))
			}
			return a.Body["total_items"].(float64), entries
		}
		if !clitest.WaitFor(func() bool { total, _ := list(""); return total == 2 }) {
			t.Fatal("two deliveries are not listed")
		}
		w.expectCode("pause", w.Call("PATCH", path, w.ada, `{"active":false}`), 0)
		failed := w.storeFailed(form, path[strings.LastIndex(path, "/")+1:], before)

		for _, c := range []struct {
			response, status string
			attempt, code    float64
			problem          string // part of error
		}{
			{delivered, "delivered", 1, 200, ""},
			{pending, "pending", 1, 503, "503"},
			{before, "failed", 10, 0, "refused"},
		} {
			total, entries := list("?status=" + c.status)
			if total != 1 || len(entries) != 1 {
				t.Errorf("%s: %v", c.status, entries)
				continue
			}
			e := entries[0]
			w.expectFields(c.status, clitest.Response{Body: e}, map[string]any{
				"id": "dlv_" + c.response[4:], "event": "response.created", "response_id": c.response,
				"attempt": c.attempt, "status": c.status, "response_status": c.code,
			})
			if problem := e["error"].(string); !strings.Contains(problem, c.problem) || (problem == "") != (c.status == "delivered") {
				t.Errorf("%s: the error is %q", c.status, problem)
			}
			at, err := time.Parse(time.RFC3339, e["at"].(string))
			if err != nil || at.Before(begun) || at.After(time.Now().Add(time.Second)) {
				t.Errorf("%s: at %v (%v)", c.status, e["at"], err)
			}
			next, has := e["next_attempt_at"].(string)
			if has != (c.status == "pending") {
				t.Errorf("%s: the next attempt is at %v", c.status, e["next_attempt_at"])
			}
			if has {
				next, err := time.Parse(time.RFC3339, next)
				// The receiver took a moment, and the schedule says 5 s ± 20 %.
				if wait := next.Sub(at); err != nil || wait < 4*time.Second || wait > time.Minute {
					t.Errorf("the next attempt follows after %v (%v)", wait, err)
				}
			}
			for name := range e {
				if !slices.Contains([]string{"id", "event", "response_id", "attempt", "status", "response_status", "error", "at", "next_attempt_at"}, name) {
					t.Errorf("%s: there is also %s", c.status, name)
				}
			}
		}
		total, all := list("?per_page=2")
		_, rest := list("?per_page=2&page=2")
		if all = append(all, rest...); total != 3 || len(all) != 3 || all[0]["id"] != failed || all[2]["response_id"] != delivered {
			t.Errorf("all of them: %v", all)
		}
		link := w.Call("GET", path+"/deliveries?per_page=1&status=failed", w.ada, "").Header.Get("Link")
		if !strings.Contains(link, "status=failed") {
			t.Errorf("Link: %s", link)
		}
		w.expectStatus("send again", w.Call("POST", path+"/deliveries/"+failed+"/resend", w.ada, ""), 202)
		if _, again := list("?status=pending"); len(again) != 2 || again[0]["attempt"] != 0.0 || again[0]["next_attempt_at"] == nil {
			t.Errorf("to be sent again: %v", again)
		}
	}, allowLoopback)
}

// storeFailed stores that a response could not be delivered in ten attempts, which take three
// days, and returns the ID of the delivery.
func (w *fixture) storeFailed(form, hook, response string) string {
	w.t.Helper()
	s := storetest.Open(w.t, w.Storage)
	owner := w.Call("GET", "/api/v1/me", w.ada, "").String("id")
	key, now := store.WebhookKey{FormID: form, ID: hook}, time.Now()
	d := store.Delivery{
		Event:  store.Event{Position: response[len(id.Response):], Kind: store.ResponseCreated, ResponseID: response, Version: 1},
		Status: store.DeliveryFailed, Attempt: 10, Error: "connection refused", FirstAt: now.Add(-72 * time.Hour), LastAt: now,
	}
	// The dispatcher may still be storing what it did before the webhook was paused.
	if !clitest.WaitFor(func() bool {
		at, err := s.Webhook(w.t.Context(), owner, key)
		if err != nil {
			w.t.Fatal(err)
		}
		return s.CommitDeliveries(w.t.Context(), owner, store.DeliveryCommit{Key: key, From: at.Position, Position: at.Position, Deliveries: []store.Delivery{d}}) == nil
	}) {
		w.t.Fatal("it cannot be stored")
	}
	return d.ID()
}
