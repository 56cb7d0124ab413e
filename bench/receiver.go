package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// hangPath is the beginning of the paths that never answer.
const hangPath = "/hang/"

// receiver accepts the requests of webhooks and counts different ones. It verifies
// nothing, because it shares the machine with the service.
type receiver struct {
	url    string
	server *http.Server

	mu      sync.Mutex
	seen    map[string]struct{} // paths with webhook-id
	arrived arrivals
	timed   bool      // read the times of events
	delays  []float64 // seconds between event and arrival
}

// arrivals are the requests since the last call of reset, without repetitions.
type arrivals struct {
	count       int
	first, last time.Time
}

// rate returns the requests per second between the first and the last.
func (a arrivals) rate() float64 {
	if a.count < 2 {
		return 0
	}
	return float64(a.count-1) / a.last.Sub(a.first).Seconds()
}

func startReceiver() (*receiver, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("receiver: %w", err)
	}
	r := &receiver{url: "http://" + listener.Addr().String(), seen: map[string]struct{}{}}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: dialLimit}
	go r.server.Serve(listener) // returns when the server is closed
	return r, nil
}

func (r *receiver) close() { r.server.Close() }

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	id := request.Header.Get("Webhook-Id")
	body, err := io.ReadAll(request.Body)
	if err != nil || id == "" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if strings.HasPrefix(request.URL.Path, hangPath) {
		<-request.Context().Done()
		return
	}
	r.count(request.URL.Path+" "+id, body)
	w.WriteHeader(http.StatusNoContent)
}

func (r *receiver) count(key string, body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, repeated := r.seen[key]; repeated {
		return
	}
	r.seen[key] = struct{}{}
	r.arrived.last = time.Now()
	if r.arrived.count++; r.arrived.count == 1 {
		r.arrived.first = r.arrived.last
	}
	if r.timed {
		r.delays = append(r.delays, r.arrived.last.Sub(eventTime(body)).Seconds())
	}
}

// eventTime returns the time of an event, or zero, which makes a delay very long.
func eventTime(body []byte) time.Time {
	var event struct {
		Timestamp time.Time `json:"timestamp"`
	}
	if err := json.Unmarshal(body, &event); err != nil {
		return time.Time{}
	}
	return event.Timestamp
}

// time starts to record delays.
func (r *receiver) time() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timed, r.delays = true, nil
}

// reset starts counting again. What has arrived before still counts as a repetition.
func (r *receiver) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.arrived = arrivals{}
}

func (r *receiver) arrivals() arrivals {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.arrived
}

const (
	arrivalPoll = 5 * time.Millisecond
	// stallLimit is longer than it takes until a failed request is tried again.
	stallLimit = 30 * time.Second
)

// await waits until n requests have arrived since the last reset.
func (r *receiver) await(ctx context.Context, n int) error {
	begun := time.Now()
	for {
		a := r.arrivals()
		switch {
		case a.count == n:
			return nil
		case a.count > n:
			return fmt.Errorf("receiver: %d requests arrived, not %d", a.count, n)
		case time.Since(begun) > stallLimit && time.Since(a.last) > stallLimit:
			return fmt.Errorf("receiver: %d of %d requests arrived, then none for %s", a.count, n, stallLimit)
		}
		select {
		case <-time.After(arrivalPoll):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
