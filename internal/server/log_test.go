package server

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A request is logged as it ended: one whose client left is no success, and an answer
// that broke off says so.
func TestLogOfUnfinishedRequests(t *testing.T) {
	var left context.CancelFunc
	url, log, stop := start(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/left":
			left()
			<-r.Context().Done()
		case "/broken":
			io.WriteString(w, "half")
			panic(http.ErrAbortHandler)
		case "/silent":
			panic(http.ErrAbortHandler)
		}
	}, nil)
	var gone context.Context
	gone, left = context.WithCancel(context.Background())
	defer left()
	r, err := http.NewRequestWithContext(gone, "GET", url+"/left", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := http.DefaultClient.Do(r); err == nil {
		t.Error("answered")
	}
	for _, path := range []string{"/broken", "/silent"} {
		if res, err := http.Get(url + path); err == nil {
			if _, err := io.ReadAll(res.Body); err == nil {
				t.Errorf("%s looks complete", path)
			}
			res.Body.Close()
		}
	}
	get(t, url+"/whole")
	stop()
	for path, want := range map[string]string{"/left": "499", "/broken": "200", "/silent": "499", "/whole": "200"} {
		for line := range strings.Lines(log.String()) {
			if !strings.Contains(line, "path="+path+" ") {
				continue
			}
			if !strings.Contains(line, "status="+want+" ") || strings.Contains(line, "aborted=true") != (path == "/broken" || path == "/silent") {
				t.Error(line)
			}
			want = ""
		}
		if want != "" {
			t.Errorf("%s is not in the log:\n%s", path, log)
		}
	}
	if strings.Contains(log.String(), "ERROR") {
		t.Errorf("an error was logged:\n%s", log)
	}
}

// A path cannot make a line look like two.
func TestLogLine(t *testing.T) {
	var addresses ClientIPs
	var out strings.Builder
	log, end := NewLog(&out, false, 0)
	s := &Server{Config: Config{Log: log, Address: addresses.ClientIP, Fail: func(http.ResponseWriter, *http.Request, error) {}}}
	r := httptest.NewRequest("GET", "/a%0Ab", nil)
	s.middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(204) })).ServeHTTP(httptest.NewRecorder(), r)
	end.Close()
	if strings.Count(out.String(), "\n") != 1 || !strings.Contains(out.String(), `level=INFO msg=request method=GET path="/a\nb" status=204 bytes=0 took=`) {
		t.Errorf("%q", out.String())
	}
}
