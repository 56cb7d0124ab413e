package api_test

import (
	"testing"
	"time"
)

// A stream outlasts the server's time for a request, and has a comment every 15 seconds.
func TestLiveLasts(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		path := w.openForm(w.ada, numbersForm)
		live := w.Events(nil, path+"/responses/live", w.ada)
		live.Next()
		started := time.Now()
		for n := 1; n <= 2; n++ {
			if e := live.Next(); !e.Comment {
				t.Fatalf("got %+v", e)
			}
			if took := time.Since(started).Round(time.Second); took < time.Duration(n)*15*time.Second {
				t.Errorf("comment %d already after %v", n, took)
			}
		}
		w.submitNumber(path, 7)
		if n := numberIn(t, live.Response()); n != 7 {
			t.Errorf("got %d", n)
		}
	})
}
