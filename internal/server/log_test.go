package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
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

// brokenOnce is a writer whose first write fails.
type brokenOnce struct {
	safeBuffer
	failed atomic.Bool
}

func (b *brokenOnce) Write(p []byte) (int, error) {
	if b.failed.CompareAndSwap(false, true) {
		return 0, errors.New("the disk is full")
	}
	return b.safeBuffer.Write(p)
}

// TestLogBatches shows that lines keep their order in batches, that warnings are written
// with all lines before them, and that a failed write does not stop the log.
func TestLogBatches(t *testing.T) {
	var out brokenOnce
	log, closer := NewLog(&out, false, slog.LevelInfo)
	log.Warn("lost")
	with := log.With("part", 1).WithGroup("inner")
	const lines = 3*logBatch + 7
	for i := range lines {
		with.Info("line", "number", i)
	}
	log.Debug("not written")
	log.Warn("warned")
	if n := out.count("\n"); n != lines+1 {
		t.Errorf("%d lines after the warning, want %d", n, lines+1)
	}
	log.Info("last")
	if err := closer.Close(); err != nil {
		t.Error(err)
	}
	var want strings.Builder
	for i := range lines {
		fmt.Fprintf(&want, "level=INFO msg=line part=1 inner.number=%d\n", i)
	}
	want.WriteString("level=WARN msg=warned\nlevel=INFO msg=last\n")
	if got := regexp.MustCompile(`(?m)^time=\S+ `).ReplaceAllString(out.text.String(), ""); got != want.String() {
		t.Errorf("the log is\n%s", got)
	}
}

// TestLogOfManyWriters shows that no line is lost or mixed with another.
func TestLogOfManyWriters(t *testing.T) {
	var out safeBuffer
	log, closer := NewLog(&out, true, slog.LevelInfo)
	var writers sync.WaitGroup
	for writer := range 8 {
		writers.Go(func() {
			for line := range 1000 {
				log.Info("x", "writer", writer, "line", line)
			}
		})
	}
	writers.Wait()
	closer.Close()
	next := map[int]int{}
	for text := range strings.Lines(out.text.String()) {
		var line struct{ Writer, Line int }
		if err := json.Unmarshal([]byte(text), &line); err != nil || line.Line != next[line.Writer] {
			t.Fatalf("%q: %v, want line %d of its writer", text, err, next[line.Writer])
		}
		next[line.Writer]++
	}
	for writer := range 8 {
		if next[writer] != 1000 {
			t.Errorf("writer %d has %d lines", writer, next[writer])
		}
	}
}
