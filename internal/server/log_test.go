package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestLogAbortedRequests shows that a request whose client disconnected is logged as 499,
// and that a response that was cut off has aborted=true.
func TestLogAbortedRequests(t *testing.T) {
	var disconnect context.CancelFunc
	url, log, stop := startServer(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/disconnected":
			disconnect()
			<-r.Context().Done()
		case "/partial":
			io.WriteString(w, "half")
			panic(http.ErrAbortHandler)
		case "/empty":
			panic(http.ErrAbortHandler)
		}
	}, nil)
	var ctx context.Context
	ctx, disconnect = context.WithCancel(context.Background())
	defer disconnect()
	r, err := http.NewRequestWithContext(ctx, "GET", url+"/disconnected", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := http.DefaultClient.Do(r); err == nil {
		t.Error("the canceled request got a response")
	}
	for _, path := range []string{"/partial", "/empty"} {
		if res, err := http.Get(url + path); err == nil {
			if _, err := io.ReadAll(res.Body); err == nil {
				t.Errorf("%s: the response looks complete", path)
			}
			res.Body.Close()
		}
	}
	get(t, url+"/complete")
	stop()
	for _, want := range []struct {
		path    string
		status  int
		aborted bool
	}{
		{"/disconnected", 499, false},
		{"/partial", 200, true},
		{"/empty", 499, true},
		{"/complete", 200, false},
	} {
		logged := false
		for line := range strings.Lines(log.String()) {
			if !strings.Contains(line, "path="+want.path+" ") {
				continue
			}
			logged = true
			if !strings.Contains(line, fmt.Sprintf("status=%d ", want.status)) || strings.Contains(line, "aborted=true") != want.aborted {
				t.Errorf("want status %d and aborted=%t: %s", want.status, want.aborted, line)
			}
		}
		if !logged {
			t.Errorf("%s is not in the log:\n%s", want.path, log)
		}
	}
	if strings.Contains(log.String(), "ERROR") {
		t.Errorf("an error was logged:\n%s", log)
	}
}

// TestLogEscapesPath shows that a line break in a path does not start a new log line.
func TestLogEscapesPath(t *testing.T) {
	var addresses ClientIPs
	var out strings.Builder
	log, closer := NewLog(&out, false, 0)
	s := &Server{Config: Config{Log: log, ClientIP: addresses.ClientIP, WriteError: func(http.ResponseWriter, *http.Request, error) {}}}
	r := httptest.NewRequest("GET", "/a%0Ab", nil)
	s.middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(204) })).ServeHTTP(httptest.NewRecorder(), r)
	closer.Close()
	if strings.Count(out.String(), "\n") != 1 || !strings.Contains(out.String(), `level=INFO msg=request method=GET path="/a\nb" status=204 bytes=0 took=`) {
		t.Errorf("%q", out.String())
	}
}
