package api_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"formulary/internal/cli/clitest"
)

const numbersForm = `{"title": "Numbers", "fields": [{"key": "n", "kind": "number"}, {"key": "text", "kind": "long_text"}]}`

// submitNumber submits a response and returns its ID.
func (w *fixture) submitNumber(path string, n int) string {
	w.t.Helper()
	a := w.Call("POST", path+"/responses", w.ada, fmt.Sprintf(`{"answers": {"n": %d}}`, n))
	if a.StatusCode != 201 {
		w.t.Fatalf("submit: %s", a.Text)
	}
	return a.String("id")
}

// numberIn returns the answer in an event.
func numberIn(t *testing.T, e clitest.Event) int {
	t.Helper()
	var r struct {
		Answers struct{ N int }
	}
	if err := json.Unmarshal([]byte(e.Data), &r); err != nil || e.Kind != "response.created" || e.ID == "" {
		t.Fatalf("event %+v: %v", e, err)
	}
	return r.Answers.N
}

func TestLive(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		path := w.openForm(w.ada, numbersForm)
		w.submitNumber(path, 1)
		live := w.Events(nil, path+"/responses/live", w.ada, "Accept-Encoding: gzip")
		if encoding := live.Header.Get("Content-Encoding"); encoding != "" {
			t.Errorf("the stream is compressed: %s", encoding)
		}
		first := live.Next()
		if first.ID == "" || first.Data != "" {
			t.Errorf("the first event is %+v, want an ID alone", first)
		}
		var events []clitest.Event
		for n := 2; n < 5; n++ {
			id := w.submitNumber(path, n)
			e := live.Response()
			const marks = `,"status":"new","starred":false,"tags":[],"note_count":0}` // events have none
			if read := w.Call("GET", path+"/responses/"+id, w.ada, ""); e.Data != strings.TrimSuffix(read.Text, marks)+"}" {
				t.Errorf("data is\n%s, want\n%s", e.Data, read.Text)
			}
			events = append(events, e)
		}
		// IDs are cursors of the feed.
		feed := w.Call("GET", path+"/responses?limit=1&after="+events[0].ID, w.ada, "")
		w.expectFields("feed", feed, map[string]any{"next": events[1].ID, "more": true})

		for name, open := range map[string]func() *clitest.EventStream{
			"Last-Event-ID": func() *clitest.EventStream {
				return w.Events(nil, path+"/responses/live?after=", w.ada, "Last-Event-ID: "+events[0].ID)
			},
			"after": func() *clitest.EventStream {
				return w.Events(nil, path+"/responses/live?after="+events[0].ID, w.ada)
			},
		} {
			again := open()
			if a, b := again.Response(), again.Response(); a != events[1] || b != events[2] {
				t.Errorf("after %s: %+v, %+v", name, a, b)
			}
			again.Close()
		}
		if n := numberIn(t, w.Events(nil, path+"/responses/live?after=", w.ada).Response()); n != 1 {
			t.Errorf("from the beginning: %d", n)
		}
		for query, code := range map[string]int{"?after=nonsense": 400001, "?after=" + strings.Repeat("x", 65): 400001} {
			w.expectCode(query, w.Call("GET", path+"/responses/live"+query, w.ada, ""), code)
		}
		w.expectCode("Last-Event-ID", w.Call("GET", path+"/responses/live", w.ada, "", "Last-Event-ID: nonsense"), 400001)
		w.expectCode("of another account", w.Call("GET", path+"/responses/live", w.bob, ""), 404002)
		w.expectCode("unknown form", w.Call("GET", "/api/v1/forms/frm_x/responses/live", w.ada, ""), 404002)
		w.expectCode("without the scope", w.Call("GET", path+"/responses/live", w.Token(ada, w.app, "forms:read").Access, ""), 403001)
		w.expectStatus("HEAD", w.Call("HEAD", path+"/responses/live", w.ada, ""), 200)

		// The stream ends with its form.
		w.expectStatus("delete", w.Call("DELETE", path, w.ada, ""), 204)
		live.WaitEnd()
	})
}

// While responses are submitted, readers that reconnect again and again get each of them
// once, in order.
func TestLiveResumes(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		path := w.openForm(w.ada, numbersForm)
		const n = 300
		start := w.Events(nil, path+"/responses/live", w.ada).Next().ID
		var submitting sync.WaitGroup
		for part := range 3 {
			submitting.Go(func() {
				for i := range n / 3 {
					w.submitNumber(path, part*n/3+i)
				}
			})
		}
		var readers sync.WaitGroup
		lists := make([][]string, 4)
		for i := range lists {
			readers.Go(func() {
				last := start
				for len(lists[i]) < n {
					live := w.Events(nil, path+"/responses/live", w.ada, "Last-Event-ID: "+last)
					for range min(1+i*20, n-len(lists[i])) {
						e := live.Response()
						last = e.ID
						lists[i] = append(lists[i], e.Data)
					}
					live.Close()
				}
			})
		}
		submitting.Wait()
		readers.Wait()
		feed := w.Call("GET", path+"/responses?after=&limit=1000", w.ada, "")
		var all struct{ Data []json.RawMessage }
		if err := json.Unmarshal([]byte(feed.Text), &all); err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, r := range all.Data {
			want = append(want, string(r))
		}
		for i := range lists {
			w.expectEqual(fmt.Sprintf("reader %d", i), lists[i], want)
		}
	}, "--rate-limit=off")
}

func TestLiveEndsWithTheToken(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		path := w.openForm(w.ada, numbersForm)
		other := w.Token(ada, w.AddApp(ada, callback), "responses:read").Access
		live, stays := w.Events(nil, path+"/responses/live", w.ada), w.Events(nil, path+"/responses/live", other)
		fields := w.app.Authenticate(url.Values{"token": {w.ada}})
		w.expectStatus("revoke", w.Form("/api/oauth2/revoke", fields), 200)
		// Nothing is sent after the revocation, and the other application keeps its stream.
		a := w.Call("POST", "/f/"+path[strings.LastIndex(path, "/")+1:], "", `{"answers": {"n": 7}}`)
		w.expectStatus("submit", a, 201)
		if n := numberIn(t, stays.Response()); n != 7 {
			t.Errorf("got %d", n)
		}
		if rest := live.WaitEnd(); len(rest) > 0 {
			t.Errorf("after the revocation: %v", rest)
		}
		w.Command("", "user", "disable", ada)
		stays.WaitEnd()
	})
}

func TestLiveEndsWhenTheTokenExpires(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		path := w.openForm(w.Token(ada, w.app, "forms:write").Access, numbersForm)
		token := w.Token(ada, w.app, "responses:read").Access
		started := time.Now()
		w.Events(nil, path+"/responses/live", token).WaitEnd()
		if took := time.Since(started); took > 10*time.Second {
			t.Errorf("the stream ended after %v", took)
		}
	}, "--access-token-ttl=3s")
}

func TestLiveLimits(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		path := w.openForm(w.ada, numbersForm)
		other := w.Token(ada, w.AddApp(ada, callback), "responses:read").Access
		live := w.Events(nil, path+"/responses/live", w.ada)
		w.Events(nil, path+"/responses/live", w.ada)
		a := w.Call("GET", path+"/responses/live", w.ada, "")
		w.expectCode("third of a grant", a, 429001)
		w.expectHeader("third of a grant", a.Header, "Retry-After", "10")
		w.Events(nil, path+"/responses/live", other)
		w.expectCode("fourth of an account", w.Call("GET", path+"/responses/live", other, ""), 429001)
		theirs := w.openForm(w.bob, numbersForm)
		w.Events(nil, theirs+"/responses/live", w.bob)
		live.Close()
		if !clitest.WaitFor(func() bool {
			return w.Call("HEAD", path+"/responses/live", w.ada, "").StatusCode == http.StatusOK
		}) {
			t.Error("a closed stream still counts")
		}
	}, "--live-per-grant=2", "--live-per-account=3")
}

// A shutdown ends streams at once, instead of waiting for the clients.
func TestLiveEndsOnShutdown(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		path := w.openForm(w.ada, numbersForm)
		live := w.Events(nil, path+"/responses/live", w.ada)
		live.Next()
		started := time.Now()
		w.Stop()
		if took := time.Since(started); took > 8*time.Second {
			t.Errorf("the service stopped after %v", took)
		}
		live.WaitEnd()
	})
}

// A client that does not read holds up nobody.
func TestLiveSlowReader(t *testing.T) {
	forEachEngine(t, func(t *testing.T, w *fixture) {
		path := w.openForm(w.ada, numbersForm)
		slow, err := net.Dial("tcp", strings.TrimPrefix(w.Local, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer slow.Close()
		if err := slow.(*net.TCPConn).SetReadBuffer(4096); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(slow, "GET %s/responses/live HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", path, w.ada)
		if line, err := bufio.NewReader(slow).ReadString('\n'); err != nil || !strings.Contains(line, "200") {
			t.Fatal(line, err)
		}
		live := w.Events(nil, path+"/responses/live", w.ada)
		const n = 80
		text := strings.Repeat("😀", 20_000)
		for i := range n {
			a := w.Call("POST", path+"/responses", w.ada, fmt.Sprintf(`{"answers": {"n": %d, "text": %q}}`, i, text))
			if a.StatusCode != 201 {
				t.Fatalf("submit: %s", a.Text)
			}
			if got := numberIn(t, live.Response()); got != i {
				t.Fatalf("%d, want %d", got, i)
			}
		}
	})
}
