package api_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"formulary/internal/cli/clitest"
)

const allowLoopback = "--webhook-allow=127.0.0.0/8"

// receiver is a real server that gets webhooks.
type receiver struct {
	t      *testing.T
	URL    string
	mu     sync.Mutex
	answer http.HandlerFunc // nil: 204
	got    []received
}

// received is a request that a receiver got.
type received struct {
	http.Header
	Text string
	Body struct {
		Type      string
		Timestamp time.Time
		Data      struct {
			Form     map[string]any
			Response map[string]any
		}
	}
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{t: t}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.URL = server.URL
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	text, err := io.ReadAll(req.Body)
	got := received{Header: req.Header, Text: string(text)}
	if err == nil {
		err = json.Unmarshal(text, &got.Body)
	}
	if err != nil {
		r.t.Errorf("body of a webhook: %v\n%s", err, text)
	}
	r.mu.Lock()
	r.got = append(r.got, got)
	answer := r.answer
	r.mu.Unlock()
	if answer == nil {
		w.WriteHeader(204)
		return
	}
	answer(w, req)
}

// answers changes what the receiver answers; nil: 204.
func (r *receiver) answers(answer http.HandlerFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

func (r *receiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]received(nil), r.got...)
}

// wait waits until n requests have arrived, and returns them.
func (r *receiver) wait(n int) []received {
	r.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if got := r.all(); len(got) >= n {
			return got
		}
	}
	r.t.Fatalf("%d requests arrived, want %d", len(r.all()), n)
	return nil
}

// hook creates a webhook and returns the path of its operations, and its secret.
func (w *fixture) hook(form, body string) (path, secret string) {
	w.t.Helper()
	a := w.Call("POST", "/api/v1/forms/"+form+"/webhooks", w.ada, body)
	if a.StatusCode != 201 {
		w.t.Fatalf("create webhook: %d %s", a.StatusCode, a.Text)
	}
	return "/api/v1/forms/" + form + "/webhooks/" + a.String("id"), a.String("secret")
}

// published creates a form with one question and publishes it.
func (w *fixture) published() string {
	w.t.Helper()
	a := w.Call("POST", "/api/v1/forms", w.ada, `{"title":"Order","fields":[{"key":"drink","kind":"short_text","label":"Drink"}]}`)
	w.expectCode("create", a, 0)
	w.expectCode("publish", w.Call("POST", "/api/v1/forms/"+a.String("id")+"/publish", w.ada, ""), 0)
	return a.String("id")
}

func (w *fixture) submit(form, drink string) string {
	w.t.Helper()
	a := w.Call("POST", "/api/v1/forms/"+form+"/responses", w.ada, `{"answers":{"drink":"`+drink+`"}}`)
	w.expectCode("submit", a, 0)
	return a.String("id")
}

// The whole way: a response is submitted, and the receiver gets it, signed, as the API has it.
func TestWebhookDelivers(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		form, to := w.published(), newReceiver(t)
		before := w.submit(form, "Before")
		path, secret := w.hook(form, `{"url":"`+to.URL+`/hook"}`)
		id := w.submit(form, "Tea")
		got := to.wait(1)[0]
		verifier, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			t.Fatal(err)
		}
		if err := verifier.Verify([]byte(got.Text), got.Header); err != nil {
			t.Errorf("signature: %v", err)
		}
		if got.Get("webhook-id") != "evt_"+id[4:] || got.Body.Type != "response.created" || got.Body.Data.Form["id"] != form ||
			got.Body.Data.Form["title"] != "Order" || got.Body.Data.Form["version"] != 1.0 {
			t.Errorf("%v %s", got.Header, got.Text)
		}
		same := w.Call("GET", "/api/v1/forms/"+form+"/responses/"+id, w.ada, "")
		for _, mark := range []string{"status", "starred", "tags", "note_count"} {
			delete(same.Body, mark) // events have no marks
		}
		want, _ := json.Marshal(same.Body)
		have, _ := json.Marshal(got.Body.Data.Response)
		if string(have) != string(want) {
			t.Errorf("the response is %s, in the API %s", have, want)
		}
		if !clitest.WaitFor(func() bool {
			return w.Call("GET", path+"/deliveries", w.ada, "").Body["total_items"] == 1.0
		}) {
			t.Error("it is not listed")
		}
		list := w.Call("GET", path+"/deliveries?status=delivered", w.ada, "")
		entry := list.Body["data"].([]any)[0].(map[string]any)
		if entry["response_id"] != id || entry["event"] != "response.created" || entry["attempt"] != 1.0 || entry["response_status"] != 204.0 || entry["id"] != "dlv_"+id[4:] {
			t.Errorf("delivery: %v", entry)
		}
		if n := len(to.all()); n != 1 {
			t.Errorf("%d requests arrived; what happened before the webhook (%s) is not delivered", n, before)
		}
	}, allowLoopback)
}
