package cli_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"formulary/internal/store/storetest"
)

// TestSlowSockets: clients that start a request and stall do not slow down others, and
// are disconnected after a timeout.
func TestSlowSockets(t *testing.T) {
	t.Parallel()
	storage := storetest.SQLite(t)
	f := openSurvey(t, storage, 0)
	p := launch(t, storage)
	before := p.residentMB()
	address := strings.TrimPrefix(p.url, "http://")
	var slow []net.Conn
	for i := range shortOrFull(200, 2000) {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		partial := "POST " + f.page + " HTTP/1.1\r\nHost: x\r\n"
		if i%2 == 0 { // a complete head and one byte of the body
			partial += "Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{"
		}
		if _, err := conn.Write([]byte(partial)); err != nil {
			t.Fatal(err)
		}
		slow = append(slow, conn)
	}
	var longest time.Duration
	for n := range 100 {
		start := time.Now()
		if a := p.post(f.page, submission(fmt.Sprintf("beside-%d", n))); a.status != http.StatusCreated {
			t.Fatalf("beside slow clients: %s", a)
		}
		longest = max(longest, time.Since(start))
	}
	after := p.residentMB()
	if after-before > 40+len(slow)/20 {
		t.Errorf("%d slow clients take %d MB", len(slow), after-before)
	}
	timeouts := ""
	if fullRun { // takes as long as the service's timeouts
		since := time.Now()
		for i, conn := range slow {
			conn.SetReadDeadline(time.Now().Add(waitTimeout))
			if _, err := bufio.NewReader(conn).ReadByte(); err == nil {
				continue // the service answered with an error
			} else if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
				t.Fatalf("a client that sent %s is still there after %v", []string{"half a body", "half a head"}[i%2], waitTimeout)
			}
		}
		timeouts = fmt.Sprintf("; unfinished headers and bodies are disconnected after %v", time.Since(since).Round(time.Second))
	}
	reportFigure(t, fmt.Sprintf("%d slow sockets", len(slow)), "all 100 submissions of other clients accepted, the slowest in %v; %d MB more memory%s",
		longest.Round(time.Millisecond), after-before, timeouts)
	for _, conn := range slow {
		conn.Close()
	}
	p.stop()
}

// TestHugeRequests: far too large requests are refused early and leave nothing behind.
func TestHugeRequests(t *testing.T) {
	t.Parallel()
	storage := storetest.SQLite(t)
	f := openSurvey(t, storage, 0)
	p := launch(t, storage)
	before := p.residentMB()
	rounds := shortOrFull(3, 50)
	refused, disconnected := 0, 0
	longHeader := func(size int) string { return "X-Long: " + strings.Repeat("x", size) }
	for range rounds {
		for name, request := range map[string]struct {
			want int
			send func() httpResponse
		}{
			"a header of 2 MB":        {431, func() httpResponse { return p.post(f.page, submission("x"), longHeader(2<<20)) }},
			"a body of 20 MB":         {413, func() httpResponse { return p.post(f.page, submission(strings.Repeat("x", 20<<20))) }},
			"half a million levels":   {400, func() httpResponse { return p.post(f.page, `{"answers": {"note": `+strings.Repeat("[", 500_000)) }},
			"a path of 2 MB":          {431, func() httpResponse { return p.get("/"+strings.Repeat("x", 2<<20), "") }},
			"a parameter 2,000 times": {400, func() httpResponse { return p.get(f.path+"?"+strings.Repeat("page=1&", 2_000), f.token) }},
			"a long answer":           {422, func() httpResponse { return p.post(f.page, submission(strings.Repeat("x", 900_000))) }},
		} {
			a := request.send()
			// A client that is still sending may find the connection closed before it
			// reads the response.
			switch {
			case a.err != nil:
				disconnected++
			case a.status != request.want:
				t.Errorf("%s: %s, want %d", name, a, request.want)
			default:
				refused++
			}
		}
		if a := p.post(f.page, submission("small")); a.status != http.StatusCreated {
			t.Fatalf("after huge requests: %s", a)
		}
	}
	if storedNotes := p.readStored(f); len(storedNotes) != rounds {
		t.Errorf("%d responses are stored, want %d", len(storedNotes), rounds)
	}
	after := p.residentMB()
	if after > before+200 {
		t.Errorf("%d MB before, %d MB after", before, after)
	}
	if refused < 3*rounds { // the service reads bodies with an error inside to the end
		t.Errorf("of %d huge requests only %d got an error response", refused+disconnected, refused)
	}
	reportFigure(t, "huge headers, bodies and nesting", "%d refused with 400, 413, 422 or 431, %d disconnected while sending; %d MB before, %d MB after", refused, disconnected, before, after)
	p.stop()
}
