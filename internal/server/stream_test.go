package server

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// TestFlushReachesClient shows that flushed bytes of any size reach the client while the
// handler still runs. Live streams depend on it.
func TestFlushReachesClient(t *testing.T) {
	release := make(chan struct{})
	url, _, _ := startServer(t, func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(strings.Trim(r.URL.Path, "/"))
		if err != nil {
			t.Error(err)
		}
		w.Write(bytes.Repeat([]byte("x"), n))
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		<-release
		w.Write([]byte("end"))
	}, nil)
	// The sizes are around 4,096 bytes, the size of the buffer in net/http that headers,
	// chunk framing and body share.
	for n := 3000; n <= 4200; n++ {
		res, err := http.Get(url + "/" + strconv.Itoa(n))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(res.Body, make([]byte, n)); err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		release <- struct{}{}
		if rest, err := io.ReadAll(res.Body); err != nil || string(rest) != "end" {
			t.Fatalf("%d bytes: then %q, %v", n, rest, err)
		}
		res.Body.Close()
	}
}
