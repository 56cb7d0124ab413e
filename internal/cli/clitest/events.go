package clitest

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Event is a server-sent event.
type Event struct {
	Kind, ID, Data string
	Comment        bool
}

// EventStream is an open stream of server-sent events.
type EventStream struct {
	t      testing.TB
	Header http.Header
	events chan Event // closed at the end of the stream
	err    error      // why it ended, nil if the server ended it; valid after events is closed
	cancel context.CancelFunc
}

// eventWait is how long a test waits for an event.
const eventWait = 20 * time.Second

// Events opens a stream of server-sent events. The client may be nil.
func (s *Service) Events(client *http.Client, path, token string, headers ...string) *EventStream {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, "GET", s.URL+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	if client == nil {
		client = http.DefaultClient
	}
	res, err := client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	if kind := res.Header.Get("Content-Type"); res.StatusCode != 200 || kind != "text/event-stream" {
		s.t.Fatalf("GET %s: %d, %s", path, res.StatusCode, kind)
	}
	e := &EventStream{t: s.t, Header: res.Header, events: make(chan Event, 1000), cancel: cancel}
	go e.read(bufio.NewReader(res.Body))
	s.t.Cleanup(cancel)
	return e
}

func (e *EventStream) read(from *bufio.Reader) {
	defer close(e.events)
	var next Event
	for {
		line, err := from.ReadString('\n')
		if err != nil {
			if err.Error() != "EOF" {
				e.err = err
			}
			return
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "\n":
			e.events <- next
			next = Event{}
		case name == "":
			next.Comment = true
		case name == "event":
			next.Kind = value
		case name == "id":
			next.ID = value
		case name == "data":
			next.Data += value
		}
	}
}

// Next returns the next event, comments and the first ID included.
func (e *EventStream) Next() Event {
	e.t.Helper()
	return e.next(time.After(eventWait))
}

func (e *EventStream) next(deadline <-chan time.Time) Event {
	e.t.Helper()
	select {
	case next, ok := <-e.events:
		if !ok {
			e.t.Fatalf("the stream has ended: %v", e.err)
		}
		return next
	case <-deadline:
		e.t.Fatal("there is no event")
	}
	panic("unreachable")
}

// Response returns the next event that has data.
func (e *EventStream) Response() Event {
	e.t.Helper()
	deadline := time.After(eventWait)
	for {
		if next := e.next(deadline); next.Data != "" {
			return next
		}
	}
}

// WaitEnd waits until the server has ended the stream, and returns the events with data
// that were still in it.
func (e *EventStream) WaitEnd() (rest []Event) {
	e.t.Helper()
	deadline := time.After(eventWait)
	for {
		select {
		case next, ok := <-e.events:
			if !ok {
				if e.err != nil {
					e.t.Errorf("the stream did not end cleanly: %v", e.err)
				}
				return rest
			}
			if next.Data != "" {
				rest = append(rest, next)
			}
		case <-deadline:
			e.t.Fatal("the stream does not end")
		}
	}
}

// Close disconnects.
func (e *EventStream) Close() { e.cancel() }
