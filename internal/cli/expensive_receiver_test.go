package cli_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// costReceiver receives webhooks in the tests of expensive requests. The path of a URL says
// how it answers: /hang does not, /late almost too late to be fast, /fail with 500 and 4 KB of
// text, others with 204.
type costReceiver struct {
	*httptest.Server
	bytes     atomic.Int64 // of all requests, roughly
	hanging   atomic.Int64 // requests at this moment
	bystander atomic.Int64 // requests of the bystander
}

// lateAnswer is just below the second after which a receiver counts as slow.
const lateAnswer = 900 * time.Millisecond

// requestHeadBytes is about the size of the head of a delivery.
const requestHeadBytes = 350

func newCostReceiver(t *testing.T) *costReceiver {
	r := &costReceiver{}
	r.Server = httptest.NewServer(r)
	t.Cleanup(func() {
		r.CloseClientConnections()
		r.Close()
	})
	return r
}

func (r *costReceiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	n, _ := io.Copy(io.Discard, req.Body)
	r.bytes.Add(n + requestHeadBytes + int64(len(req.URL.Path)))
	switch {
	case strings.HasPrefix(req.URL.Path, "/hang"):
		r.hanging.Add(1)
		<-req.Context().Done() // the service has disconnected
		r.hanging.Add(-1)
	case strings.HasPrefix(req.URL.Path, "/fail"):
		http.Error(w, strings.Repeat("x", 4<<10), http.StatusInternalServerError)
	case strings.HasPrefix(req.URL.Path, "/late"):
		time.Sleep(lateAnswer)
		w.WriteHeader(http.StatusNoContent)
	case strings.HasPrefix(req.URL.Path, "/bystander"):
		w.WriteHeader(http.StatusNoContent)
		r.bystander.Add(1)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// allEvents is in the body of a webhook that receives everything.
const allEvents = `["response.created","response.updated","response.deleted","response.restored","form.published","form.opened","form.closed"]`

// hookForm publishes a form with n webhooks, and returns the paths of the webhooks in the API.
func (w *costFixture) hookForm(title string, n int, url func(i int) string) (id string, hooks []string) {
	w.t.Helper()
	id = w.publishForm(map[string]any{"title": title, "fields": []any{question("t", "long_text")}})
	*w.hooked = append(*w.hooked, id)
	all := "/api/v1/forms/" + id + "/webhooks"
	for i := range n {
		made := w.mustCall("POST", all, `{"url":"`+url(i)+`","events":`+allEvents+`}`)
		hooks = append(hooks, all+"/"+made["id"].(string))
	}
	return id, hooks
}

// watchDeliveries gives the bystander a webhook, so that the time until each delivery counts.
func (w *costFixture) watchDeliveries() {
	w.t.Helper()
	bystander := *w
	bystander.token = w.bystanderToken
	all := "/api/v1/forms/" + w.public + "/webhooks"
	w.bystanderHook = all + "/" + bystander.mustCall("POST", all, `{"url":"`+w.receiver.URL+`/bystander"}`)["id"].(string)
}

// removeWebhooks ends the deliveries of a family, so that they do not disturb the next one.
func (w *costFixture) removeWebhooks() {
	w.t.Helper()
	for _, id := range *w.hooked {
		w.callAPI("DELETE", "/api/v1/forms/"+id, "")
	}
	*w.hooked = nil
	if w.bystanderHook != "" {
		bystander := *w
		bystander.token = w.bystanderToken
		bystander.mustCall("DELETE", w.bystanderHook, "")
	}
	w.receiver.CloseClientConnections()
}

// deliveryLimit is how long a bystander's delivery may take at all.
const deliveryLimit = 20 * time.Second

// waitDelivered waits for the delivery of the bystander's submission.
func (w *costFixture) waitDelivered(before int64, all *waitTimes) {
	start := time.Now()
	for w.receiver.bystander.Load() == before {
		if time.Since(start) > deliveryLimit {
			all.failed = append(all.failed, fmt.Sprintf("not delivered after %v", deliveryLimit))
			break
		}
		time.Sleep(time.Millisecond)
	}
	all.delivery = append(all.delivery, time.Since(start))
}
