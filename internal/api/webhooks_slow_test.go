package api_test

import (
	"net/http"
	"strings"
	"testing"
)

// A test waits for a slow receiver, and one account cannot run many at a time.
func TestWebhookTestsAreLimited(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		form, to := w.published(), newReceiver(t)
		path, _ := w.hook(form, `{"url":"`+to.URL+`","events":["form.closed"]}`)
		end := make(chan struct{})
		to.answers(func(rw http.ResponseWriter, _ *http.Request) {
			<-end
			rw.WriteHeader(202)
		})
		const running = 4
		results := make(chan string, running)
		for range running {
			go func() { results <- w.Call("POST", path+"/test", w.ada, "").Text }()
		}
		to.wait(running)
		w.expectCode("one more", w.Call("POST", path+"/test", w.ada, ""), 429001)
		close(end)
		for range running {
			if text := <-results; !strings.Contains(text, `"status":202`) {
				t.Errorf("test: %s", text)
			}
		}
		to.answers(nil)
		w.expectCode("afterwards", w.Call("POST", path+"/test", w.ada, ""), 0)
	}, allowLoopback)
}
